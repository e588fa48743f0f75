/*
 * Stopping nodes in order.  They keep their files, addresses and Node objects.
 *
 * Nodes of the same kind are stopped at the same time, each by a child process: an orderly shutdown
 * takes seconds.  Control planes come last, since workers report the end of their pods to them.  If
 * other control planes keep running, these take over first (hand-over.c).
 */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cluster/cluster.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "record/world.h"

#define GRACE_SECONDS 30

static int stop_node(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r == 0 && at.driver->query(&at.spec) == NODE_ABSENT)
		return 0;
	return r < 0 ? r : at.driver->stop(&at.spec, GRACE_SECONDS, err);
}

/* A child that stops a node, and the pipe for its error message. */
struct stopping {
	const struct node *node;
	struct observer *watcher; /* NULL if the node did not run */
	pid_t pid;
	int report;
};

static int begin_stopping(const struct profile *profile, const struct node *node,
			  struct stopping *ret, struct error *err)
{
	int report[2];

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_sys(err, "cannot create a pipe");
	*ret = (struct stopping){ .node = node, .pid = fork(), .report = report[0] };
	if (ret->pid < 0) {
		int r = error_sys(err, "cannot start a process");

		(void)close(report[0]);
		(void)close(report[1]);
		return r;
	}
	if (ret->pid == 0) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		int r;

		/* The child inherits the cluster's lock, which must be free when the command is run
		 * again. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		r = stop_node(profile, node, &why);
		if (r < 0)
			(void)!write(report[1], why.text, strlen(why.text));
		_exit(r < 0);
	}
	(void)close(report[1]);
	return 0;
}

static int finish_stopping(struct stopping *stopping, struct error *err)
{
	cleanup_fd int report = stopping->report;
	char text[1024];
	ssize_t len = read(report, text, sizeof(text) - 1);
	int status = 0;

	while (waitpid(stopping->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0)
		return 0;
	text[MAX(len, (ssize_t)0)] = '\0';
	return error_because(err, &reason_node_failed, -EIO, "%s",
			     *text ? text : "the node could not be stopped");
}

/* Stop the nodes of one kind that are in NAMES (NULL: all), all at once; returns how many ran.
 * Remains of dead nodes on this host are removed, too. */
static int stop_kind(const struct profile *profile, bool control_planes,
		     const struct strlist *names, struct observer *observer, struct error *err)
{
	cleanup_free struct stopping *all = xcalloc(profile->node_count, sizeof(*all));
	const struct node *node;
	size_t count = 0;
	int result = 0;
	int ran = 0;

	profile_for_each_node(node, profile) {
		struct observer *watcher = NULL;
		int r;

		if (node->control_plane != control_planes ||
		    (names && !strlist_has(names, node->name)))
			continue;
		if (cluster_node_state(profile, node) == NODE_RUNNING) {
			watcher = observer;
			ran++;
		}
		observe_begin(watcher, "stopping node", node->name);
		r = begin_stopping(profile, node, &all[count], err);
		if (r < 0) {
			result = r;
			break;
		}
		all[count++].watcher = watcher;
	}
	for (size_t i = 0; i < count; i++) {
		int r = finish_stopping(&all[i], result == 0 ? err : NULL);

		observe_end(all[i].watcher, "stopping node", all[i].node->name, r == 0);
		result = result < 0 ? result : r;
	}
	if (result == 0 && count > 0)
		world->after("stop nodes");
	return result < 0 ? result : ran;
}

/* Whether NAMES includes control planes, and others keep running without them. */
static bool others_continue(const struct profile *profile, const struct strlist *names)
{
	struct members_tally left = members_tally(profile, names);
	const char *name;

	if (left.running < members_majority(left.count))
		return false;
	strlist_for_each(name, names) {
		const struct node *node = profile_find_node(profile, name);

		if (node && node->control_plane && node->phase == NODE_JOINED)
			return true;
	}
	return false;
}

int cluster_stop_nodes(const struct profile *profile, const struct strlist *names,
		       struct observer *observer, struct error *err)
{
	int workers = stop_kind(profile, false, names, observer, err);
	bool hands_over = workers >= 0 && names && others_continue(profile, names);
	int control_planes;

	if (hands_over)
		cluster_hand_over(profile, names, observer);
	control_planes = workers < 0 ? workers : stop_kind(profile, true, names, observer, err);
	/* The front door detects itself when they are back. */
	if (hands_over && control_planes >= 0)
		(void)world->front_door_up(profile, NULL);
	return control_planes < 0 ? control_planes : workers + control_planes;
}

int cluster_stop(const struct profile *profile, bool keep_context, struct observer *observer,
		 struct error *err)
{
	int ran = cluster_stop_nodes(profile, NULL, observer, err);
	int r = ran < 0 ? ran : world->front_door_down(profile, err);

	if (r == 0)
		r = world->network_down(profile, err);
	if (r == 0 && !keep_context)
		cluster_forget_context(profile->name);
	return r < 0 ? r : ran;
}
