/*
 * Ending failures.  What was made is undone, and only then forgotten; nodes that do not run because
 * of a failure are started last.  If that is interrupted, they are stopped nodes like others, which
 * a start brings up.
 */

#include "base/cleanup.h"
#include "cluster/cluster.h"
#include "node/cluster-node.h"

/* How long the API may take if no control plane ran. */
#define START_SECONDS 300

static int check_names(const struct profile *profile, const struct strlist *names,
		       struct error *err)
{
	const char *name;

	strlist_for_each(name, names) {
		cleanup_with(failures_release) struct failures own = FAILURES_INIT;
		struct node *node;
		int r = profile_need_node(profile, name, &node, err);

		if (r < 0)
			return r;
		failures_of_node(profile, name, &own);
		if (own.count > 0)
			continue;
		(void)error_because(err, &reason_usage, -EINVAL, "node '%s' has no failure", name);
		return error_hint(err, -EINVAL, "'manykube fail list' lists the failures");
	}
	return 0;
}

static int start_killed(const struct profile *profile, struct strlist *names,
			struct observer *observer, struct error *err)
{
	const struct cluster_options options = { .only = names,
						 .trust_running = true,
						 .wait_seconds = START_SECONDS };
	cleanup_free char *joined = strlist_join(names, " ");
	struct cluster_outcome outcome;
	int r = cluster_start(profile->name, &options, observer, &outcome, err);

	return r < 0 ? error_hint(err, r,
				  "its failure has ended; 'manykube node start %s' starts it",
				  joined)
		     : 0;
}

int cluster_heal(struct profile *profile, const struct fail_selection *selection,
		 struct observer *observer, struct error *err)
{
	cleanup_with(strlist_release) struct strlist killed = STRLIST_INIT;
	int count = selection->nodes ? check_names(profile, selection->nodes, err) : 0;
	int r = 0;

	if (count == 0)
		count = fail_end(profile, selection, observer, &killed, err);
	if (count >= 0 && killed.count > 0)
		r = start_killed(profile, &killed, observer, err);
	return r < 0 ? r : count;
}
