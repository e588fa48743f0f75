/* Which versions of Kubernetes may be combined in one cluster. */
#pragma once

#include "base/error.h"

/*
 * -EINVAL with reason_version_unsupported, quoting the rule of Kubernetes, unless a node of VERSION
 * may be part of a cluster of the version CLUSTER.  Both are versions as payload_versions() lists
 * them.
 */
int skew_check(const char *cluster, const char *version, bool control_plane, struct error *err);

/* The same for upgrading a cluster from FROM to TO in one step. */
int skew_check_upgrade(const char *from, const char *to, struct error *err);
