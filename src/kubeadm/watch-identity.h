/* The identity of the process that watches the cluster's API (watch/config.h). */
#pragma once

#include "record/profile.h"

/*
 * Sign its certificate with the cluster's authority unless there is one that is valid for long
 * enough.  What it may do is in manifests/watch-role.yaml.  -ENOENT if the cluster has no authority
 * yet.
 */
int watch_identity_ensure(const struct profile *profile, struct error *err);
