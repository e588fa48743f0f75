/*
 * Images of a person's own on nodes: archives of this host, as `docker save` writes them or in the
 * layout of OCI, also compressed by gzip.
 */
#pragma once

#include "base/observer.h"
#include "record/profile.h"

/* -EINVAL with reason_usage unless PATH is an archive of this host. */
int own_images_check(const char *path, struct error *err);

/*
 * Have NODE of PROFILE, which runs, load the archives that it has not loaded as they are now.  One
 * that is gone meanwhile is no error for who has it, and a warning for others.
 */
int own_images_load(const struct profile *profile, const struct node *node,
		    struct observer *observer, struct error *err);
