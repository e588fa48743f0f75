/* Which versions of Kubernetes go together in one cluster. */
#pragma once

#include "base/error.h"

/*
 * -EINVAL with reason_version_unsupported, naming Kubernetes' own rule, unless a node of VERSION
 * can be in a cluster of the version CLUSTER; both as payload_versions() has them.
 */
int skew_check(const char *cluster, const char *version, bool control_plane, struct error *err);
