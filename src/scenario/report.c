/* The report about a run: times made of events. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "scenario/timeline.h"

static void begin_span(struct spans *spans, const char *name, int64_t ms)
{
	spans->items = xrealloc(spans->items, spans->count + 1, sizeof(*spans->items));
	spans->items[spans->count++] = (struct span){ xstrdup(name), ms, -1 };
}

/* The span of NAME that is not over, or NULL. */
static struct span *open_span(const struct spans *spans, const char *name)
{
	for (size_t i = spans->count; i > 0; i--)
		if (spans->items[i - 1].end_ms < 0 && strcmp(spans->items[i - 1].name, name) == 0)
			return &spans->items[i - 1];
	return NULL;
}

/* Begin a span of NAME if IS_ON, unless one has begun; end it otherwise. */
static void switch_span(struct spans *spans, const char *name, int64_t ms, bool is_on)
{
	struct span *span = open_span(spans, name);

	if (is_on && !span)
		begin_span(spans, name, ms);
	else if (!is_on && span)
		span->end_ms = ms;
}

/* Whether the pod UID was known before EVENT. */
static bool is_known_before(const struct timeline *timeline, const struct event *event)
{
	const struct event *other;

	timeline_for_each(other, timeline) {
		if (other == event)
			break;
		if (other->what == EVENT_POD && strcmp(other->uid, event->uid) == 0)
			return true;
	}
	return false;
}

static bool is_heir(const struct report *report, const struct event *pod)
{
	for (size_t i = 0; i < report->move_count; i++)
		if (text_is(report->moves[i].heir_uid, pod->uid))
			return true;
	return false;
}

/* The first event of the pod that the controller of LEFT made after it; NULL if there is none. */
static const struct event *find_heir(const struct timeline *timeline, const struct report *report,
				     const struct event *left)
{
	const struct event *event;

	timeline_for_each(event, timeline)
		if (event->what == EVENT_POD && event->ms >= left->ms &&
		    strcmp(event->owner, left->owner) == 0 && strcmp(event->uid, left->uid) != 0 &&
		    strcmp(event->state, "leaving") != 0 && !is_known_before(timeline, event) &&
		    !is_heir(report, event))
			return event;
	return NULL;
}

static void add_move(const struct timeline *timeline, const struct event *left,
		     struct report *report)
{
	const struct event *heir = find_heir(timeline, report, left);
	const struct event *event;
	struct move move = { .pod = xstrdup(left->name),
			     .from = xstrdup(left->node),
			     .left_ms = left->ms,
			     .ready_ms = -1 };

	timeline_for_each(event, timeline) {
		if (!heir || event->what != EVENT_POD || strcmp(event->uid, heir->uid) != 0)
			continue;
		if (*event->node && !move.to)
			move.to = xstrdup(event->node);
		if (strcmp(event->state, "ready") == 0 && move.ready_ms < 0)
			move.ready_ms = event->ms;
	}
	move.heir = heir ? xstrdup(heir->name) : NULL;
	move.heir_uid = heir ? xstrdup(heir->uid) : NULL;
	report->moves = xrealloc(report->moves, report->move_count + 1, sizeof(*report->moves));
	report->moves[report->move_count++] = move;
}

/* Pods that began to end, each once; those that were ending when the run began do not count. */
static void add_moves(const struct timeline *timeline, struct report *report)
{
	const struct event *event;

	timeline_for_each(event, timeline)
		if (event->what == EVENT_POD && strcmp(event->state, "leaving") == 0 &&
		    *event->owner && *event->node && is_known_before(timeline, event))
			add_move(timeline, event, report);
}

void report_make(const struct timeline *timeline, int64_t length_ms, const char *service,
		 struct report *ret)
{
	const struct event *event;

