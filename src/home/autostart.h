/* A systemd service that starts a cluster when the host boots, and stops it in order at shutdown.
 * It belongs to the host, not to the profile: its existence is its only state. */
#pragma once

#include <sys/types.h>

#include "record/profile.h"

/* Fails with reason_host_unsupported on a host without systemd. */
int autostart_enable(const struct profile *profile, struct error *err);

/* Succeeds if it is not enabled. */
int autostart_disable(const struct profile *profile, struct error *err);

bool autostart_is_enabled(const struct profile *profile);

/* The pure part, for tests. */
struct autostart {
	const char *profile;
	const char *bridge;
	const char *program;   /* of manykube */
	const char *state;     /* path_state() */
	const char *cache;     /* path_cache() */
	const char *home;      /* MANYKUBE_HOME if it is set, else NULL */
	const char *own_cache; /* likewise MANYKUBE_CACHE */
	uid_t uid;             /* the owner of the cluster */
	gid_t gid;
};

/* The text of the unit, for the caller to free; -EINVAL for a path that a unit cannot contain. */
int autostart_text(const struct autostart *autostart, char **ret_text, struct error *err);
