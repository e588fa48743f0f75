/* Holding services and static pods of a node down. */

#include "fail/hold.h"

#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "driver/agent-state.h"

#define HOLD_DIR  "/etc/manykube/hold"
#define HELD_DIR  "/etc/manykube/held"
#define MANIFESTS "/etc/kubernetes/manifests"

#define POLL_MS 100

/* The agent looks at least every ten seconds whether to start a service again. */
#define SERVICE_MS 15000

/* The kubelet may start a pod once more before it has seen that the manifest is gone; on a busy
 * node that takes seconds. */
#define POD_MS       60000
#define POD_QUIET_MS 3000

static bool runs(const struct cluster_node *at)
{
	return at->driver->query(&at->spec) == NODE_RUNNING;
}

/* The word that the agent has for the state of the service NAME, for the caller to free. */
static char *state_of(const struct cluster_node *at, const char *name)
{
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	const struct service_state *service;

	if (at->driver->files->read_state(&at->spec, &text, NULL) < 0)
		return NULL;
	agent_state_parse(text.text, &state);
	service = agent_state_find(&state, name);
	return service ? xstrdup(service->state) : NULL;
}

static bool is_held(const struct cluster_node *at, const char *name)
{
	cleanup_free char *state = state_of(at, name);

	return text_is(state, "held");
}

/* Kill the service NAME until the agent says that it stays down. */
static int kill_service(const struct cluster_node *at, const char *name, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + SERVICE_MS;

	while (runs(at) && !is_held(at, name)) {
		(void)at->driver->signal(&at->spec, name, SIGKILL);
		if (!clock_poll(deadline_ms, POLL_MS))
			return error_because(err, &reason_node_failed, -ENOTSUP,
					     "the agent of node '%s' does not hold '%s' down; it "
					     "may be of an earlier version",
					     at->spec.name, name);
	}
	return 0;
}

int hold_service(const struct cluster_node *at, const char *name, struct error *err)
{
	const struct node_files *files = at->driver->files;
	cleanup_free char *path = xasprintf(HOLD_DIR "/%s", name);
	int r = files->put(&at->spec, path, "", 0, 0644, err);

	if (r == 0)
		r = kill_service(at, name, err);
	if (r != -ENOTSUP)
		return r;
	(void)files->remove(&at->spec, path, NULL);
	return error_hint(err, r,
			  "'manykube node stop %s' and 'manykube node start %s' give it "
			  "the current one",
			  at->spec.name, at->spec.name);
}

int hold_release_service(const struct cluster_node *at, const char *name, struct error *err)
{
	cleanup_free char *path = xasprintf(HOLD_DIR "/%s", name);

	if (at->driver->query(&at->spec) == NODE_ABSENT)
		return 0;
	return at->driver->files->remove(&at->spec, path, err);
}

static char *manifest_of(const char *dir, const char *name)
{
	return xasprintf("%s/%s.yaml", dir, name);
}

/* Kill the program NAME until it has not been seen for a while. */
static int kill_pod(const struct cluster_node *at, const char *name, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + POD_MS;
	int64_t seen_ms = clock_now_ms();

	while (runs(at) && clock_now_ms() < seen_ms + POD_QUIET_MS) {
		if (at->driver->signal(&at->spec, name, SIGKILL) > 0)
			seen_ms = clock_now_ms();
		if (!clock_poll(deadline_ms, POLL_MS))
			return error_because(err, &reason_node_failed, -ETIMEDOUT,
					     "'%s' on node '%s' is started again and again", name,
					     at->spec.name);
	}
	return 0;
}

int hold_pod(const struct cluster_node *at, const char *name, struct error *err)
{
	const struct node_files *files = at->driver->files;
	cleanup_free char *manifest = manifest_of(MANIFESTS, name);
	cleanup_free char *aside = manifest_of(HELD_DIR, name);
	struct node_file_info info;
	int r = files->make_directory(&at->spec, HELD_DIR, 0700, err);

	if (r < 0)
		return r;
	/* A missing one was moved before. */
	r = files->rename(&at->spec, manifest, aside, NULL);
	if (r == -ENOENT)
		r = files->look(&at->spec, aside, &info, NULL);
	if (r < 0)
		return error_because(err, &reason_node_failed, r,
				     "node '%s' has no static pod '%s' that could be held down",
				     at->spec.name, name);
	return kill_pod(at, name, err);
}

/* A manifest that exists was written meanwhile, and is newer. */
int hold_release_pod(const struct cluster_node *at, const char *name, struct error *err)
{
	const struct node_files *files = at->driver->files;
	cleanup_free char *manifest = manifest_of(MANIFESTS, name);
	cleanup_free char *aside = manifest_of(HELD_DIR, name);
	struct node_file_info info;
	int r;

	if (at->driver->query(&at->spec) == NODE_ABSENT)
		return 0;
	if (files->look(&at->spec, manifest, &info, NULL) == 0)
		return files->remove(&at->spec, aside, err);
	r = files->rename(&at->spec, aside, manifest, err);
	if (r == -ENOENT && err)
		error_clear(err);
	return r == -ENOENT ? 0 : r;
}
