/*
 * A copy of all objects of one kind: listed in pages, then watched.
 *
 * If the API is away, the copy stays as it was and the watch resumes later.  If the API has
 * forgotten the version that we know (410), all objects are listed again; the copy is replaced only
 * when the list is complete.
 */
#pragma once

#include <jansson.h>

#include "watch/https.h"

struct reflector_kind {
	const char *path; /* "/api/v1/pods" */

	/* What is kept of OBJECT; NULL: nothing, as if it did not exist. */
	void *(*parse)(const json_t *object);
	void (*free)(void *kept);
};

struct reflector;

/* Called when the copy has changed, but not before the first list is complete. */
typedef void (*reflector_fn)(void *data);

struct reflector *reflector_new(struct loop *loop, const struct https_target *target,
				const struct reflector_kind *kind, reflector_fn changed,
				void *data);
void reflector_free(struct reflector *reflector);
DEFINE_CLEANUP(struct reflector *, reflector_free)

/* Whether the first list is complete. */
bool reflector_is_complete(const struct reflector *reflector);

size_t reflector_count(const struct reflector *reflector);

/* The object NUMBER in the order of keys, "NAMESPACE/NAME" or "/NAME"; valid until the next change.
 */
void *reflector_at(const struct reflector *reflector, size_t number, const char **ret_key);

/* Connect again if the API has sent nothing for too long; to be called now and then. */
void reflector_check(struct reflector *reflector);
