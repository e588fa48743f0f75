/* The status of a cluster. */

#include "look/status.h"

#include <string.h>
#include <unistd.h>

#include "api/kube.h"
#include "api/listeners.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "driver/agent-state.h"
#include "kubeconfig/context.h"
#include "kubeconfig/kubeconfig.h"
#include "look/readiness.h"
#include "node/cluster-node.h"
#include "node/services.h"
#include "record/ports.h"

/* The timeout for all requests to the API: a user is waiting. */
#define PATIENCE_MS 2000

/* For the front door, which only forwards to an API server that has just answered. */
#define FRONT_DOOR_MS 1500

/* The minimum for an API server that has just answered. */
#define SHORTEST_MS 500

/* A kubelet that answers takes a millisecond, on a busy host up to seconds. */
#define KUBELET_MS   3000
#define KUBELET_PORT 10250

/* Other services are as quick; they are asked one after another. */
#define SERVICE_MS  3000
#define SERVICES_MS 6000

/* resourceVersion=0: answer from the API server's cache. */
#define NODES_PATH "/api/v1/nodes?resourceVersion=0"

/* What the agent of a node says of its services. */
static void look_at_services(const struct cluster_node *at, struct node_status *ret)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;

	if (at->driver->files->read_state(&at->spec, &text, NULL) == 0)
		agent_state_parse(text.text, &state);
	ret->kubelet = agent_state_runs(&state, "kubelet") ? "Running" : "Stopped";
	if (agent_state_find(&state, "containerd") && !agent_state_runs(&state, "containerd")) {
		ret->broken = "containerd";
		ret->broken_word = "Stopped";
	}
}

const char *cluster_status_api(const struct profile *profile, const struct node *node,
			       unsigned timeout_ms)
{
	cleanup_free char *server = xasprintf("https://%s:%d", node->address, API_SERVER_PORT);
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(kube_freep) struct kube *kube = NULL;
	int r = context_open(profile, &kube, &why);

	if (r < 0)
		return why.reason == &reason_api_not_running ? "Stopped" : "Unknown";
	kube_set_server(kube, server);
	r = kube_check(kube, "/readyz", timeout_ms);
	return r == 0 ? "Running" : r == -ECONNREFUSED ? "Stopped" : "Unresponsive";
}

/* Get the list of nodes from the API at SERVER. */
static int list_nodes(const struct profile *profile, const char *server, int64_t deadline_ms,
		      json_t **ret_list)
{
	cleanup_with(kube_freep) struct kube *kube = NULL;
	int r = context_open(profile, &kube, NULL);

	if (r < 0)
		return r;
	kube_set_server(kube, server);
	return kube_request(kube, KUBE_GET, NODES_PATH, NULL,
			    (unsigned)MAX(clock_left_ms(deadline_ms), 1), ret_list, NULL);
}

/* Get the list from an API server that has just answered; returns how many milliseconds it took. */
static int64_t ask_directly(const struct profile *profile, struct cluster_status *status)
{
	for (size_t i = 0; i < status->count; i++) {
		int64_t began_ms = clock_now_ms();
		int64_t deadline_ms = MAX(status->deadline_ms, began_ms + SHORTEST_MS);
		cleanup_free char *server = NULL;

		if (!text_is(status->nodes[i].apiserver, "Running"))
			continue;
		server = xasprintf("https://%s:%d", status->nodes[i].node->address,
				   API_SERVER_PORT);
		if (list_nodes(profile, server, deadline_ms, &status->api_nodes) == 0)
			return clock_now_ms() - began_ms;
	}
	return -ESRCH;
}

static bool any_api_runs(const struct cluster_status *status)
{
	for (size_t i = 0; i < status->count; i++)
		if (text_is(status->nodes[i].apiserver, "Running"))
			return true;
	return false;
}

/*
 * Get the list of nodes through the front door, like kubectl, and if that fails, from API servers
 * directly.  The front door counts as broken if it had far more time than they took; on a slow
 * machine, that cannot be determined.
 */
static void ask_for_nodes(const struct profile *profile, struct cluster_status *status)
{
	cleanup_free char *door = context_server(profile);
	json_auto_t *again = NULL;
	int64_t began_ms = clock_now_ms();
	int64_t door_ms;
	int64_t direct_ms;

	if (!any_api_runs(status))
		return;
	if (list_nodes(profile, door, began_ms + FRONT_DOOR_MS, &status->api_nodes) == 0) {
		status->front_door = "Running";
		return;
	}
	door_ms = clock_now_ms() - began_ms;
	direct_ms = ask_directly(profile, status);
	if (!status->api_nodes || (door_ms >= FRONT_DOOR_MS && direct_ms >= FRONT_DOOR_MS / 4))
		return;
	/*
	 * The front door may have used a control plane that has just stopped, and know that by now.
	 */
	status->front_door = list_nodes(profile, door, clock_now_ms() + FRONT_DOOR_MS, &again) == 0
				     ? "Running"
				     : "Stopped";
}

