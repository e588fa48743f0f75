/*
 * Objects of the API, as manifests have them: any kind, also kinds that a manifest itself defines.
 */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/*
 * Append the objects of TEXT, YAML documents of the file NAME, to LIST, a JSON array.  -EBADMSG
 * with reason_usage if one is not YAML or not an object; ERR begins with "NAME:LINE".
 */
int objects_parse(const char *name, const char *text, size_t len, json_t *list, struct error *err);

/* Apply the objects of LIST in its order, by server-side apply.  Waits for kinds that the API does
 * not know yet, since an object before may define them. */
int objects_apply(const struct profile *profile, const json_t *list, struct error *err);

/* Delete the objects of LIST in the reverse order; those that do not exist are ignored. */
int objects_delete(const struct profile *profile, const json_t *list, struct error *err);
