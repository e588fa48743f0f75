/* The directory of payloads: places in it, and the locks of those who make them. */

#include "payload/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

int cache_path(const char *name, const char *suffix, char **ret, struct error *err)
{
	cleanup_free char *cache = NULL;
	int r = path_cache(&cache, err);

	if (r < 0)
		return r;
	*ret = xasprintf("%s/%s%s", cache, name, suffix);
	return 0;
}

int cache_make(struct error *err)
{
	cleanup_free char *cache = NULL;
	int r = path_cache(&cache, err);

	if (r < 0 || file_exists(cache))
		return r;
	r = file_make_dirs(cache, 0755, err);
	/* All users run the kubectl in it, whatever root's umask is. */
	if (r == 0 && chmod(cache, 0755) < 0)
		r = error_sys(err, "cannot open '%s' to all", cache);
	return r;
}

int cache_lock(const char *name, const char *title, struct observer *observer, int *ret_fd,
	       struct error *err)
{
	cleanup_free char *path = NULL;
	cleanup_free char *note = NULL;
	cleanup_free char *what = xasprintf("getting %s", title);
	int r = cache_path(name, ".lock", &path, err);

	if (r == 0)
		r = file_lock_private(path, what, 0, ret_fd, err);
	if (r != -EWOULDBLOCK)
		return r;
	note = xasprintf("Another command is getting %s; waiting for it (%s)", title,
			 err && err->text ? err->text : "its lock is held");
	error_clear(err);
	observe_note(observer, note);
	return file_lock_private(path, what, -1, ret_fd, err);
}

int cache_choose_source(const struct payload_source *source, struct payload_source *ret,
			struct error *err)
{
	const char *from = getenv("MANYKUBE_PAYLOAD_FROM");

	*ret = source ? *source : (struct payload_source){ 0 };
	if (!from || !*from)
		return 0;
	if (strcmp(from, "source") == 0)
		ret->no_download = true;
	else if (strcmp(from, "download") == 0)
		ret->no_build = true;
	else
		return error_because(
			err, &reason_usage, -EINVAL,
			"MANYKUBE_PAYLOAD_FROM must be 'source' or 'download', not '%s'", from);
	return 0;
}

int cache_put_in_place(struct work *work, const char *dir, struct error *err)
{
	cleanup_free char *old = xasprintf("%s.old", dir);
	cleanup_free char *scratch = xasprintf("%s/work", dir);

	if (file_exists(dir)) {
		int r = file_remove_tree(old, err);

		if (r < 0)
			return r;
		if (rename(dir, old) < 0)
			return error_sys(err, "cannot move '%s' away", dir);
	}
	if (rename(work->dir, dir) < 0)
		return error_sys(err, "cannot rename to '%s'", dir);
	/* The payload is complete; leftover stamps and logs do no harm. */
	(void)file_remove_tree(scratch, NULL);
	return 0;
}
