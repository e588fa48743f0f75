/*
 * What is being done to a cluster, or went wrong when something was done to it last.
 *
 * The cluster's lock tells who works on it; logs/events.json, one CloudEvent per line, tells how
 * far that has come.
 */
#pragma once

#include "look/status.h"

struct activity {
	char *busy_with;   /* "manykube start", or NULL if nobody works on the cluster */
	char *step;        /* what was begun last, or NULL if that is over */
	char *step_detail; /* the same in a sentence, or NULL */
	char *failure;     /* why the last command failed, or NULL if it did not */
};

#define ACTIVITY_INIT ((struct activity){ NULL })

/* What is not known is left out. */
void activity_read(const struct profile *profile, struct activity *ret);

/* The steps and the failure that the events TEXT end with; lines that are no events are skipped. */
void activity_parse(const char *text, struct activity *ret);

/* Forget a failure if the cluster is well by now, and a failure to wait for nodes if each of them
 * is gone or well. */
void activity_settle(struct activity *activity, const struct cluster_status *status);

void activity_release(struct activity *activity);
