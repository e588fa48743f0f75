/*
 * What a command is doing to a cluster, or why the last command failed.
 *
 * The cluster's lock tells which command works on it; logs/events.json, one CloudEvent per line,
 * tells its progress.
 */
#pragma once

#include "look/status.h"

struct activity {
	char *busy_with;   /* "manykube start", or NULL if no command works on the cluster */
	char *step;        /* the step that was begun last, or NULL if it is finished */
	char *step_detail; /* the same as a sentence, or NULL */
	char *failure;     /* why the last command failed, or NULL if it succeeded */
};

#define ACTIVITY_INIT ((struct activity){ NULL })

/* Members stay NULL if they cannot be determined. */
void activity_read(const struct profile *profile, struct activity *ret);

/* The last step and failure in the events TEXT; lines that are not events are skipped. */
void activity_parse(const char *text, struct activity *ret);

/* Forget a failure if the cluster is well by now, and a failure to start a node or to wait for
 * nodes if each of them is gone or well. */
void activity_settle(struct activity *activity, const struct cluster_status *status);

void activity_release(struct activity *activity);
