/* The registry program in the cache: CACHE/registry-v3.1.2/bin/registry, see apart.h. */
#pragma once

#include "payload/apart.h"

/* The path of the program in the cache, which the caller frees; -ENOENT if it is missing. */
int registry_program_open(char **ret_path, struct error *err);

/* Like registry_program_open(), but build a missing program, see apart_ensure(). */
int registry_program_ensure(const struct payload_source *source, struct observer *observer,
			    char **ret_path, struct error *err);
