/* Which versions of Kubernetes go together in one cluster. */
#pragma once

#include "base/error.h"

/*
 * -EINVAL with reason_version_unsupported, naming Kubernetes' own rule, unless a node of VERSION
 * can be in a cluster of the version CLUSTER; both as payload_versions() has them.
 */
int skew_check(const char *cluster, const char *version, bool control_plane, struct error *err);

/* The same unless a cluster of the version FROM can become one of TO in one step. */
int skew_check_upgrade(const char *from, const char *to, struct error *err);
