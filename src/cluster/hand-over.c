/*
 * Handing over: before a control plane is stopped, others take over its work, so that clients
 * notice nothing.
 *
 *  1. The front door sends no new connections to it.  Open ones stay.
 *  2. Another member becomes the leader of etcd.  During the transfer, the old leader drops
 * requests that other members forward to it, and their clients get an error after 7 s.  So all API
 *     servers are stopped (SIGSTOP) meanwhile, for about 0.2 s.
 *  3. Its API server gets SIGTERM while its etcd still runs.  It removes its address from the
 *     service "kubernetes", finishes requests and tells clients to use another connection (GOAWAY).
 *     The front door could not do that: from outside, an HTTP/2 connection never looks idle.
 *
 * Every step is best effort: a failure is logged, and the node is stopped anyway.  Nothing is
 * recorded: a start starts the API server again, and the front door uses it again.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "record/world.h"

#define API_SERVER "kube-apiserver"

/* The longest time that a request of an API server takes to reach etcd's leader. */
#define SETTLE_MS     100
#define HOLD_LIMIT_MS 3000

/* An open `kubectl exec` delays the shutdown of an API server by a minute. */
#define END_LIMIT_MS 10000
#define END_POLL_MS  20

/* A running control plane that is not among the nodes called NAMES; NULL if there is none. */
static const struct node *find_heir(const struct profile *profile, const struct strlist *names)
{
	const struct node *node;

	profile_for_each_node(node, profile)
		if (node->control_plane && node->phase == NODE_JOINED &&
		    !strlist_has(names, node->name) && cluster_node_is_awake(profile, node))
			return node;
	return NULL;
}

static unsigned signal_api_server(const struct profile *profile, const struct node *node,
				  int signal)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	if (cluster_node_open(profile, node, &at, NULL) < 0)
		return 0;
	return at.driver->signal(&at.spec, API_SERVER, signal);
}

static void signal_api_servers(const struct profile *profile, int signal)
{
	const struct node *node;

	profile_for_each_node(node, profile)
		if (node->control_plane)
			(void)signal_api_server(profile, node, signal);
}

/* A child that resumes the API servers when END is closed, by us or by our death, or after a
 * timeout. */
struct hold {
	pid_t pid;
	int end; /* closed to resume them */
};

static _Noreturn void guard_hold(const struct profile *profile, int end)
{
	struct pollfd ready = { .fd = end, .events = POLLIN };

	/* Not in the terminal's session: Ctrl-C and Ctrl-Z must not reach this process. */
	(void)setsid();
	(void)poll(&ready, 1, HOLD_LIMIT_MS);
	signal_api_servers(profile, SIGCONT);
	/* On a very busy host, API servers may have been stopped after the timeout. */
	(void)poll(&ready, 1, -1);
	signal_api_servers(profile, SIGCONT);
	_exit(0);
}

static int hold_api_servers(const struct profile *profile, struct hold *ret)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	*ret = (struct hold){ .pid = fork(), .end = ends[1] };
	if (ret->pid == 0) {
		(void)close(ends[1]);
		guard_hold(profile, ends[0]);
	}
	(void)close(ends[0]);
	if (ret->pid < 0) {
		(void)close(ends[1]);
		return -EAGAIN;
	}
	signal_api_servers(profile, SIGSTOP);
	return 0;
}

static void release_hold(struct hold *hold)
{
	(void)close(hold->end);
	while (waitpid(hold->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int pass_on_lead(const struct profile *profile, const struct node *node,
			const struct node *heir, struct error *err)
{
	cleanup_with(members_release) struct members members = MEMBERS_INIT;
	const struct member *own;
	const struct member *next;
	struct hold hold = { .end = -1 };
	bool leads = false;
	int r = members_read(profile, &members, err);

	own = members_find(&members, node);
	next = members_find(&members, heir);
	if (r == 0 && own && next)
		r = members_leads(profile, node, own, &leads, err);
	if (r < 0 || !leads)
		return r;
	r = hold_api_servers(profile, &hold);
	if (r < 0)
		return error_set(err, r, "cannot stop the API servers briefly");
	world->after("hold API servers");
	clock_rest_ms(SETTLE_MS);
	r = members_pass_lead(profile, node, next, err);
	release_hold(&hold);
	return r;
}

/* Requests that take longer than the limit are cut off with the node. */
static void end_api_server(const struct profile *profile, const struct node *node)
{
	int64_t deadline = clock_now_ms() + END_LIMIT_MS;

	if (signal_api_server(profile, node, SIGTERM) == 0)
		return;
	while (signal_api_server(profile, node, 0) > 0) {
		if (!clock_poll(deadline, END_POLL_MS)) {
			log_debug("the API server of '%s' does not exit", node->name);
			return;
		}
	}
}

void cluster_hand_over(const struct profile *profile, const struct strlist *names,
		       struct observer *observer)
{
	const struct node *heir = find_heir(profile, names);
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const char *name;

	if (!heir)
		return;
	if (world->front_door_without(profile, names, &why) < 0)
		log_debug("%s", why.text);
	world->after("close door");
	strlist_for_each(name, names) {
		const struct node *node = profile_find_node(profile, name);

		if (!node || !node->control_plane || !cluster_node_is_awake(profile, node))
			continue;
		observe_begin(observer, "handing over", name);
		error_clear(&why);
		if (pass_on_lead(profile, node, heir, &why) < 0)
			log_debug("'%s' could not transfer the leadership of etcd: %s", name,
				  why.text);
		world->after("pass on lead");
		end_api_server(profile, node);
		world->after("end API server");
		observe_end(observer, "handing over", name, true);
	}
}
