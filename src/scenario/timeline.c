/* Events of a run. */

#include "scenario/timeline.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"

/* As in lines of JSON. */
static const char *const whats[EVENT_KINDS] = { "failed", "healed", "waited", "node",
						"pod",    "api",    "service" };

void timeline_add(struct timeline *timeline, const struct event *event)
{
	size_t at = timeline->count;
	struct event *to;

	timeline->items = xrealloc(timeline->items, timeline->count + 1, sizeof(*timeline->items));
	while (at > 0 && timeline->items[at - 1].ms > event->ms)
		at--;
	to = &timeline->items[at];
	memmove(to + 1, to, (timeline->count - at) * sizeof(*to));
	timeline->count++;
	*to = (struct event){
		.ms = event->ms,
		.what = event->what,
		.name = xstrdup(event->name ? event->name : ""),
		.state = xstrdup(event->state ? event->state : ""),
		.node = xstrdup(event->node ? event->node : ""),
		.uid = xstrdup(event->uid ? event->uid : ""),
		.owner = xstrdup(event->owner ? event->owner : ""),
	};
}

const struct event *timeline_last(const struct timeline *timeline, enum event_what what,
				  const char *name)
{
	for (size_t i = timeline->count; i > 0; i--) {
		const struct event *event = &timeline->items[i - 1];

		if (event->what == what && strcmp(event->name, name) == 0)
			return event;
	}
	return NULL;
}

void event_release(struct event *event)
{
	free(event->name);
	free(event->state);
	free(event->node);
	free(event->uid);
	free(event->owner);
	*event = (struct event){ 0 };
}

void timeline_release(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->count; i++)
		event_release(&timeline->items[i]);
	free(timeline->items);
	*timeline = TIMELINE_INIT;
}

char *event_print(const struct event *event)
{
	json_auto_t *line = json_pack("[I, s, s, s, s, s, s]", (json_int_t)event->ms,
				      whats[event->what], event->name ? event->name : "",
				      event->state ? event->state : "",
				      event->node ? event->node : "", event->uid ? event->uid : "",
				      event->owner ? event->owner : "");
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	/* Not UTF-8: jansson has no such strings. */
	return text ? text : xstrdup("[]");
}

int event_parse(const char *line, size_t len, struct event *ret)
{
	json_auto_t *list = json_loadb(line, len, 0, NULL);
	const char *what, *name, *state, *node, *uid, *owner;
	json_int_t ms;

	if (json_unpack(list, "[I, s, s, s, s, s, s!]", &ms, &what, &name, &state, &node, &uid,
			&owner) < 0 ||
	    ms < 0)
		return -EBADMSG;
	for (size_t i = 0; i < EVENT_KINDS; i++) {
		if (strcmp(whats[i], what) != 0)
			continue;
		*ret = (struct event){ ms,
				       (enum event_what)i,
				       xstrdup(name),
				       xstrdup(state),
				       xstrdup(node),
				       xstrdup(uid),
				       xstrdup(owner) };
		return 0;
	}
	return -EBADMSG;
}

/* Whether an earlier event about the same has another state. */
static bool is_change(const struct timeline *timeline, const struct event *event)
{
	const struct event *other;

	timeline_for_each(other, timeline) {
		if (other == event)
			break;
		if (other->what == event->what && strcmp(other->name, event->name) == 0 &&
		    strcmp(other->uid, event->uid) == 0 && strcmp(other->state, event->state) != 0)
			return true;
	}
	return false;
}

static char *pod_words(const struct timeline *timeline, const struct event *event)
{
	if (!is_change(timeline, event))
		return NULL;
	if (strcmp(event->state, "leaving") == 0 && *event->node)
		return xasprintf("pod %s leaves %s", event->name, event->node);
	if (strcmp(event->state, "ready") == 0)
		return xasprintf("pod %s is Ready on %s", event->name, event->node);
	return NULL;
}

char *event_words(const struct timeline *timeline, const struct event *event)
{
	bool is_good = strcmp(event->state, "up") == 0 || strcmp(event->state, "True") == 0;

	switch (event->what) {
	case EVENT_FAILED:
		return xasprintf("failed: %s", event->name);
	case EVENT_HEALED:
		return xasprintf("healed: %s", event->name);
	case EVENT_WAITED:
		return xstrdup(event->name);
	case EVENT_POD:
		return pod_words(timeline, event);
	default:
		break;
	}
	if (is_good && !is_change(timeline, event))
		return NULL;
	if (event->what == EVENT_NODE)
		return xasprintf("%s is %s", event->name, is_good ? "Ready" : "not Ready");
	return xasprintf("%s%s %s", event->what == EVENT_API ? "the API" : "service ",
			 event->what == EVENT_API ? "" : event->name,
			 is_good ? "answers" : "does not answer");
}
