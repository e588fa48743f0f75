/* The directory of payloads: places in it, and the locks of those who make them. */
#pragma once

#include "base/error.h"
#include "base/observer.h"
#include "payload/work.h"

/* The path of NAME followed by SUFFIX in the cache, which the caller frees. */
int cache_path(const char *name, const char *suffix, char **ret, struct error *err);

/* Create the directory of the cache, readable for all users. */
int cache_make(struct error *err);

/* Take the lock of NAME, called TITLE in messages ("Kubernetes v1.36.3").  If another process holds
 * it, notify OBSERVER and wait. */
int cache_lock(const char *name, const char *title, struct observer *observer, int *ret_fd,
	       struct error *err);

/* Combine the caller's SOURCE (may be NULL) with MANYKUBE_PAYLOAD_FROM. */
int cache_choose_source(const struct payload_source *source, struct payload_source *ret,
			struct error *err);

/* Move WORK's directory, which is complete, to DIR.  An existing one is kept as DIR.old until the
 * next call, because running nodes may use its programs. */
int cache_put_in_place(struct work *work, const char *dir, struct error *err);
