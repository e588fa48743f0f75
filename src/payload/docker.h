/*
 * The Docker daemon in the cache.
 *
 * It does not depend on the version of Kubernetes, and most clusters do not need it, so it is apart
 * from payloads: CACHE/docker-v28.5.2/bin/dockerd.  Like a payload, that directory is complete or
 * absent, and is made in a directory whose name ends in .part.
 */
#pragma once

#include "base/error.h"
#include "base/observer.h"
#include "payload/payload.h"

/* The path of dockerd in the cache, which the caller frees; -ENOENT if it is missing. */
int docker_program_open(char **ret_path, struct error *err);

/*
 * Like docker_program_open(), but build a missing dockerd from source; there are no releases with
 * published checksums.  -ENOENT with reason_download if it is missing and SOURCE is offline.
 */
int docker_program_ensure(const struct payload_source *source, struct observer *observer,
			  char **ret_path, struct error *err);
