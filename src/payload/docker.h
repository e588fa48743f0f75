/* The Docker daemon in the cache: CACHE/docker-v28.5.2/bin/dockerd, see apart.h. */
#pragma once

#include "payload/apart.h"

/* The path of dockerd in the cache, which the caller frees; -ENOENT if it is missing. */
int docker_program_open(char **ret_path, struct error *err);

/* Like docker_program_open(), but build a missing dockerd, see apart_ensure(). */
int docker_program_ensure(const struct payload_source *source, struct observer *observer,
			  char **ret_path, struct error *err);
