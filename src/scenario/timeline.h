/*
 * What happened in a run, in the order of time, and the report about it.
 *
 * Events come from the player, which makes failures, and from the observers, which only ask the API
 * and the service.  The report is a pure function of the events.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"

enum event_what {
	EVENT_FAILED,  /* the failure `name` ("freeze node-2") was made */
	EVENT_HEALED,  /* it was undone */
	EVENT_WAITED,  /* the wait `name` is over */
	EVENT_NODE,    /* the node `name` has the Ready condition `state`: True, False, Unknown */
	EVENT_POD,     /* the pod `name` ("default/web-1") is waiting, ready, leaving or gone */
	EVENT_API,     /* the API is up or down */
	EVENT_SERVICE, /* likewise, the observed service */
	EVENT_KINDS,
};

struct event {
	int64_t ms; /* since the beginning of the run */
	enum event_what what;
	char *name;
	char *state;
	char *node;   /* of a pod; "" before it is scheduled */
	char *uid;    /* of a pod */
	char *owner;  /* the uid of its controller; "": none that would replace it elsewhere */
	bool is_told; /* to the user */
};

struct timeline {
	struct event *items;
	size_t count;
};

#define TIMELINE_INIT ((struct timeline){ NULL })

/* Loop over the events of TIMELINE with the `const struct event *` variable EVENT. */
#define timeline_for_each(event, timeline)                                                      \
	for (event = (timeline)->items; event && event < (timeline)->items + (timeline)->count; \
	     event++)

/* Add a copy of EVENT, whose members may be NULL, at its place in time. */
void timeline_add(struct timeline *timeline, const struct event *event);

/* The last event about NAME before the end; NULL if there is none. */
const struct event *timeline_last(const struct timeline *timeline, enum event_what what,
				  const char *name);

void timeline_release(struct timeline *timeline);

/* EVENT as one line of JSON, for the caller to free, and the reverse: -EBADMSG if LINE is no such
 * line. */
char *event_print(const struct event *event) must_check;
int event_parse(const char *line, size_t len, struct event *ret);
void event_release(struct event *event);

/* EVENT of TIMELINE as a sentence, "node-2 is not Ready"; NULL if it is no news: a node that was
 * Ready from the beginning, or a pod that waits.  For the caller to free. */
char *event_words(const struct timeline *timeline, const struct event *event) must_check;

/* A time during which something was the case; END_MS < 0: still at the end. */
struct span {
	char *name;
	int64_t begin_ms;
	int64_t end_ms;
};

struct spans {
	struct span *items;
	size_t count;
};

/* A pod that ended because of its node, and the pod that its controller made in its place. */
struct move {
	char *pod;
	char *from;
	char *heir; /* its name; NULL: there is none */
	char *heir_uid;
	char *to;         /* NULL: it has no node yet */
	int64_t left_ms;  /* the pod was deleted */
	int64_t ready_ms; /* the heir was Ready; < 0: never */
};

struct report {
	int64_t length_ms;
	struct spans failures; /* of which name is made and undone */
	struct spans nodes;    /* that are not Ready */
	struct spans api;      /* that does not answer */
	struct spans service;  /* likewise */
	char *service_name;    /* NULL: none was observed */
	struct move *moves;
	size_t move_count;
};

#define REPORT_INIT ((struct report){ 0 })

/* Fill RET from TIMELINE of a run that took LENGTH_MS and observed SERVICE, which may be NULL. */
void report_make(const struct timeline *timeline, int64_t length_ms, const char *service,
		 struct report *ret);

/* The sum of SPANS, which are over at LENGTH_MS at the latest, and the longest one. */
int64_t spans_total_ms(const struct spans *spans, int64_t length_ms);
int64_t spans_longest_ms(const struct spans *spans, int64_t length_ms);

/* REPORT as a document: docs/schema/fail-report.json, for the caller to release. */
json_t *report_json(const struct report *report) must_check;

void report_release(struct report *report);
