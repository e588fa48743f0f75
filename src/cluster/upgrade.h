/*
 * Upgrading a cluster to another version of Kubernetes.
 *
 * It can be cut short at any moment and gone on with, as everything in cluster.h.
 */
#pragma once

#include "base/observer.h"
#include "payload/payload.h"
#include "record/profile.h"

struct upgrade_options {
	const char
		*version; /* one of payload_versions(); NULL: the newest, or the one begun with */
	bool drain;       /* move pods away before a node is restarted */
	unsigned drain_seconds;
	unsigned wait_seconds; /* for each thing that is waited for */
	const char *binary_mirror;
};

/* What an upgrade is about. */
struct upgrade_plan {
	char *from;
	char *to;
	bool is_begun; /* it was cut short before */
	bool is_done;  /* there is nothing to do */
};

#define UPGRADE_PLAN_INIT ((struct upgrade_plan){ NULL })

/*
 * What an upgrade of PROFILE to VERSION (may be NULL, as in the options) would be about.  -EINVAL
 * with reason_version_unsupported for a step that Kubernetes does not allow, -EBUSY if another
 * upgrade has begun.
 */
int upgrade_plan(const struct profile *profile, const char *version, struct upgrade_plan *ret,
		 struct error *err);
void upgrade_plan_release(struct upgrade_plan *plan);

/*
 * What there is to say of an upgrade of PROFILE that has begun and not ended, for the caller to
 * free: its versions, and the command that continues it; NULL if there is none.  BUSY_WITH is the
 * command that works on the cluster ("manykube upgrade") or NULL.
 */
char *upgrade_words(const struct profile *profile, const char *busy_with) must_check;

/* Whether NODE still has to become one of VERSION. */
bool upgrade_is_due(const struct profile *profile, const struct node *node, const char *version);

/* Make PROFILE, which is loaded again meanwhile, a cluster of the version that OPTIONS ask for. */
int cluster_upgrade(struct profile *profile, const struct upgrade_options *options,
		    struct observer *observer, struct error *err);
