/* A service of systemd's that starts a cluster when the host boots, and stops it in order before it
 * goes down.  It is the host's, not the profile's: whether it is there is all that is known of it.
 */
#pragma once

#include <sys/types.h>

#include "record/profile.h"

/* Fails with reason_host_unsupported on a host that systemd does not run. */
int autostart_enable(const struct profile *profile, struct error *err);

/* Succeeds if it is not enabled. */
int autostart_disable(const struct profile *profile, struct error *err);

bool autostart_is_enabled(const struct profile *profile);

/* The part that only computes, for tests. */
struct autostart {
	const char *profile;
	const char *bridge;
	const char *program;   /* ours */
	const char *state;     /* path_state() */
	const char *cache;     /* path_cache() */
	const char *home;      /* MANYKUBE_HOME if that is set, else NULL */
	const char *own_cache; /* likewise MANYKUBE_CACHE */
	uid_t uid;             /* the user whose cluster it is */
	gid_t gid;
};

/* The service's text, for the caller to free; -EINVAL for a path that systemd can't be told. */
int autostart_text(const struct autostart *autostart, char **ret_text, struct error *err);
