/* What the API reports about nodes. */

#include "look/readiness.h"

#include <stdlib.h>
#include <string.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/strlist.h"

#define WORDS_MOST 1000

bool readiness_is_being_brought_up(const char *busy_with)
{
	return busy_with && (strstr(busy_with, "start") || strstr(busy_with, " add") ||
			     strstr(busy_with, "apply"));
}

/* A node writes its own status, so it must be shortened and made safe for terminals. */
static char *printable(const char *words)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_add_printable_line(&out, words, strnlen(words, WORDS_MOST));
	return strbuf_take(&out);
}

/* The condition TYPE of the Node OBJECT, or NULL. */
static const json_t *find_condition(const json_t *object, const char *type)
{
	const json_t *list = json_object_get(json_object_get(object, "status"), "conditions");
	json_t *condition;
	size_t i;

	json_array_foreach(list, i, condition) {
		if (text_is(json_string_value(json_object_get(condition, "type")), type))
			return condition;
	}
	return NULL;
}

static const char *message_of(const json_t *condition)
{
	return json_string_value(json_object_get(condition, "message"));
}

/* Why OBJECT is not Ready in the API. */
static char *not_ready_reason(const json_t *object)
{
	const char *message = message_of(find_condition(object, "Ready"));

	return message ? printable(message) : xstrdup("its kubelet has not reported yet");
}

/* Set the pressures that OBJECT reports, and describe the first of them in `why`. */
static void read_pressure(const json_t *object, struct node_status *status)
{
	static const char *const types[] = { "MemoryPressure", "DiskPressure", "PIDPressure" };
	cleanup_with(strlist_release) struct strlist found = STRLIST_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		const json_t *condition = find_condition(object, types[i]);
		const char *message = message_of(condition);

		if (!text_is(json_string_value(json_object_get(condition, "status")), "True"))
			continue;
		strlist_add(&found, types[i]);
		if (!status->why) {
			cleanup_free char *words = printable(message ? message : "");

			status->why = xasprintf("%s%s%s", types[i], *words ? ": " : "", words);
		}
	}
	if (found.count > 0)
		status->pressure = strlist_join(&found, ",");
}

/*
 * For a node that runs.  LIST is NULL if the API gave no list; CANNOT_ASK is the reason, or NULL.
 */
static void read_running_node(struct node_status *status, const json_t *list, bool starting,
			      const char *cannot_ask)
{
	const json_t *object = kube_find_object(list, status->node->name);
	bool ready = object && kube_node_is_ready(object);

	status->readiness = ready ? "Ready" : starting ? "Starting" : "NotReady";
	if (text_is(status->kubelet, "Paused")) {
		status->readiness = "Paused";
		status->why = xstrdup("all of its processes are frozen");
	} else if (!text_is(status->kubelet, "Running")) {
		status->readiness = starting ? "Starting" : "NotReady";
		status->why = xstrdup(text_is(status->kubelet, "Unresponsive")
					      ? "its kubelet does not answer"
					      : "its kubelet is not running");
	} else if (status->broken) {
		status->readiness = starting ? "Starting" : "NotReady";
		status->why = xasprintf("its %s %s", status->broken,
					text_is(status->broken_word, "Unresponsive")
						? "does not answer"
						: "is not running");
	} else if (text_is(status->apiserver, "Stopped") ||
		   text_is(status->apiserver, "Unresponsive")) {
		status->why = xstrdup("its API server does not answer");
	} else if (!list && cannot_ask) {
		status->readiness = "Unknown";
		status->why = xstrdup(cannot_ask);
	} else if (!list) {
		status->readiness = starting ? "Starting" : "Unknown";
		status->why = xstrdup("no API server answers");
	} else if (!object) {
		status->why = xstrdup("it has not joined the cluster");
	} else if (!ready) {
		status->why = not_ready_reason(object);
	}
	if (ready && text_is(status->kubelet, "Running"))
		read_pressure(object, status);
	/* Everything else follows from that. */
	if (status->trouble && status->why) {
		free(status->why);
		status->why = xstrdup(status->trouble);
	}
}

static void read_absent_node(struct node_status *status, bool starting)
{
	bool stopped = text_is(status->host, "Stopped");

	status->readiness = starting ? "Starting" : status->host;
	if (!starting && stopped && status->trouble)
		status->why = xasprintf("it is not running: %s", status->trouble);
	else if (!starting)
		status->why = xstrdup(stopped ? "it is not running"
				      : node_status_is_registered(status)
					      ? "it is registered, but was never started"
					      : "it does not exist");
}

void readiness_read(struct cluster_status *status, const json_t *list, const char *busy_with)
{
	bool starting = readiness_is_being_brought_up(busy_with);

	for (size_t i = 0; i < status->count; i++) {
		struct node_status *node = &status->nodes[i];

		free(take_ptr(node->pressure));
		free(take_ptr(node->why));
		if (text_is(node->host, "Running"))
			read_running_node(node, list, starting, status->cannot_ask);
		else
			read_absent_node(node, starting);
	}
}

bool readiness_is_well(const struct node_status *status)
{
	return !status->pressure &&
	       (text_is(status->readiness, "Ready") || text_is(status->readiness, "Starting"));
}
