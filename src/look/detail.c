/* Details of nodes from the API. */

#include "look/detail.h"

#include <string.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "record/ports.h"

#define SHORTEST_MS 500
#define WORDS_MOST  1000

/* resourceVersion=0: answer from the API server's cache. */
#define PODS_PATH                                           \
	"/api/v1/pods?resourceVersion=0&includeObject=None" \
	"&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

static const json_t *get_member(const json_t *object, const char *outer, const char *inner)
{
	return json_object_get(json_object_get(object, outer), inner);
}

/* The number of rows of TABLE whose column "Node" is NAME; -1 if there is no such column. */
static int count_pods(const json_t *table, const char *name)
{
	const json_t *columns = json_object_get(table, "columnDefinitions");
	size_t at = 0;
	size_t i;
	json_t *row;
	int count = 0;

	while (at < json_array_size(columns) &&
	       !text_is(json_string_value(json_object_get(json_array_get(columns, at), "name")),
			"Node"))
		at++;
	if (at == json_array_size(columns))
		return -1;
	json_array_foreach(json_object_get(table, "rows"), i, row) {
		count += text_is(
			json_string_value(json_array_get(json_object_get(row, "cells"), at)), name);
	}
	return count;
}

/* A node writes its own status, so it must be made safe for terminals. */
static char *shown(const char *words)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_add_printable_line(&out, words, strnlen(words, WORDS_MOST));
	return strbuf_take(&out);
}

static void read_node(const struct node_status *status, const json_t *nodes, const json_t *pods,
		      struct node_detail *ret)
{
	const struct node *node = status->node;
	const json_t *object = kube_find_object(nodes, node->name);
	const char *created = json_string_value(
		get_member(object, "metadata", "creationTimestamp"));
	const char *version = json_string_value(
		json_object_get(get_member(object, "status", "nodeInfo"), "kubeletVersion"));

	if (!version)
		version = node->kubernetes_version;
	*ret = (struct node_detail){
		.state = text_is(status->readiness, "Nonexistent") ? "Absent" : status->readiness,
		.cordoned = json_is_true(get_member(object, "spec", "unschedulable")),
		.why = status->why ? xstrdup(status->why) : NULL,
		.version = version ? shown(version) : NULL,
		.pods = pods ? count_pods(pods, node->name) : -1,
		.created = created ? clock_parse_rfc3339(created) : -1,
	};
}

void cluster_detail_read(const struct cluster_status *status, const json_t *pods,
			 struct cluster_detail *ret)
{
	*ret = (struct cluster_detail){
		.nodes = xcalloc(status->count, sizeof(*ret->nodes)),
		.count = status->count,
	};
	for (size_t i = 0; i < status->count; i++)
		read_node(&status->nodes[i], status->api_nodes, pods, &ret->nodes[i]);
}

/* A client for an API server that has just answered; NULL if none has. */
static struct kube *open_any(const struct profile *profile, const struct cluster_status *status)
{
	cleanup_free char *path = xasprintf("%s/kubeconfig", profile->dir);
	struct kube *kube = NULL;

	for (size_t i = 0; i < status->count; i++) {
		cleanup_free char *server = NULL;

		if (!text_is(status->nodes[i].apiserver, "Running"))
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
			    struct cluster_detail *ret)
{
	cleanup_with(kube_freep) struct kube *kube = NULL;
	int64_t deadline = MAX(status->deadline_ms, clock_now_ms() + SHORTEST_MS);
	json_auto_t *pods = NULL;

	if (status->api_nodes)
		kube = open_any(profile, status);
	if (kube)
		(void)kube_request(kube, KUBE_TABLE, PODS_PATH, NULL,
				   (unsigned)clock_left_ms(deadline), &pods, NULL);
	cluster_detail_read(status, pods, ret);
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
