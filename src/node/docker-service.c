/* The Docker daemons of nodes. */

#include "node/docker-service.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "driver/agent-state.h"
#include "node/cluster-node.h"
#include "node/docker.h"
#include "node/node-files.h"
#include "payload/docker.h"
#include "record/world.h"

#define POLL_MS  50
#define START_MS 60000
#define STOP_MS  15000

/* A daemon that has ended that often does not come up. */
#define FAILURES_MOST 3

#define LOG_BYTES 8192

static const char step[] = "starting Docker";

static void read_agent(const struct cluster_node *at, struct agent_state *ret)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (at->driver->files->read_state(&at->spec, &text, NULL) == 0)
		agent_state_parse(text.text, ret);
}

static int check_node(const struct profile *profile, const struct node *node,
		      const struct cluster_node *at, struct error *err)
{
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;
	int r;

	if (at->driver->query(&at->spec) != NODE_RUNNING) {
		(void)error_because(err, &reason_node_not_running, -ESRCH, "node '%s' does not run",
				    node->name);
		return error_hint(err, -ESRCH, "'manykube node start %s' starts it", node->name);
	}
	r = cluster_node_need_awake(profile, node, err);
	if (r < 0)
		return r;
	read_agent(at, &state);
	if (agent_state_find(&state, "dockerd"))
		return 0;
	(void)error_because(err, &reason_node_failed, -ENOTSUP,
			    "node '%s' was started by an earlier version of manykube, which did "
			    "not support Docker",
			    node->name);
	return error_hint(err, -ENOTSUP,
			  "restart it: 'manykube node stop %s' and 'manykube node start %s'",
			  node->name, node->name);
}

/* The last line of the daemon's log, for the caller to free. */
static char *last_words(const struct cluster_node *at)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;
	cleanup_with(tail_release) struct tail tail = TAIL_INIT;
	const char *line;

	(void)at->driver->files->read_end(&at->spec, "/var/log/dockerd.log", LOG_BYTES, &tail, &log,
					  NULL);
	strbuf_trim_end(&log);
	line = log.len ? strrchr(log.text, '\n') : NULL;
	return xstrdup(line ? line + 1 : log.len ? log.text : "its log is empty");
}

static int fail_to_answer(const struct node *node, const struct cluster_node *at, struct error *err)
{
	cleanup_free char *words = last_words(at);

	error_clear(err);
	(void)error_because(err, &reason_node_failed, -EIO,
			    "the Docker daemon of node '%s' does not come up: %s", node->name,
			    words);
	if (node->docker_opt.count == 0)
		return error_hint(err, -EIO,
				  "'manykube logs %s --service=dockerd' shows its whole log",
				  node->name);
	return error_hint(err, -EIO,
			  "'manykube logs %s --service=dockerd' shows its whole log, and 'manykube "
			  "node set %s --docker-opt=OPTION-' removes one of its options",
			  node->name, node->name);
}

static int wait_for_answer(const struct profile *profile, const struct node *node,
			   const struct cluster_node *at, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + START_MS;

	while (docker_ask(profile, node, NULL) < 0) {
		cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;

		read_agent(at, &state);
		if (agent_state_failures(&state, "dockerd") >= FAILURES_MOST ||
		    !clock_poll(deadline_ms, POLL_MS))
			return fail_to_answer(node, at, err);
	}
	return 0;
}

/* Write the files of the daemon of NODE according to its record. */
static int write_files(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	int r = node->docker ? payload_open(profile->kubernetes_version, &payload, err) : 0;

	return r < 0 ? r : docker_write_files(profile, node, &payload, err);
}

static int start_daemon(struct profile *profile, struct node *node, const struct cluster_node *at,
			struct error *err)
{
	int r;

	node->docker = true;
	r = profile_save(profile, err);
	if (r == 0)
		r = write_files(profile, node, err);
	return r < 0 ? r : wait_for_answer(profile, node, at, err);
}

int docker_service_check(const struct node *node, struct error *err)
{
	const struct node_driver *driver = node->driver ? node_driver_find(node->driver)
							: node_driver_default();

	/* VMs have neither the program nor the images, which nodes share with the host. */
	if (!driver || driver->call)
		return 0;
	(void)error_because(err, &reason_usage, -ENOTSUP,
			    "node '%s' is a VM, and nodes of VMs have no Docker daemon",
			    node->name);
	return error_hint(err, -ENOTSUP,
			  "'manykube image build' and 'manykube image load' give it images");
}

int docker_service_up(struct profile *profile, struct node *node, struct observer *observer,
		      struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	const struct payload_source source = { .offline = profile->offline };
	cleanup_free char *program = NULL;
	int r = docker_service_check(node, err);

	if (r == 0)
		r = cluster_node_open(profile, node, &at, err);
	if (r == 0)
		r = check_node(profile, node, &at, err);
	if (r == 0)
		r = docker_program_ensure(&source, observer, &program, err);
	if (r == 0)
		r = docker_share_program(profile, program, err);
	/* Also renews certificates that expire. */
	if (r == 0)
		r = docker_make_client(profile, err);
	if (r < 0 || (node->docker && docker_ask(profile, node, NULL) == 0))
		return r;
	observe_begin(observer, step, node->name);
	r = start_daemon(profile, node, &at, err);
	observe_end(observer, step, node->name, r == 0);
	return r;
}

/* Wait until the daemon of a node has ended. */
static int wait_for_end(const struct node *node, const struct cluster_node *at, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + STOP_MS;

	while (at->driver->query(&at->spec) == NODE_RUNNING &&
	       at->driver->signal(&at->spec, "dockerd", 0) > 0)
		if (!clock_poll(deadline_ms, POLL_MS))
			return error_because(err, &reason_node_failed, -ETIMEDOUT,
					     "the Docker daemon of node '%s' does not end",
					     node->name);
	return 0;
}

int docker_service_down(struct profile *profile, struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r == 0)
		r = cluster_node_need_awake(profile, node, err);
	if (r < 0)
		return r;
	node->docker = false;
	r = profile_save(profile, err);
	if (r == 0)
		r = write_files(profile, node, err);
	if (r < 0 || at.driver->query(&at.spec) != NODE_RUNNING)
		return r;
	r = docker_end(profile, node, err);
	return r < 0 ? r : wait_for_end(node, &at, err);
}

int docker_service_change(struct profile *profile, struct node *node,
			  const struct node_settings *wanted, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	const struct setting *setting;
	int r = cluster_node_open(profile, node, &at, err);

	if (r < 0)
		return r;
	setting_for_each(setting)
		if (setting->effect == SETTING_OF_DOCKER && setting_is_of_node(setting))
			setting_copy(setting, setting_in_node(setting, wanted),
				     setting_in_node(setting, &node->settings));
	r = profile_save(profile, err);
	if (r < 0)
		return r;
	world->after("note Docker's settings");
	/* A start writes them, too. */
	if (at.driver->query(&at.spec) == NODE_RUNNING)
		r = node_files_write_registries(profile, node, err);
	if (r < 0 || !node->docker)
		return r;
	r = write_files(profile, node, err);
	if (r < 0 || at.driver->query(&at.spec) != NODE_RUNNING)
		return r;
	r = docker_end(profile, node, err);
	if (r == 0)
		r = wait_for_end(node, &at, err);
	return r < 0 ? r : wait_for_answer(profile, node, &at, err);
}
