/* The user's own images on nodes: archives on this host, as written by `docker save` or in the OCI
 * layout, optionally compressed with gzip. */
#pragma once

#include "base/observer.h"
#include "record/profile.h"

/* -EINVAL with reason_usage unless PATH is an image archive on this host. */
int own_images_check(const char *path, struct error *err);

/*
 * Load the archives of PROFILE on NODE, which runs, unless it has loaded their current version.  An
 * archive that no longer exists is ignored if NODE has loaded it before; else a warning is logged.
 */
int own_images_load(const struct profile *profile, const struct node *node,
		    struct observer *observer, struct error *err);
