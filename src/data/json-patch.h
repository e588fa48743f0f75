/* Patches to JSON documents: merge patches (RFC 7386) and lists of operations (RFC 6902). */
#pragma once

#include <jansson.h>

#include "base/error.h"

/* Merge PATCH into the object TARGET: null removes a member, objects are merged, any other value
 * replaces the member. */
void json_patch_merge(json_t *target, const json_t *patch);

/* -EINVAL unless OPERATIONS is a list of well-formed operations. */
int json_patch_check(const json_t *operations, struct error *err);

/*
 * Apply OPERATIONS to *DOCUMENT in order.  If one cannot be applied, returns -EINVAL, or -ECANCELED
 * if a `test` fails, names the operation in ERR and leaves *DOCUMENT unchanged.
 */
int json_patch_apply(json_t **document, const json_t *operations, struct error *err);

/* Apply only OPERATION, which json_patch_check() has accepted. */
int json_patch_apply_one(json_t **document, const json_t *operation, struct error *err);