/*
 * A kubelet that is stopped or deadlocked has not ended, and the API calls its node Ready for
 * another 40 s.  What is sent is no TLS; the answer to that costs nothing.
 */
static void find_silent_kubelets(struct cluster_status *status)
{
	cleanup_with(strlist_release) struct strlist addresses = STRLIST_INIT;
	cleanup_free bool *silent = xcalloc(status->count + 1, sizeof(*silent));

	if (!any_api_runs(status))
		return;
	for (size_t i = 0; i < status->count; i++)
		if (text_is(status->nodes[i].kubelet, "Running"))
			strlist_add(&addresses, status->nodes[i].node->address);
	listeners_find_silent(&addresses, KUBELET_PORT, "GET / HTTP/1.0\r\n\r\n", KUBELET_MS,
			      silent);
	for (size_t i = 0, asked = 0; i < status->count; i++)
		if (text_is(status->nodes[i].kubelet, "Running") && silent[asked++])
			status->nodes[i].kubelet = "Unresponsive";
}

/* Others than the kubelet and the API server hang, too.  Kubernetes notices that after minutes, or
 * never: a kubelet without a containerd calls its node Ready for another three minutes. */
static void find_hung_services(const struct profile *profile, struct cluster_status *status)
{
	int64_t deadline_ms = clock_now_ms() + SERVICES_MS;

	for (size_t i = 0; i < status->count && clock_left_ms(deadline_ms) > 0; i++) {
		struct node_status *node = &status->nodes[i];
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

		if (!text_is(node->host, "Running") || text_is(node->kubelet, "Paused") ||
		    node->broken || cluster_node_open(profile, node->node, &at, NULL) < 0)
			continue;
		node->broken = node_services_find_hung(&at, node->node, SERVICE_MS);
		node->broken_word = node->broken ? "Unresponsive" : NULL;
	}
}

static const char *kubeconfig_word(const struct profile *profile)
{
	cleanup_free char *server = xasprintf("https://127.0.0.1:%u", profile->api_port);
	cleanup_free char *path = NULL;

	if (kubeconfig_path(&path, NULL) < 0)
		return "Nonexistent";
	return kubeconfig_state_word(kubeconfig_points_at(path, profile->name, server));
}

static void look_at_running(const struct profile *profile, const struct cluster_node *at,
			    unsigned timeout_ms, struct node_status *ret)
{
	const struct node *node = ret->node;
	struct node_usage usage;

	at->driver->measure(&at->spec, &usage);
	ret->memory_bytes = usage.memory_bytes;
	ret->disk_bytes = usage.disk_bytes;
	ret->disk_size_bytes = usage.disk_size_bytes;
	ret->trouble = usage.trouble;
	ret->host = "Running";
	ret->kubelet = "Paused";
	if (!usage.paused)
		look_at_services(at, ret);
	/* What it wrote about the services may be out of date. */
	if (!usage.paused && usage.halted) {
		ret->broken = "agent";
		ret->broken_word = "Unresponsive";
	}
	ret->apiserver = !node->control_plane ? "Irrelevant"
			 : usage.paused       ? "Paused"
					      : cluster_status_api(profile, node, timeout_ms);
}

/* KUBECONFIG is the word for the kubeconfig of the cluster. */
static int look_at(const struct profile *profile, const struct node *node, const char *kubeconfig,
		   unsigned timeout_ms, struct node_status *ret, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	struct node_usage usage;
	enum node_state state;
	int r = cluster_node_open(profile, node, &at, err);

	if (r < 0)
		return r;
	state = at.driver->query(&at.spec);
	*ret = (struct node_status){ .node = node };
	if (state == NODE_RUNNING) {
		look_at_running(profile, &at, timeout_ms, ret);
		ret->kubeconfig = node->control_plane ? kubeconfig : "Irrelevant";
		return 0;
	}
	at.driver->measure(&at.spec, &usage);
	ret->disk_size_bytes = usage.disk_size_bytes;
	ret->trouble = usage.trouble;
	/* As in minikube, all parts of a stopped node have the word of the node. */
	ret->host = state == NODE_STOPPED ? "Stopped" : "Nonexistent";
	ret->kubelet = ret->host;
	ret->apiserver = node->control_plane ? ret->host : "Irrelevant";
	ret->kubeconfig = node->control_plane ? ret->host : "Irrelevant";
	return 0;
}

