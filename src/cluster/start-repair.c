/*
 * Start: services of running nodes that hang or do not run.
 *
 * The agent restarts a service that has exited.  A service that is stopped or deadlocked has not
 * exited, so its node would never become Ready.  Such a service is killed, and the agent restarts
 * it.  Pods keep running meanwhile.
 *
 * In the API, a node stays Ready for 40 s after its kubelet has exited.  So a node without a
 * kubelet counts as Ready only after its kubelet has reported again.
 */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cluster/start.h"
#include "driver/agent-state.h"
#include "node/cluster-node.h"

/* On a busy host, a kubelet may need seconds to answer. */
#define ANSWER_MS  8000
#define RESTART_MS 20000

/* The agent delays a restart by 10 s at most. */
#define NEXT_TRY_MS      12000
#define NEXT_TRY_POLL_MS 50

static const struct service {
	const char *name;
	const char *step;
	const char *place;
	const char *words;
} services[] = {
	/* containerd comes first, because the kubelet needs it.  Every gRPC client sends this
	 * preface. */
	{ "containerd", "restarting hung containerd", "/run/containerd/containerd.sock",
	  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
	{ "kubelet", "restarting hung kubelet", "10248",
	  "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n" },
};

/* -ETIMEDOUT if SERVICE hangs; another negative code if it does not run, or does not listen yet. */
static int probe_service(const struct cluster_node *at, const struct service *service)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = at->driver->ask(&at->spec, service->place, service->words, ANSWER_MS, &why);

	if (r < 0)
		log_debug("%s of node '%s' does not answer: %s", service->name, at->spec.name,
			  why.text);
	return r;
}

/* The number of failures of a node's kubelet that does not run now; 0 if it runs. */
static unsigned kubelet_failures(const struct cluster_node *at)
{
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (at->driver->files->read_state(&at->spec, &text, NULL) < 0)
		return 0;
	agent_state_parse(text.text, &state);
	return agent_state_failures(&state, "kubelet");
}

/* Wait until the agent has restarted the kubelet, which it delays longer each time: the user may
 * have fixed the cause of earlier failures. */
static void await_next_try(const struct cluster_node *at)
{
	int64_t deadline = clock_now_ms() + NEXT_TRY_MS;
	unsigned failures = kubelet_failures(at);

	while (failures > 0 && kubelet_failures(at) == failures &&
	       clock_poll(deadline, NEXT_TRY_POLL_MS))
		;
}

/* Record that the status of NODE in the API is older than its kubelet. */
static void expect_new_status(struct start *start, const struct node *node)
{
	start->restarted[node - start->profile.nodes] = node->phase == NODE_JOINED;
	start->thawed[node - start->profile.nodes] = false;
}

int start_repair(struct start *start, const struct node *node, const struct cluster_node *at,
		 struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
		int r;

		r = probe_service(at, &services[i]);
		/* The agent is about to start it.  A kubelet reports the status of its node when it
		 * starts. */
		if (r < 0 && r != -ETIMEDOUT && strcmp(services[i].name, "kubelet") == 0) {
			await_next_try(at);
			expect_new_status(start, node);
		}
		if (r != -ETIMEDOUT)
			continue;
		/* Also restart the services that depend on it.  A kubelet reports the status of its
		 * node when it starts, but otherwise only every five minutes. */
		for (size_t j = i; j < ARRAY_SIZE(services); j++)
			strlist_add(&names, services[j].name);
		r = STEP(start, services[i].step, node->name,
			 cluster_node_restart(&start->profile, node, &names,
					      clock_now_ms() + RESTART_MS, err));
		if (r < 0)
			return r;
		expect_new_status(start, node);
		start->outcome->repaired++;
	}
	return 0;
}

int start_repair_front_door(struct start *start, const struct profile *profile, struct error *err)
{
	int r;

	if (!world->front_door_hangs(profile))
		return 0;
	r = STEP(start, "restarting hung front door", NULL, world->front_door_down(profile, err));
	start->outcome->repaired += r == 0;
	return r;
}