	*ret = (struct report){ .length_ms = length_ms,
				.service_name = service ? xstrdup(service) : NULL };
	timeline_for_each(event, timeline) {
		bool down = strcmp(event->state, "down") == 0;

		switch (event->what) {
		case EVENT_FAILED:
		case EVENT_HEALED:
			switch_span(&ret->failures, event->name, event->ms,
				    event->what == EVENT_FAILED);
			break;
		case EVENT_NODE:
			switch_span(&ret->nodes, event->name, event->ms,
				    strcmp(event->state, "True") != 0);
			break;
		case EVENT_API:
			switch_span(&ret->api, "API", event->ms, down);
			break;
		case EVENT_SERVICE:
			switch_span(&ret->service, event->name, event->ms, down);
			break;
		default:
			break;
		}
	}
	add_moves(timeline, ret);
}

static int64_t length_of(const struct span *span, int64_t length_ms)
{
	return (span->end_ms < 0 ? length_ms : span->end_ms) - span->begin_ms;
}

int64_t spans_total_ms(const struct spans *spans, int64_t length_ms)
{
	int64_t sum = 0;

	for (size_t i = 0; i < spans->count; i++)
		sum += length_of(&spans->items[i], length_ms);
	return sum;
}

int64_t spans_longest_ms(const struct spans *spans, int64_t length_ms)
{
	int64_t longest = 0;

	for (size_t i = 0; i < spans->count; i++)
		longest = MAX(longest, length_of(&spans->items[i], length_ms));
	return longest;
}

/* Milliseconds as seconds; null if it did not happen. */
static json_t *seconds_json(int64_t ms)
{
	return ms < 0 ? json_null() : json_real((double)ms / 1000);
}

static json_t *spans_json(const struct spans *spans, const char *name_key)
{
	json_t *list = json_array();

	for (size_t i = 0; i < spans->count; i++) {
		const struct span *span = &spans->items[i];
		json_t *object = json_pack("{s:o, s:o}", "begin", seconds_json(span->begin_ms),
					   "end", seconds_json(span->end_ms));

		if (name_key)
			(void)json_object_set_new(object, name_key, json_string(span->name));
		(void)json_array_append_new(list, object);
	}
	return list;
}

/* How long something did not answer. */
static json_t *silence_json(const struct spans *spans, int64_t length_ms)
{
	return json_pack("{s:o, s:o, s:o}", "gaps", spans_json(spans, NULL), "total",
			 seconds_json(spans_total_ms(spans, length_ms)), "longest",
			 seconds_json(spans_longest_ms(spans, length_ms)));
}

json_t *report_json(const struct report *report)
{
	json_t *moves = json_array();
	json_t *object;

	for (size_t i = 0; i < report->move_count; i++) {
		const struct move *move = &report->moves[i];

		(void)json_array_append_new(
			moves, json_pack("{s:s, s:s, s:o, s:s?, s:s?, s:o}", "pod", move->pod,
					 "from", move->from, "left", seconds_json(move->left_ms),
					 "successor", move->heir, "to", move->to, "ready",
					 seconds_json(move->ready_ms)));
	}
	object = json_pack("{s:o, s:o, s:o, s:o, s:o}", "length", seconds_json(report->length_ms),
			   "failures", spans_json(&report->failures, "failure"), "notReady",
			   spans_json(&report->nodes, "node"), "pods", moves, "api",
			   silence_json(&report->api, report->length_ms));
	if (report->service_name) {
		json_t *service = silence_json(&report->service, report->length_ms);

		(void)json_object_set_new(service, "name", json_string(report->service_name));
		(void)json_object_set_new(object, "service", service);
	}
	return object;
}

static void release_spans(struct spans *spans)
{
	for (size_t i = 0; i < spans->count; i++)
		free(spans->items[i].name);
	free(spans->items);
}

void report_release(struct report *report)
{
	release_spans(&report->failures);
	release_spans(&report->nodes);
	release_spans(&report->api);
	release_spans(&report->service);
	for (size_t i = 0; i < report->move_count; i++) {
		free(report->moves[i].pod);
		free(report->moves[i].from);
		free(report->moves[i].heir);
		free(report->moves[i].heir_uid);
		free(report->moves[i].to);
	}
	free(report->moves);
	free(report->service_name);
	*report = REPORT_INIT;
}
