/* Pods and persistent volumes that are lost for good with their node. */

#include "cmd/lost-pods.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "kubeadm/drain.h"
#include "kubeadm/members.h"

static bool announce_pods(const char *name, const struct strlist *pods)
{
	cleanup_free char *text = strlist_join(pods, ", ");

	if (pods->count > 0)
		log_warning("pods without a controller are deleted with node '%s' and not "
			    "recreated: %s",
			    name, text);
	return pods->count > 0;
}

static bool announce_volumes(const char *name, const struct strlist *volumes)
{
	cleanup_free char *text = strlist_join(volumes, ", ");

	if (volumes->count > 0)
		log_warning("persistent volumes on node '%s' are deleted with it, with all their "
			    "data: %s",
			    name, text);
	return volumes->count > 0;
}

bool lost_pods_announce(const struct profile *profile, const struct strlist *names)
{
	const char *name;
	bool any = false;
	int r = 0;

	/* A paused API server takes half a minute to time out. */
	if (cluster_need_awake(profile, NULL) < 0)
		return false;
	strlist_for_each(name, names) {
		const struct node *node = profile_find_node(profile, name);
		cleanup_with(strlist_release) struct strlist pods = STRLIST_INIT;
		cleanup_with(strlist_release) struct strlist volumes = STRLIST_INIT;

		/* An API that did not answer once is not waited for again. */
		if (r == 0)
			r = drain_list_bare(profile, name, &pods);
		if (r == 0)
			r = drain_list_volumes(profile, name, &volumes);
		any |= announce_pods(name, &pods);
		any |= announce_volumes(name, &volumes);
		if (r < 0 && node && node->phase == NODE_JOINED)
			log_warning("the API does not answer: which pods and persistent volumes "
				    "are lost with node '%s' is unknown",
				    name);
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
	return error_hint(err, -ECANCELED,
			  "answer y, or use --yes, to delete these pods and volumes, too");
}
