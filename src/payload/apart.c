/* Programs in the cache that belong to no version of Kubernetes. */

#include "payload/apart.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "image/oci.h"
#include "payload/cache.h"
#include "payload/work.h"

static char *cache_name(const struct apart *apart)
{
	return xasprintf("%s-%s", apart->name, apart->release->version);
}

int apart_open(const struct apart *apart, char **ret_path, struct error *err)
{
	cleanup_free char *name = cache_name(apart);
	cleanup_free char *below = xasprintf("/bin/%s", apart->program);
	cleanup_free char *path = NULL;
	int r = cache_path(name, below, &path, err);

	if (r < 0)
		return r;
	if (!file_exists(path))
		return error_because(err, &reason_download, -ENOENT, "%s %s is not in the cache",
				     apart->title, apart->release->version);
	*ret_path = take_ptr(path);
	return 0;
}

static int make_dirs(struct work *work, struct error *err)
{
	static const char *const names[] = { "bin", "work/done", "work/get" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = work_path(work, "%s", names[i]);
		int r = file_make_dirs(path, 0755, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int make_program(struct work *work, const char *dir, struct error *err)
{
	cleanup_free char *build = work_path(work, "work/build");
	cleanup_fd int fd = -1;
	int r = make_dirs(work, err);

	if (r == 0)
		r = work_get_all(work, err);
	/* Go's caches are large. */
	if (r == 0)
		r = file_remove_tree(build, err);
	if (r < 0)
		return r;
	fd = open(work->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syncfs(fd) < 0)
		return error_sys(err, "cannot write '%s' to disk", work->dir);
	return cache_put_in_place(work, dir, err);
}

/* With the lock held. */
static int ensure_locked(const struct apart *apart, const struct payload_source *source,
			 struct observer *observer, const char *name, struct error *err)
{
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_free char *dir = NULL;
	cleanup_free char *made = NULL;
	int r;

	/* The previous holder of the lock may have made it. */
	if (apart_open(apart, &made, NULL) == 0)
		return 0;
	work.release = apart->release;
	work.title = apart->title;
	work.begin = (int)apart->id;
	work.end = work.begin + 1;
	work.observer = observer;
	work.arch = oci_host_arch();
	work.step = xasprintf("getting %s %s", apart->title, apart->release->version);
	/* It takes minutes, and the user asked for it. */
	work.confirmed = true;
	if (!work.arch)
		return error_because(err, &reason_host_unsupported, -ENOTSUP,
				     "there is no %s for this machine's architecture",
				     apart->title);
	r = cache_choose_source(source, &work.source, err);
	if (r == 0)
		r = cache_path(name, "", &dir, err);
	if (r == 0)
		r = cache_path(name, ".part", &work.dir, err);
	if (r < 0)
		return r;
	observe_begin(observer, work.step, NULL);
	r = make_program(&work, dir, err);
	observe_end(observer, work.step, NULL, r == 0);
	return r;
}

static int refuse_offline(const struct apart *apart, struct error *err)
{
	(void)error_because(err, &reason_download, -ENOENT,
			    "%s %s is not in the cache, and is not built for an offline cluster",
			    apart->title, apart->release->version);
	return error_hint(err, -ENOENT,
			  "run 'manykube %s --download-only' while this machine is "
			  "online",
			  apart->command);
}

int apart_ensure(const struct apart *apart, const struct payload_source *source,
		 struct observer *observer, char **ret_path, struct error *err)
{
	cleanup_free char *name = cache_name(apart);
	cleanup_free char *title = xasprintf("%s %s", apart->title, apart->release->version);
	cleanup_fd int lock = -1;
	int r = apart_open(apart, ret_path, NULL);

	if (r == 0)
		return 0;
	if (source && source->offline)
		return refuse_offline(apart, err);
	r = cache_make(err);
	if (r == 0)
		r = cache_lock(name, title, observer, &lock, err);
	if (r == 0)
		r = ensure_locked(apart, source, observer, name, err);
	return r < 0 ? r : apart_open(apart, ret_path, err);
}
