/*
 * Start: services of running nodes that hang or do not run.
 *
 * The agent restarts a service that has exited, and the kubelet a static pod.  One that is stopped
 * or deadlocked has not exited, so its node would never become Ready, or the API not answer until
 * the kubelet's own checks have failed for minutes.  Such a service is killed.  Pods keep running
 * meanwhile.
 *
 * In the API, a node stays Ready for 40 s after its kubelet has exited.  So a node without a
 * kubelet counts as Ready only after its kubelet has reported again.
 */

#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cluster/start.h"
#include "driver/agent-state.h"
#include "node/cluster-node.h"
#include "node/services.h"

/* On a busy host, a kubelet may need seconds to answer. */
#define ANSWER_MS  8000
#define RESTART_MS 20000

/* The agent delays a restart by 10 s at most. */
#define NEXT_TRY_MS      12000
#define NEXT_TRY_POLL_MS 50

#define AGENT_PROGRAM "agent"

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

/* Record that the status of NODE in the API is older than its kubelet: also what the previous
 * kubelet has reported since the start began. */
static void expect_new_status(struct start *start, const struct node *node)
{
	size_t i = (size_t)(node - start->profile.nodes);

	start->restarted[i] = node->phase == NODE_JOINED;
	start->thawed[i] = false;
	start->since_ms[i] = clock_wall_ms();
}

/* Restart SERVICE of NODE, which hangs. */
static int restart_service(struct start *start, const struct node *node,
			   const struct node_service *service, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r;

	/* A kubelet reports the status of its node when it starts, but otherwise only every five
	 * minutes. */
	strlist_add(&names, service->name);
	if (service->dependent)
		strlist_add(&names, service->dependent);
	r = STEP(start, service->step, node->name,
		 cluster_node_restart(&start->profile, node, &names, clock_now_ms() + RESTART_MS,
				      err));
	if (r < 0)
		return r;
	if (!service->of_kubernetes)
		expect_new_status(start, node);
	start->outcome->repaired++;
	return 0;
}

/* Let the agent of NODE run again, if a signal has stopped it: while it stands still, nothing of
 * the node is restarted. */
static int resume_agent(struct start *start, const struct node *node, const struct cluster_node *at,
			struct error *err)
{
	struct node_usage usage;
	int r;

	at->driver->measure(&at->spec, &usage);
	if (!usage.halted || usage.paused)
		return 0;
	r = STEP(start, "resuming agent", node->name,
		 at->driver->signal(&at->spec, AGENT_PROGRAM, SIGCONT) > 0
			 ? 0
			 : error_set(err, -ESRCH, "the agent of node '%s' cannot be resumed",
				     node->name));
	start->outcome->repaired += r == 0;
	return r;
}

int start_repair(struct start *start, const struct node *node, const struct cluster_node *at,
		 struct error *err)
{
	const struct node_service *service;
	const char *absent = NULL;
	int resumed = resume_agent(start, node, at, err);

	if (resumed < 0)
		return resumed;
	for (size_t i = 0; (service = node_service_at(i)); i++) {
		int r;

		if (!node_service_is_due(service, node) ||
		    (service->after && text_is(absent, service->after)))
			continue;
		r = node_service_ask(at, service, ANSWER_MS);
		/* The agent is about to start it.  A kubelet reports the status of its node when it
		 * starts. */
		if (r < 0 && r != -ETIMEDOUT && strcmp(service->name, "kubelet") == 0) {
			await_next_try(at);
			expect_new_status(start, node);
		}
		if (r < 0 && r != -ETIMEDOUT)
			absent = service->name;
		if (r != -ETIMEDOUT)
			continue;
		r = restart_service(start, node, service, err);
		if (r < 0)
			return r;
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
