/* The Docker daemon in the cache. */

#include "payload/docker.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "image/oci.h"
#include "payload/cache.h"
#include "payload/component.h"
#include "payload/work.h"

static char *cache_name(void)
{
	return xasprintf("docker-%s", docker_release.version);
}

int docker_program_open(char **ret_path, struct error *err)
{
	cleanup_free char *name = cache_name();
	cleanup_free char *path = NULL;
	int r = cache_path(name, "/bin/dockerd", &path, err);

	if (r < 0)
		return r;
	if (!file_exists(path))
		return error_because(err, &reason_download, -ENOENT,
				     "Docker %s is not in the cache", docker_release.version);
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

static int make_docker(struct work *work, const char *dir, struct error *err)
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
static int ensure_locked(const struct payload_source *source, struct observer *observer,
			 const char *name, struct error *err)
{
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_free char *dir = NULL;
	cleanup_free char *made = NULL;
	int r;

	/* The previous holder of the lock may have made it. */
	if (docker_program_open(&made, NULL) == 0)
		return 0;
	work.release = &docker_release;
	work.title = "Docker";
	work.begin = COMPONENT_DOCKER;
	work.end = COMPONENT_END;
	work.observer = observer;
	work.arch = oci_host_arch();
	work.step = xasprintf("getting Docker %s", docker_release.version);
	/* It takes minutes, and the user asked for it. */
	work.confirmed = true;
	if (!work.arch)
		return error_because(err, &reason_host_unsupported, -ENOTSUP,
				     "there is no Docker for this machine's architecture");
	r = cache_choose_source(source, &work.source, err);
	if (r == 0)
		r = cache_path(name, "", &dir, err);
	if (r == 0)
		r = cache_path(name, ".part", &work.dir, err);
	if (r < 0)
		return r;
	observe_begin(observer, work.step, NULL);
	r = make_docker(&work, dir, err);
	observe_end(observer, work.step, NULL, r == 0);
	return r;
}

static int refuse_offline(struct error *err)
{
	(void)error_because(
		err, &reason_download, -ENOENT,
		"Docker %s is not in the cache, and is not built for an offline cluster",
		docker_release.version);
	return error_hint(err, -ENOENT,
			  "run 'manykube docker-env --download-only' while this machine is online");
}

int docker_program_ensure(const struct payload_source *source, struct observer *observer,
			  char **ret_path, struct error *err)
{
	cleanup_free char *name = cache_name();
	cleanup_free char *title = xasprintf("Docker %s", docker_release.version);
	cleanup_fd int lock = -1;
	int r = docker_program_open(ret_path, NULL);

	if (r == 0)
		return 0;
	if (source && source->offline)
		return refuse_offline(err);
	r = cache_make(err);
	if (r == 0)
		r = cache_lock(name, title, observer, &lock, err);
	if (r == 0)
		r = ensure_locked(source, observer, name, err);
	return r < 0 ? r : docker_program_open(ret_path, err);
}
