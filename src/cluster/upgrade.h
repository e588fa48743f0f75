/*
 * Upgrading a cluster to another version of Kubernetes.
 *
 * It may be interrupted at any point and resumes where it stopped, like everything in cluster.h.
 */
#pragma once

#include "base/observer.h"
#include "payload/payload.h"
#include "record/profile.h"

struct upgrade_options {
	const char *version; /* one of payload_versions(); NULL: that of an unfinished upgrade, or
				the newest */
	bool drain;          /* move pods to other nodes before a node is restarted */
	unsigned drain_seconds;
	unsigned wait_seconds; /* timeout of each wait */
	const char *binary_mirror;
};

/* The scope of an upgrade. */
struct upgrade_plan {
	char *from;
	char *to;
	bool is_begun; /* it was interrupted before */
	bool is_done;  /* there is nothing to do */
};

#define UPGRADE_PLAN_INIT ((struct upgrade_plan){ NULL })

/*
 * Plan an upgrade of PROFILE to VERSION (may be NULL, as in the options).  -EINVAL with
 * reason_version_unsupported if Kubernetes does not support it, -EBUSY if another upgrade is
 * unfinished.
 */
int upgrade_plan(const struct profile *profile, const char *version, struct upgrade_plan *ret,
		 struct error *err);
void upgrade_plan_release(struct upgrade_plan *plan);

/*
 * A description of the unfinished upgrade of PROFILE, for the caller to free: its versions, and the
 * command that continues it; NULL if there is none.  BUSY_WITH is the command that works on the
 * cluster ("manykube upgrade") or NULL.
 */
char *upgrade_words(const struct profile *profile, const char *busy_with) must_check;

/* Whether NODE still has to be upgraded to VERSION. */
bool upgrade_is_due(const struct profile *profile, const struct node *node, const char *version);

/* Upgrade the cluster PROFILE to the version in OPTIONS.  PROFILE is reloaded meanwhile. */
int cluster_upgrade(struct profile *profile, const struct upgrade_options *options,
		    struct observer *observer, struct error *err);
