/*
 * Observers of a run: processes that poll the API and a service, and tell what they see.
 *
 * They know nothing of the failures that are made, and nothing that the player does delays them.
 * What does not answer within a second, or two for the API, counts as silent: from the beginning of
 * the first request without an answer to the first answer.
 */
#pragma once

#include <jansson.h>

#include "base/jobs.h"
#include "base/strbuf.h"
#include "record/profile.h"
#include "scenario/timeline.h"

/* The service to ask; ADDRESS is NULL if there is none. */
struct observe_service {
	char *name; /* "default/web" */
	char *address;
	unsigned port;
	bool connects_only; /* a connection counts as an answer; else a request of HTTP is sent */
};

#define OBSERVE_SERVICE_INIT ((struct observe_service){ NULL })

struct observers {
	struct job api;
	struct job service;
	int fd; /* lines of event_print() */
	struct strbuf rest;
};

#define OBSERVERS_INIT \
	((struct observers){ .api = JOB_INIT, .service = JOB_INIT, .fd = -1, .rest = STRBUF_INIT })

/* Find the service NAME in NAMESPACE; fails as service_check() does, and with
 * reason_service_inside if none of its ports is TCP. */
int observe_find_service(const struct profile *profile, const char *namespace, const char *name,
			 struct observe_service *ret, struct error *err);
void observe_service_release(struct observe_service *service);

/* Observe PROFILE from now on; times are since BEGIN_MS of clock_now_ms(). */
int observers_begin(const struct profile *profile, const struct observe_service *service,
		    int64_t begin_ms, struct observers *ret, struct error *err);

/* Wait up to TIMEOUT_MS, or until a signal, for events, and add them to TIMELINE.  -EPIPE if an
 * observer ended. */
int observers_read(struct observers *observers, int timeout_ms, struct timeline *timeline,
		   struct error *err);

void observers_end(struct observers *observers);

/* What an observer has seen last: nodes by name, pods by uid. */
struct sight {
	json_t *nodes;
	json_t *pods;
};

typedef void (*observe_tell)(const struct event *event, void *data);

/* Tell how LIST, the API's list of nodes or pods at MS, differs from SIGHT, and remember it. */
void observe_nodes(struct sight *sight, const json_t *list, int64_t ms, observe_tell tell,
		   void *data);
void observe_pods(struct sight *sight, const json_t *list, int64_t ms, observe_tell tell,
		  void *data);

void sight_release(struct sight *sight);
