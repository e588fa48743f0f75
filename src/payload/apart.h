/*
 * Programs in the cache that belong to no version of Kubernetes: the Docker daemon, the registry.
 *
 * Most clusters do not need them, so each is in a directory of its own, such as
 * CACHE/docker-v28.5.2/bin/dockerd.  Like a payload, that directory is complete or absent, and is
 * made in a directory whose name ends in .part.
 */
#pragma once

#include "base/error.h"
#include "base/observer.h"
#include "payload/component.h"
#include "payload/payload.h"

struct apart {
	enum component_id id;
	const struct release *release;
	const char *title;   /* "Docker", in messages */
	const char *name;    /* of its directory, without the version */
	const char *program; /* in bin/ of that directory */
	const char *command; /* puts it into the cache for offline clusters */
};

/* The path of the program in the cache, which the caller frees; -ENOENT if it is missing. */
int apart_open(const struct apart *apart, char **ret_path, struct error *err);

/*
 * Like apart_open(), but build a missing program from source; there are no releases with published
 * checksums.  -ENOENT with reason_download if it is missing and SOURCE is offline.
 */
int apart_ensure(const struct apart *apart, const struct payload_source *source,
		 struct observer *observer, char **ret_path, struct error *err);
