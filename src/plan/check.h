/* Checks before a start: what it would make, whether this host can, and the payloads it needs. */
#pragma once

#include "base/observer.h"
#include "payload/payload.h"
#include "record/options.h"
#include "record/profile.h"

/* Whether OPTIONS are about NODE. */
bool cluster_takes_part(const struct cluster_options *options, const struct node *node);

/* What cluster_start() would make of the cluster NAME, and whether this host can: nothing is made.
 */
int cluster_plan(const char *name, const struct cluster_options *options, struct profile *ret,
		 bool *ret_is_new, struct error *err);

/* The same for a dry run, with cluster_check_arguments() if the payload is in the cache: one that
 * is not can't be asked before it was downloaded. */
int cluster_rehearse(const char *name, const struct cluster_options *options, struct profile *ret,
		     bool *ret_is_new, struct error *err);

/* Whether the programs of PAYLOAD understand what the nodes of PROFILE that OPTIONS are about and
 * that are yet to join would tell them; see arguments_check(). */
int cluster_check_arguments(const struct profile *profile, const struct cluster_options *options,
			    const struct payload *payload, struct error *err);

/*
 * Get what the nodes of PROFILE that OPTIONS are about run: the cluster's payload, into RET, and
 * those of other versions that nodes have.  For a cluster that is offline they must be in the
 * cache.
 */
int cluster_get_payloads(const struct profile *profile, const struct cluster_options *options,
			 struct observer *observer, struct payload *ret, struct error *err);
