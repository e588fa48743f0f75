/*
 * Watching a start: run the command that makes a cluster, and see from outside when the
 * cluster can do what people need of it.
 *
 * No program is started for it, so that watching takes little of what is watched.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"

enum watch_kind {
	WATCH_NEW = 1 << 0,   /* a cluster is made */
	WATCH_AGAIN = 1 << 1, /* a cluster comes back, whose API remembers the time before */
};

struct watch_options {
	enum watch_kind kind;
	const char *profile;
	unsigned nodes; /* of a new cluster */
	bool direct;    /* there is no front door: ask the first node itself */
	unsigned seconds;
	char *const *argv;
};

/*
 * Run ARGV and give, in seconds since its start:
 *
 *	"times"       api, ready, pod, dns, or api and pods if the cluster comes back, and returned;
 *	              what did not happen is missing
 *	"milestones"  what could be seen of the first control plane meanwhile
 *	"steps"       each line that the command wrote to stderr, and when
 *	"status"      the command's exit status
 */
int watch_start(const struct watch_options *options, json_t **ret, struct error *err);
