/* Checks before a start: what it would create, whether this host can run it, and which payloads it
 * needs. */
#pragma once

#include "base/observer.h"
#include "payload/payload.h"
#include "plan/plan.h"
#include "record/options.h"
#include "record/profile.h"

/* Whether OPTIONS apply to NODE. */
bool cluster_takes_part(const struct cluster_options *options, const struct node *node);

/* -EINVAL with reason_usage if NODE of PROFILE has the host's kernel, but is to have another. */
int check_own_kernel(const struct profile *profile, const struct node *node, struct error *err);

/* -ERANGE with reason_resources if NODE is to have memory of its own, and MEMORY_BYTES (0: the
 * default) is too little for it or, unless FORCE, more than this host has. */
int check_own_memory(const struct node *node, uint64_t memory_bytes, bool force, struct error *err);

/* Warn if a node gets more CPUs or memory than this host has; 0: it has no limit.  That is allowed,
 * because users study how pods are scheduled. */
void check_overcommit(unsigned cpus, uint64_t memory_bytes);

/* Plan what cluster_start() would do to the cluster NAME, and check that this host can run it.
 * Changes nothing. */
int cluster_plan(const char *name, const struct cluster_options *options, struct plan *ret,
		 struct error *err);

/* The same for a dry run.  Includes cluster_check_arguments() if the payload is in the cache,
 * because it needs the payload's programs. */
int cluster_rehearse(const char *name, const struct cluster_options *options, struct plan *ret,
		     struct error *err);

/* Check that the programs of PAYLOAD accept the arguments of the nodes of PROFILE that OPTIONS
 * apply to and that have not joined; see arguments_check(). */
int cluster_check_arguments(const struct profile *profile, const struct cluster_options *options,
			    const struct payload *payload, struct error *err);

/*
 * Get the payloads of the nodes of PROFILE that OPTIONS apply to: the cluster's payload, returned
 * in RET, and those of other versions that nodes have.  For an offline cluster, they must be in the
 * cache.
 */
int cluster_get_payloads(const struct profile *profile, const struct cluster_options *options,
			 struct observer *observer, struct payload *ret, struct error *err);