/* Without this check, nodes that the caller may not see would look absent. */
static int check_may_look(const struct profile *profile, struct error *err)
{
	cleanup_free char *nodes = xasprintf("%s/nodes", profile->dir);

	if (access(nodes, X_OK) == 0 || errno != EACCES)
		return 0;
	return error_because(err, &reason_not_root, -EACCES,
			     "the nodes of cluster '%s' belong to another user", profile->name);
}

/* See `cannot_ask` in struct cluster_status. */
static char *why_not_ask(const struct profile *profile)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(kube_freep) struct kube *kube = NULL;
	int r = context_open(profile, &kube, &why);

	if (r == -EACCES)
		return xstrdup("only users who can read the cluster's kubeconfig can query the "
			       "API");
	return r < 0 && why.reason == &reason_host_config ? xstrdup(why.text) : NULL;
}

/* See `kubeconfig_damage` in struct cluster_status. */
static char *why_not_mend(const struct cluster_status *status)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	for (size_t i = 0; i < status->count; i++)
		if (text_is(status->nodes[i].kubeconfig, "Misconfigured") ||
		    text_is(status->nodes[i].kubeconfig, "Nonexistent"))
			return context_check(&why) < 0 ? xstrdup(why.text) : NULL;
	return NULL;
}

int cluster_status_collect(const struct profile *profile, const char *busy_with,
			   struct cluster_status *ret, struct error *err)
{
	cleanup_with(cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;
	const struct node *node;
	int unasked = (int)profile_control_planes(profile);
	int r = check_may_look(profile, err);

	if (r < 0)
		return r;
	status.deadline_ms = clock_now_ms() + PATIENCE_MS;
	status.cannot_ask = why_not_ask(profile);
	status.kubeconfig = kubeconfig_word(profile);
	status.nodes = xcalloc(profile->node_count, sizeof(*status.nodes));
	profile_for_each_node(node, profile) {
		/* An API server that does not answer must not use up the time of the others. */
		int share_ms = clock_left_ms(status.deadline_ms) / MAX(unasked, 1);

		r = look_at(profile, node, status.kubeconfig, (unsigned)MAX(share_ms, 1),
			    &status.nodes[status.count], err);
		if (r < 0)
			return r;
		unasked -= node->control_plane;
		status.count++;
	}
	status.kubeconfig_damage = why_not_mend(&status);
	ask_for_nodes(profile, &status);
	find_silent_kubelets(&status);
	find_hung_services(profile, &status);
	readiness_read(&status, status.api_nodes, busy_with);
	*ret = status;
	status = CLUSTER_STATUS_INIT;
	return 0;
}

void cluster_status_release(struct cluster_status *status)
{
	for (size_t i = 0; i < status->count; i++) {
		free(status->nodes[i].pressure);
		free(status->nodes[i].why);
	}
	free(status->nodes);
	json_decref(status->api_nodes);
	free(status->cannot_ask);
	free(status->kubeconfig_damage);
	*status = CLUSTER_STATUS_INIT;
}

/* Whether the parts of NODE that Kubernetes needs run. */
static bool parts_run(const struct node_status *node)
{
	return text_is(node->kubelet, "Running") && !node->broken &&
	       (text_is(node->apiserver, "Running") || text_is(node->apiserver, "Irrelevant"));
}

bool node_status_is_registered(const struct node_status *node)
{
	return text_is(node->host, "Nonexistent") && node->node->phase == NODE_PLANNED &&
	       !node->node->primary;
}

int cluster_status_code(const struct cluster_status *status)
{
	int code = status->front_door && text_is(status->front_door, "Stopped") ? 2 : 0;
	bool is_misled = status->kubeconfig && !text_is(status->kubeconfig, "Configured");
	bool unasked = false;

	for (size_t i = 0; i < status->count; i++) {
		const struct node_status *node = &status->nodes[i];

		/* Among others, it is no defect. */
		if (status->count > 1 && node_status_is_registered(node))
			continue;
		if (!text_is(node->host, "Running"))
			code |= 1;
		if (!parts_run(node))
			code |= 2;
		else if (text_is(node->readiness, "Unknown"))
			unasked = true;
		else if (!readiness_is_well(node))
			code |= 8;
		if (node->node->control_plane && is_misled)
			code |= 4;
	}
	/* If no API server runs, that is the cause, and already in the code. */
	return unasked && !(code & 2) ? code | 8 : code;
}
