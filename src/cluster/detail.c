/* What the API says of nodes. */

#include "cluster/detail.h"

#include <string.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "cluster/kubeadm.h"

#define SHORTEST_MS 500
#define WORDS_MOST  1000

/* resourceVersion=0: what the API server has in memory is good enough. */
#define NODES_PATH "/api/v1/nodes?resourceVersion=0"
#define PODS_PATH                                           \
	"/api/v1/pods?resourceVersion=0&includeObject=None" \
	"&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

static bool is(const char *word, const char *other)
{
	return word && strcmp(word, other) == 0;
}

static const json_t *get(const json_t *object, const char *outer, const char *inner)
{
	return json_object_get(json_object_get(object, outer), inner);
}

/* The rows of TABLE whose column "Node" is NAME; -1 if it has no such column. */
static int count_pods(const json_t *table, const char *name)
{
	const json_t *columns = json_object_get(table, "columnDefinitions");
	size_t at = 0;
	size_t i;
	json_t *row;
	int count = 0;

	while (at < json_array_size(columns) &&
	       !is(json_string_value(json_object_get(json_array_get(columns, at), "name")), "Node"))
		at++;
	if (at == json_array_size(columns))
		return -1;
	json_array_foreach(json_object_get(table, "rows"), i, row)
	{
		count += is(json_string_value(json_array_get(json_object_get(row, "cells"), at)),
			    name);
	}
	return count;
}

/* A node writes its own status, so its words are kept short and fit for a terminal. */
static char *shown(const char *words)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_add_printable(&out, words, strnlen(words, WORDS_MOST));
	return strbuf_take(&out);
}

/* Why the API takes OBJECT for not Ready. */
static char *reason_of(const json_t *object)
{
	json_t *condition;
	size_t i;

	json_array_foreach(get(object, "status", "conditions"), i, condition)
	{
		const char *message = json_string_value(json_object_get(condition, "message"));

		if (is(json_string_value(json_object_get(condition, "type")), "Ready") && message)
			return shown(message);
	}
	return xstrdup("its kubelet has said nothing of it yet");
}

/* Whether some API server can't be asked because its kubeconfig is not ours to read. */
static bool is_forbidden(const struct cluster_status *status)
{
	for (size_t i = 0; i < status->count; i++)
		if (is(status->nodes[i].apiserver, "Unknown"))
			return true;
	return false;
}

/* State and reason of a node that runs; NODES is NULL if there is no API, OBJECT if it has none of
 * that name. */
static void read_running(const struct node_status *status, bool starting, bool forbidden,
			 const json_t *nodes, const json_t *object, struct node_detail *ret)
{
	bool ready = object && kube_node_is_ready(object);

	ret->state = ready ? "Ready" : starting ? "Starting" : "NotReady";
	if (is(status->kubelet, "Paused")) {
		ret->state = "Paused";
		ret->why = xstrdup("all of its processes are frozen");
	} else if (!is(status->kubelet, "Running")) {
		ret->state = starting ? "Starting" : "NotReady";
		ret->why = xstrdup("its kubelet does not run");
	} else if (is(status->apiserver, "Stopped")) {
		ret->why = xstrdup("its API server does not answer");
	} else if (!nodes && forbidden) {
		ret->state = "Unknown";
		ret->why = xstrdup("only who may read the cluster's kubeconfig can ask the API");
	} else if (!ready && object) {
		ret->why = reason_of(object);
	} else if (!ready) {
		ret->why = xstrdup(nodes ? "it has not joined the cluster"
					 : "no API server tells how it is");
	}
}

static void read_node(const struct node_status *status, bool starting, bool forbidden,
		      const json_t *nodes, const json_t *pods, struct node_detail *ret)
{
	const struct node *node = status->node;
	const json_t *object = kube_find_object(nodes, node->name);
	const char *created = json_string_value(get(object, "metadata", "creationTimestamp"));
	const char *version = json_string_value(
		json_object_get(get(object, "status", "nodeInfo"), "kubeletVersion"));

	if (!version)
		version = node->kubernetes_version;
	*ret = (struct node_detail){
		.cordoned = json_is_true(get(object, "spec", "unschedulable")),
		.version = version ? shown(version) : NULL,
		.pods = pods ? count_pods(pods, node->name) : -1,
		.created = created ? clock_parse_rfc3339(created) : -1,
	};
	if (is(status->host, "Running")) {
		read_running(status, starting, forbidden, nodes, object, ret);
		return;
	}
	ret->state = starting ? "Starting" : is(status->host, "Stopped") ? "Stopped" : "Absent";
	if (!starting)
		ret->why = xstrdup(is(status->host, "Stopped") ? "it does not run"
							       : "nothing of it is there");
}

/* Whether the command that works on the cluster is to bring nodes up. */
static bool is_starting(const char *busy_with)
{
	return busy_with && (strstr(busy_with, "start") || strstr(busy_with, " add"));
}

void cluster_detail_read(const struct cluster_status *status, const char *busy_with,
			 const json_t *nodes, const json_t *pods, struct cluster_detail *ret)
{
	*ret = (struct cluster_detail){
		.nodes = xcalloc(status->count, sizeof(*ret->nodes)),
		.count = status->count,
	};
	for (size_t i = 0; i < status->count; i++)
		read_node(&status->nodes[i], is_starting(busy_with), is_forbidden(status), nodes,
			  pods, &ret->nodes[i]);
}

/* A client for an API server that has just answered; NULL if none has. */
static struct kube *open_any(const struct profile *profile, const struct cluster_status *status)
{
	cleanup_free char *path = xasprintf("%s/kubeconfig", profile->folder);
	struct kube *kube = NULL;

	for (size_t i = 0; i < status->count; i++) {
		cleanup_free char *server = NULL;

		if (!is(status->nodes[i].apiserver, "Running"))
			continue;
		if (kube_open(path, &kube, NULL) < 0)
			return NULL;
		server = xasprintf("https://%s:%d", status->nodes[i].node->address,
				   API_SERVER_PORT);
		kube_set_server(kube, server);
		return kube;
	}
	return NULL;
}

void cluster_detail_collect(const struct profile *profile, const struct cluster_status *status,
			    const char *busy_with, struct cluster_detail *ret)
{
	cleanup_with(kube_freep) struct kube *kube = open_any(profile, status);
	int64_t deadline = MAX(status->deadline_ms, clock_now_ms() + SHORTEST_MS);
	json_auto_t *nodes = NULL;
	json_auto_t *pods = NULL;

	if (kube && kube_request(kube, KUBE_GET, NODES_PATH, NULL,
				 (unsigned)clock_left_ms(deadline), &nodes, NULL) == 0)
		(void)kube_request(kube, KUBE_TABLE, PODS_PATH, NULL,
				   (unsigned)MAX(clock_left_ms(deadline), 1), &pods, NULL);
	cluster_detail_read(status, busy_with, nodes, pods, ret);
}

void cluster_detail_release(struct cluster_detail *detail)
{
	for (size_t i = 0; i < detail->count; i++) {
		free(detail->nodes[i].why);
		free(detail->nodes[i].version);
	}
	free(detail->nodes);
	*detail = CLUSTER_DETAIL_INIT;
}
