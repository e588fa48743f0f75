/* How a cluster is. */

#include "cluster/status.h"

#include <string.h>
#include <unistd.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "cluster/cluster.h"
#include "cluster/kubeadm.h"
#include "cluster/kubeconfig.h"
#include "node/tree.h"

/* For everything that is asked of the API; a person waits. */
#define PATIENCE_MS 2000

char *cluster_status_service(const char *text, const char *name)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;

	strlist_split(&lines, text, '\n');
	strlist_for_each(line, &lines) {
		cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;

		strlist_split(&words, line, ' ');
		if (words.count >= 2 && strcmp(words.items[0], name) == 0)
			return xstrdup(words.items[1]);
	}
	return NULL;
}

static const char *kubelet_word(const struct cluster_node *at)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *state = NULL;

	if (node_tree_read_state(at->folder, &text, NULL) == 0)
		state = cluster_status_service(text.text, "kubelet");
	return state && strcmp(state, "running") == 0 ? "Running" : "Stopped";
}

const char *cluster_status_api(const struct profile *profile, const struct node *node,
			       unsigned timeout_ms)
{
	cleanup_free char *path = xasprintf("%s/kubeconfig", profile->folder);
	cleanup_free char *server = xasprintf("https://%s:%d", node->address, API_SERVER_PORT);
	cleanup_with(kube_freep) struct kube *kube = NULL;

	int r = kube_open(path, &kube, NULL);

	if (r == -EACCES)
		return "Unknown";
	if (r < 0)
		return "Stopped";
	kube_set_server(kube, server);
	return kube_is_ok(kube, "/readyz", timeout_ms) ? "Running" : "Stopped";
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
	ret->host = "Running";
	ret->kubelet = usage.paused ? "Paused" : kubelet_word(at);
	ret->apiserver = !node->control_plane ? "Irrelevant"
			 : usage.paused       ? "Paused"
					      : cluster_status_api(profile, node, timeout_ms);
	ret->kubeconfig = node->control_plane ? kubeconfig_word(profile) : "Irrelevant";
}

static int look_at(const struct profile *profile, const struct node *node, unsigned timeout_ms,
		   struct node_status *ret, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	enum node_state state;
	int r = cluster_node_open(profile, node, &at, err);

	if (r < 0)
		return r;
	state = at.driver->query(&at.spec);
	*ret = (struct node_status){ .node = node };
	if (state == NODE_RUNNING) {
		look_at_running(profile, &at, timeout_ms, ret);
		return 0;
	}
	/* As minikube's users know it, everything on a stopped node copies the node's word. */
	ret->host = state == NODE_STOPPED ? "Stopped" : "Nonexistent";
	ret->kubelet = ret->host;
	ret->apiserver = node->control_plane ? ret->host : "Irrelevant";
	ret->kubeconfig = node->control_plane ? ret->host : "Irrelevant";
	return 0;
}

/* Without this, nodes that one may not see would look as if there were none. */
static int check_may_look(const struct profile *profile, struct error *err)
{
	cleanup_free char *nodes = xasprintf("%s/nodes", profile->folder);

	if (access(nodes, X_OK) == 0 || errno != EACCES)
		return 0;
	return error_because(err, &reason_not_root, -EACCES,
			     "the nodes of cluster '%s' are somebody else's", profile->name);
}

int cluster_status_collect(const struct profile *profile, struct cluster_status *ret,
			   struct error *err)
{
	cleanup_with(cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;
	const struct node *node;
	int unasked = (int)profile_control_planes(profile);
	int r = check_may_look(profile, err);

	if (r < 0)
		return r;
	status.deadline_ms = clock_now_ms() + PATIENCE_MS;
	status.nodes = xcalloc(profile->node_count, sizeof(*status.nodes));
	profile_for_each_node(node, profile) {
		/* One that does not answer is not to take the time of those after it. */
		int share_ms = clock_left_ms(status.deadline_ms) / MAX(unasked, 1);

		r = look_at(profile, node, (unsigned)MAX(share_ms, 1), &status.nodes[status.count],
			    err);
		if (r < 0)
			return r;
		unasked -= node->control_plane;
		status.count++;
	}
	*ret = status;
	status = CLUSTER_STATUS_INIT;
	return 0;
}

void cluster_status_release(struct cluster_status *status)
{
	free(status->nodes);
	*status = CLUSTER_STATUS_INIT;
}

static bool is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

int cluster_status_code(const struct cluster_status *status)
{
	int code = 0;

	for (size_t i = 0; i < status->count; i++) {
		const struct node_status *node = &status->nodes[i];

		if (!is(node->host, "Running"))
			code |= 1;
		if (!is(node->kubelet, "Running") ||
		    (!is(node->apiserver, "Running") && !is(node->apiserver, "Irrelevant")))
			code |= 2;
		if (!is(node->kubeconfig, "Configured") && !is(node->kubeconfig, "Irrelevant"))
			code |= 4;
	}
	return code;
}
