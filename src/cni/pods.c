/* The pods of a node whose pod network has changed. */

#include "cni/pods.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "record/cni.h"
#include "record/world.h"

#define POLL_MS    300
#define SCRIPT_MS  60000
#define NAMED_MOST 5

#define NET_DIR    "/etc/cni/net.d"
#define FILES_MOST 100

static const char *text_in(const json_t *object, const char *in, const char *key)
{
	return json_string_value(json_object_get(json_object_get(object, in), key)) ?: "";
}

static bool has_ended(const json_t *pod)
{
	const char *phase = text_in(pod, "status", "phase");

	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static bool is_ready(const json_t *pod)
{
	const json_t *condition;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(pod, "status"), "conditions"), i,
			   condition) {
		const char *type = json_string_value(json_object_get(condition, "type")) ?: "";
		const char *status = json_string_value(json_object_get(condition, "status")) ?: "";

		if (strcmp(type, "Ready") == 0)
			return strcmp(status, "True") == 0;
	}
	return false;
}

static int list_pods(const struct profile *profile, const struct node *node, json_t **ret,
		     struct error *err)
{
	cleanup_free char *path = xasprintf("/api/v1/pods?fieldSelector=spec.nodeName%%3D%s",
					    node->name);

	return world->kube(profile, KUBE_GET, path, NULL, ret, err);
}

static const json_t *find_by_uid(const json_t *list, const char *uid)
{
	const json_t *pod;
	size_t i;

	json_array_foreach(json_object_get(list, "items"), i, pod) {
		if (strcmp(text_in(pod, "metadata", "uid"), uid) == 0)
			return pod;
	}
	return NULL;
}

/* Whether POD, as it was before, has an address of the pod network that it will lose. */
static bool is_concerned(const json_t *pod)
{
	return !json_is_true(json_object_get(json_object_get(pod, "spec"), "hostNetwork")) &&
	       *text_in(pod, "status", "podIP") && !has_ended(pod) &&
	       !*text_in(pod, "metadata", "deletionTimestamp");
}

/* Whether NOW is what became of BEFORE: with another address, and Ready if it was.  A pod that is
 * gone, or has ended, is not waited for. */
static bool is_renewed(const json_t *before, const json_t *now)
{
	if (!now || has_ended(now) || *text_in(now, "metadata", "deletionTimestamp"))
		return true;
	return *text_in(now, "status", "podIP") &&
	       strcmp(text_in(now, "status", "podIP"), text_in(before, "status", "podIP")) != 0 &&
	       (is_ready(now) || !is_ready(before));
}

static void list_missing(const json_t *before, const json_t *now, struct strlist *ret)
{
	const json_t *pod;
	size_t i;

	json_array_foreach(json_object_get(before, "items"), i, pod) {
		if (is_concerned(pod) &&
		    !is_renewed(pod, find_by_uid(now, text_in(pod, "metadata", "uid"))))
			strlist_addf(ret, "%s/%s", text_in(pod, "metadata", "namespace"),
				     text_in(pod, "metadata", "name"));
	}
}

static int await_pods(const struct profile *profile, const struct node *node, const json_t *before,
		      unsigned seconds, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + (int64_t)seconds * 1000;

	for (;;) {
		cleanup_with(strlist_release) struct strlist missing = STRLIST_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		cleanup_free char *names = NULL;
		json_auto_t *now = NULL;
		int r = list_pods(profile, node, &now, &why);

		if (r == 0)
			list_missing(before, now, &missing);
		if (r == 0 && missing.count == 0)
			return 0;
		if (clock_poll(deadline_ms, POLL_MS))
			continue;
		names = strlist_join_some(&missing, NAMED_MOST);
		return error_because(err, &reason_wait_timeout, -ETIMEDOUT,
				     "not all pods of node '%s' came up again: %s", node->name,
				     r < 0 ? why.text : names);
	}
}

static int run_script(const struct profile *profile, const struct node *node, char *const *argv,
		      struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	cleanup_free char *log = xasprintf("%s/logs/network-%s.log", profile->dir, node->name);
	const struct process_options options = { .no_stdin = true, .output = log };
	int r = cluster_node_open(profile, node, &at, err);

	if (r == 0)
		r = at.driver->spawn(&at.spec, argv, &options, &process, err);
	if (r == 0)
		r = process_wait(&process, clock_now_ms() + SCRIPT_MS, err);
	return r > 0 ? error_because(err, &reason_node_failed, -EIO,
				     "changing the pod network of node '%s' failed; see '%s'",
				     node->name, log)
		     : r;
}

/* Whether containerd reads the file NAME as the configuration of a pod network. */
static bool is_configuration(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".conf") == 0 || strcmp(dot, ".conflist") == 0 ||
		       strcmp(dot, ".json") == 0);
}

int pods_set_aside(const struct profile *profile, const struct node *node, const char *but,
		   struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *stays = but ? strrchr(but, '/') + 1 : "";
	const char *name;
	int r = cluster_node_open(profile, node, &at, err);

	if (r < 0 || at.driver->files->list(&at.spec, NET_DIR, FILES_MOST, &names, NULL) < 0)
		return r;
	strlist_for_each(name, &names) {
		cleanup_free char *before = xasprintf(NET_DIR "/%s", name);
		cleanup_free char *after = xasprintf("%s.replaced", before);

		if (r >= 0 && is_configuration(name) && strcmp(name, stays) != 0)
			r = at.driver->files->rename(&at.spec, before, after, err);
	}
	return MIN(r, 0);
}

int pods_set_bridge(const struct profile *profile, const struct node *node, struct error *err)
{
	static char script[] =
#include "bridge-node.sh.inc"
		;
	char *on = cni_kind(profile->cni) == CNI_BRIDGE ? "1" : "0";

	return run_script(profile, node, ARGV("sh", "-c", script, "bridge-node", on), err);
}

int pods_renew(const struct profile *profile, const struct node *node, unsigned seconds,
	       struct error *err)
{
	static char script[] =
#include "renew-pods.sh.inc"
		;
	json_auto_t *before = NULL;
	int r = list_pods(profile, node, &before, err);

	if (r == 0)
		r = pods_set_bridge(profile, node, err);
	if (r == 0)
		r = run_script(profile, node, ARGV("sh", "-ec", script, "renew-pods"), err);
	if (r < 0 || !cni_is_ours(profile->cni))
		return r;
	return await_pods(profile, node, before, seconds, err);
}

void pods_clean_node(const struct profile *profile, const struct node *node)
{
	static char script[] =
#include "clean-node.sh.inc"
		;
	enum cni_kind kind = cni_kind(profile->cni);
	bool has_tunnel = kind == CNI_FLANNEL && profile->cni_backend &&
			  strcmp(profile->cni_backend, "vxlan") == 0;
	char *bridge = kind == CNI_BRIDGE ? NULL : "cni0";

	(void)run_script(profile, node,
			 has_tunnel ? ARGV("sh", "-c", script, "clean-node", bridge)
				    : ARGV("sh", "-c", script, "clean-node", "flannel.1", bridge),
			 NULL);
}
