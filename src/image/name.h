/*
 * Names of container images.
 *
 * A complete name is DOMAIN/PATH:TAG, DOMAIN/PATH@sha256:DIGEST, or both.  People leave out
 * "docker.io/", "docker.io/library/" and ":latest".
 */
#pragma once

#include "base/error.h"

/* The complete name for TEXT: docker.io/library/app:latest for app.  The caller frees it.  -EINVAL
 * with reason_usage if TEXT is not a name. */
int image_name_complete(const char *text, char **ret, struct error *err);

/* Whether TEXT is a complete name. */
bool image_name_is_complete(const char *text);
