/* Changing JSON documents by patches: merge patches (RFC 7386) and lists of operations (RFC 6902).
 */
#pragma once

#include <jansson.h>

#include "base/error.h"

/* Merge PATCH into the object TARGET: null takes a member away, objects are merged, all else
 * replaces. */
void json_patch_merge(json_t *target, const json_t *patch);

/* -EINVAL unless OPERATIONS is a list of operations that could be applied to something. */
int json_patch_check(const json_t *operations, struct error *err);

/*
 * Apply OPERATIONS to *DOCUMENT, one after another.  -EINVAL with the operation that can't be, and
 * *DOCUMENT as it was; one whose `test` fails is -ECANCELED.
 */
int json_patch_apply(json_t **document, const json_t *operations, struct error *err);

/* Apply only OPERATION, which json_patch_check() has accepted. */
int json_patch_apply_one(json_t **document, const json_t *operation, struct error *err);
