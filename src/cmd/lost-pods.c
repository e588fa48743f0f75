/* Pods that are lost for good with their node. */

#include "cmd/lost-pods.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cluster/drain.h"
#include "kubeadm/members.h"

bool lost_pods_announce(const struct profile *profile, const struct strlist *names)
{
	const char *name;
	bool any = false;

	/* A paused API server takes half a minute to time out. */
	if (cluster_need_awake(profile, NULL) < 0)
		return false;
	strlist_for_each(name, names) {
		cleanup_with(strlist_release) struct strlist pods = STRLIST_INIT;
		cleanup_free char *text = NULL;

		drain_list_bare(profile, name, &pods);
		if (pods.count == 0)
			continue;
		text = strlist_join(&pods, ", ");
		log_warning("pods without a controller are deleted with node '%s' and not "
			    "recreated: %s",
			    name, text);
		any = true;
	}
	return any;
}

int lost_pods_confirm(const struct profile *profile, const struct strlist *names, bool yes,
		      struct error *err)
{
	bool any = lost_pods_announce(profile, names);

	/* Scripts delete nodes, too; they only get the warning. */
	if (!any || yes || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || events_on_stdout() ||
	    say_go_on())
		return 0;
	(void)error_because(err, &reason_interrupted, -ECANCELED,
			    "not confirmed; nothing was done");
	return error_hint(err, -ECANCELED, "answer y, or use --yes, to delete these pods, too");
}
