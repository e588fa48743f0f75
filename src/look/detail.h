/*
 * Details of nodes beyond their status: what the API knows about them and their pods.
 *
 * This takes one more request than the status.  If the API does not answer, only the status is
 * available.
 */
#pragma once

#include <jansson.h>

#include "look/status.h"

struct node_detail {
	const char *state; /* "Ready", "NotReady", "Stopped", "Starting", "Paused", "Absent",
			      "Unknown" */
	bool cordoned;
	char *why;       /* what is wrong with it, or NULL */
	char *version;   /* of its kubelet; if unknown, that of the profile; may be NULL */
	int pods;        /* that have not ended; -1 if unknown */
	int64_t created; /* seconds since 1970; -1 if unknown */
};

/* The nodes of a struct cluster_status, in its order. */
struct cluster_detail {
	struct node_detail *nodes;
	size_t count;
};

#define CLUSTER_DETAIL_INIT ((struct cluster_detail){ NULL })

/* The timeout is that of the status, but at least half a second if an API server answers. */
void cluster_detail_collect(const struct profile *profile, const struct cluster_status *status,
			    struct cluster_detail *ret);

/* The same from the API's answer: a Table of pods, which may be NULL. */
void cluster_detail_read(const struct cluster_status *status, const json_t *pods,
			 struct cluster_detail *ret);

void cluster_detail_release(struct cluster_detail *detail);
