/*
 * Start: what runs, but hangs.
 *
 * The agent starts a service again that has ended.  One that is stopped or deadlocked has not, so
 * the node would never become Ready: such a service is killed, and the agent starts it again.
 * Pods run on meanwhile.
 */

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cluster/start.h"
#include "node/cluster-node.h"

/* A busy host's kubelet may take seconds. */
#define ANSWER_MS  8000
#define RESTART_MS 20000

static const struct service {
	const char *name;
	const char *step;
	const char *place;
	const char *words;
} services[] = {
	/* The kubelet needs containerd, so that comes first.  Every client of gRPC begins so. */
	{ "containerd", "restarting hung containerd", "/run/containerd/containerd.sock",
	  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
	{ "kubelet", "restarting hung kubelet", "10248",
	  "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n" },
};

static bool hangs(const struct cluster_node *at, const struct service *service)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = at->driver->ask(&at->spec, service->place, service->words, ANSWER_MS, &why);

	/* Whoever refuses is not there yet, and the agent's business. */
	if (r == -ETIMEDOUT)
		log_debug("%s of node '%s' does not answer: %s", service->name, at->spec.name,
			  why.text);
	return r == -ETIMEDOUT;
}

int start_repair(struct start *start, const struct node *node, const struct cluster_node *at,
		 struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
		int r;

		if (!hangs(at, &services[i]))
			continue;
		/* And what needs it: a kubelet tells of its node at once when it starts, and else
		 * every five minutes. */
		for (size_t j = i; j < ARRAY_SIZE(services); j++)
			strlist_add(&names, services[j].name);
		r = STEP(start, services[i].step, node->name,
			 cluster_node_restart(&start->profile, node, &names,
					      clock_now_ms() + RESTART_MS, err));
		if (r < 0)
			return r;
		/* What the API says of the node is from before. */
		start->restarted[node - start->profile.nodes] = node->phase == NODE_JOINED;
		start->thawed[node - start->profile.nodes] = false;
		start->outcome->repaired++;
	}
	return 0;
}

int start_repair_front_door(struct start *start, struct error *err)
{
	int r;

	if (!world->front_door_hangs(&start->profile))
		return 0;
	r = STEP(start, "restarting hung front door", NULL,
		 world->front_door_down(&start->profile, err));
	start->outcome->repaired += r == 0;
	return r;
}
