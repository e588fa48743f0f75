/* How two lists of nodes or pods differ. */

#include <string.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "scenario/observe.h"

/* The text at KEY of the object PART of OBJECT, or of OBJECT itself if PART is NULL; "" if there is
 * none. */
static const char *text_at(const json_t *object, const char *part, const char *key)
{
	const json_t *in = part ? json_object_get(object, part) : object;
	const char *text = json_string_value(json_object_get(in, key));

	return text ? text : "";
}

/* The status of the Ready condition of NODE. */
static const char *node_state(const json_t *node)
{
	const json_t *conditions = json_object_get(json_object_get(node, "status"), "conditions");
	json_t *condition;
	size_t i;

	json_array_foreach(conditions, i, condition)
		if (strcmp(text_at(condition, NULL, "type"), "Ready") == 0)
			return text_at(condition, NULL, "status");
	return "Unknown";
}

void observe_nodes(struct sight *sight, const json_t *list, int64_t ms, observe_tell tell,
		   void *data)
{
	json_t *seen = json_object();
	const char *name;
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(list, "items"), i, item) {
		const char *state = node_state(item);

		name = text_at(item, "metadata", "name");
		if (!*name)
			continue;
		(void)json_object_set_new(seen, name, json_string(state));
		if (strcmp(text_at(sight->nodes, NULL, name), state) != 0)
			tell(&(struct event){ .ms = ms,
					      .what = EVENT_NODE,
					      .name = (char *)(uintptr_t)name,
					      .state = (char *)(uintptr_t)state },
			     data);
	}
	json_object_foreach(sight->nodes, name, item)
		if (!json_object_get(seen, name))
			tell(&(struct event){ .ms = ms,
					      .what = EVENT_NODE,
					      .name = (char *)(uintptr_t)name,
					      .state = (char *)(uintptr_t) "gone" },
			     data);
	json_decref(sight->nodes);
	sight->nodes = seen;
}

/* The uid of the controller that would make another pod elsewhere; "" if there is none. */
static const char *owner_of(const json_t *pod)
{
	json_t *owner;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(pod, "metadata"), "ownerReferences"), i,
			   owner) {
		const char *kind = text_at(owner, NULL, "kind");

		if (json_is_true(json_object_get(owner, "controller")) &&
		    strcmp(kind, "DaemonSet") != 0 && strcmp(kind, "Node") != 0)
			return text_at(owner, NULL, "uid");
	}
	return "";
}

static const char *pod_state(const json_t *pod)
{
	const char *phase = text_at(pod, "status", "phase");

	if (*text_at(pod, "metadata", "deletionTimestamp"))
		return "leaving";
	if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)
		return "ended";
	return kube_node_is_ready(pod) ? "ready" : "waiting";
}

/* POD as it is remembered, and as it is told. */
static json_t *remember_pod(const json_t *pod)
{
	cleanup_free char *name = xasprintf("%s/%s", text_at(pod, "metadata", "namespace"),
					    text_at(pod, "metadata", "name"));

	return json_pack("{s:s, s:s, s:s, s:s}", "name", name, "state", pod_state(pod), "node",
			 text_at(pod, "spec", "nodeName"), "owner", owner_of(pod));
}

static void tell_pod(const json_t *pod, const char *uid, const char *state, int64_t ms,
		     observe_tell tell, void *data)
{
	struct event event = {
		.ms = ms,
		.what = EVENT_POD,
		.name = (char *)(uintptr_t)text_at(pod, NULL, "name"),
		.state = (char *)(uintptr_t)state,
		.node = (char *)(uintptr_t)text_at(pod, NULL, "node"),
		.uid = (char *)(uintptr_t)uid,
		.owner = (char *)(uintptr_t)text_at(pod, NULL, "owner"),
	};

	tell(&event, data);
}

/* A pod without a grace period is gone before anybody sees that it leaves. */
static void tell_gone(const json_t *pod, const char *uid, int64_t ms, observe_tell tell, void *data)
{
	const char *state = text_at(pod, NULL, "state");

	if (strcmp(state, "leaving") != 0 && strcmp(state, "ended") != 0)
		tell_pod(pod, uid, "leaving", ms, tell, data);
	tell_pod(pod, uid, "gone", ms, tell, data);
}

void observe_pods(struct sight *sight, const json_t *list, int64_t ms, observe_tell tell,
		  void *data)
{
	json_t *seen = json_object();
	const char *uid;
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(list, "items"), i, item) {
		json_t *pod;

		uid = text_at(item, "metadata", "uid");
		if (!*uid)
			continue;
		pod = remember_pod(item);
		if (!json_equal(pod, json_object_get(sight->pods, uid)))
			tell_pod(pod, uid, text_at(pod, NULL, "state"), ms, tell, data);
		(void)json_object_set_new(seen, uid, pod);
	}
	json_object_foreach(sight->pods, uid, item)
		if (!json_object_get(seen, uid))
			tell_gone(item, uid, ms, tell, data);
	json_decref(sight->pods);
	sight->pods = seen;
}

void sight_release(struct sight *sight)
{
	json_decref(sight->nodes);
	json_decref(sight->pods);
	*sight = (struct sight){ NULL };
}
