/* Finding a payload in the cache, or making it. */

#include "payload/payload.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/user.h"
#include "image/oci.h"
#include "payload/cache.h"
#include "payload/component.h"
#include "payload/work.h"

void payload_release(struct payload *payload)
{
	free(payload->version);
	free(payload->dir);
	free(payload->pause_image);
	free(payload->etcd_version);
	free(payload->coredns_version);
	*payload = PAYLOAD_INIT;
}

/* Open the payload of VERSION in DIR_GIVEN; takes ownership of DIR_GIVEN. */
static int open_in(char *dir_given, const char *version, struct payload *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *dir = dir_given;
	cleanup_free char *path = xasprintf("%s/payload.json", dir);
	json_auto_t *json = NULL;
	const char *pause;
	const char *etcd;
	const char *coredns;
	int format;
	int r = file_read(path, 1 << 20, &text, err);

	if (r < 0)
		return r;
	json = json_loadb(text.text, text.len, 0, NULL);
	if (!json || json_unpack(json, "{s:i, s:s, s:s, s:s}", "format", &format, "pauseImage",
				 &pause, "etcdVersion", &etcd, "corednsVersion", &coredns) < 0)
		return error_set(err, -ENOENT, "'%s' is damaged", path);
	if (format != PAYLOAD_FORMAT)
		return error_set(err, -ENOENT, "'%s' was made by another version of manykube", dir);
	*ret = (struct payload){
		.version = xstrdup(version),
		.dir = take_ptr(dir),
		.pause_image = xstrdup(pause),
		.etcd_version = xstrdup(etcd),
		.coredns_version = xstrdup(coredns),
	};
	return 0;
}

/* The directory of VERSION in the user's home, where an earlier version kept it, for the caller to
 * free; NULL if MANYKUBE_HOME or MANYKUBE_CACHE names another place. */
static char *old_dir(const char *version)
{
	const char *cache = getenv("MANYKUBE_CACHE");
	cleanup_free char *user = NULL;

	if (path_is_one_home() || (cache && *cache) || path_user(&user, NULL) < 0)
		return NULL;
	return xasprintf("%s/cache/%s", user, version);
}

int payload_open(const char *version, struct payload *ret, struct error *err)
{
	char *dir = NULL;
	int r = cache_path(version, "", &dir, err);

	if (r < 0)
		return r;
	if (!file_exists(dir) && geteuid() != 0) {
		char *old = old_dir(version);

		/* Users other than root may run programs in their own home. */
		if (old && open_in(old, version, ret, NULL) == 0) {
			free(dir);
			return 0;
		}
	}
	return open_in(dir, version, ret, err);
}

/* Add what PAYLOAD says of its images: each MEMBER, after PREFIX, to RET. */
static int list_images(const struct payload *payload, const char *member, const char *prefix,
		       struct strlist *ret, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/payload.json", payload->dir);
	json_auto_t *json = json_load_file(path, 0, NULL);
	json_t *image;
	size_t i;

	json_array_foreach(json_object_get(json, "images"), i, image) {
		const char *word = json_string_value(json_object_get(image, member));

		if (!word)
			break;
		strlist_addf(ret, "%s%s", prefix, word);
	}
	if (ret->count == 0 || i < json_array_size(json_object_get(json, "images")))
		return error_set(err, -EBADMSG, "'%s' is damaged", path);
	return 0;
}

int payload_images(const struct payload *payload, struct strlist *ret_names,
		   struct strlist *ret_archives, struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/images/", payload->dir);
	int r = list_images(payload, "name", "", ret_names, err);

	return r < 0 ? r : list_images(payload, "archive", dir, ret_archives, err);
}

int payload_image_ids(const struct payload *payload, struct strlist *ret_names,
		      struct strlist *ret_ids, struct error *err)
{
	int r = list_images(payload, "name", "", ret_names, err);

	return r < 0 ? r : list_images(payload, "id", "", ret_ids, err);
}

static json_t *describe_payload(struct work *work)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;
	cleanup_free char *pause = xasprintf("registry.k8s.io/pause:%s", work->release->pause);
	cleanup_free char *now = clock_rfc3339(clock_wall_seconds());
	json_t *parts = json_array();
	json_t *images = json_array();

	for (int id = 0; id < COMPONENT_COUNT; id++) {
		cleanup_free char *origin = work_origin(work, (enum component_id)id);

		(void)json_array_append_new(parts, json_pack("{s:s, s:s, s:s}", "name",
							     components[id].name, "version",
							     work->release->versions[id], "from",
							     origin ? origin : "missing"));
	}
	work_list_images(work, &names, &archives);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *image_id = work_image_id(work, archives.items[i]);

		(void)json_array_append_new(
			images, json_pack("{s:s, s:s, s:s}", "name", names.items[i], "archive",
					  archives.items[i], "id", image_id ? image_id : ""));
	}
	return json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "format", PAYLOAD_FORMAT,
		"version", work->release->version, "arch", work->arch, "made", now, "pauseImage",
		pause, "etcdVersion", work->release->versions[COMPONENT_ETCD], "corednsVersion",
		work->release->versions[COMPONENT_COREDNS], "components", parts, "images", images);
}

/* Remove large files that are no longer needed.  The stamps stay, so that the next attempt knows
 * what is complete. */
static int remove_leftovers(struct work *work, struct error *err)
{
	static const char *const names[] = { "programs", "download", "get" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = work_path(work, "work/%s", names[i]);
		int r = file_remove_tree(path, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Write payload.json, sync everything to disk, and move the payload to its place. */
static int finish_payload(struct work *work, const char *dir, struct error *err)
{
	cleanup_free char *path = work_path(work, "payload.json");
	json_auto_t *json = describe_payload(work);
	cleanup_free char *dumped = json_dumps(json, JSON_INDENT(2));
	cleanup_free char *text = xasprintf("%s\n", dumped ? dumped : "");
	cleanup_fd int fd = open(work->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = remove_leftovers(work, err);

	if (r == 0)
		r = file_put(path, text, strlen(text), 0644, err);
	if (r < 0)
		return r;
	work_tell_all(work, "writing to disk");
	if (fd < 0 || syncfs(fd) < 0)
		return error_sys(err, "cannot write '%s' to disk", work->dir);
	return cache_put_in_place(work, dir, err);
}

static int make_dirs(struct work *work, struct error *err)
{
	static const char *const names[] = { "bin",           "cni",          "images",
					     "work/programs", "work/done",    "work/images",
					     "work/get",      "work/download" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = work_path(work, "%s", names[i]);
		int r = file_make_dirs(path, 0755, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The versions from which images and the store are made, in one line. */
static char *recipe(const struct work *work)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line, "%d pause %s", PAYLOAD_FORMAT, work->release->pause);
	for (int id = 0; id < COMPONENT_COUNT; id++)
		strbuf_addf(&line, " %s %s", components[id].name, work->release->versions[id]);
	strbuf_add_char(&line, '\n');
	return strbuf_take(&line);
}

/* Remove the results of an earlier attempt with other versions, by an earlier manykube. */
static int check_recipe(struct work *work, struct error *err)
{
	static const char *const made[] = { "images", "store", "work/images", "work/done" };
	cleanup_with(strbuf_release) struct strbuf before = STRBUF_INIT;
	cleanup_free char *path = work_path(work, "work/recipe");
	cleanup_free char *now = recipe(work);
	int r = file_read(path, 1 << 16, &before, NULL);

	if (r == 0 && strcmp(before.text, now) == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		cleanup_free char *old = work_path(work, "%s", made[i]);

		r = file_remove_tree(old, err);
		if (r < 0)
			return r;
	}
	r = make_dirs(work, err);
	return r < 0 ? r : file_put(path, now, strlen(now), 0644, err);
}

static int remove_build(struct work *work, struct error *err)
{
	cleanup_free char *path = work_path(work, "work/build");

	if (file_exists(path))
		work_tell_all(work, "removing the files of the build");
	return file_remove_tree(path, err);
}

static int make_payload(struct work *work, const char *dir, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;
	int r = work_check_host(err);

	if (r == 0)
		r = make_dirs(work, err);
	if (r == 0)
		r = check_recipe(work, err);
	if (r == 0)
		r = work_check_space(work, COMPONENT_KUBERNETES, WAY_DOWNLOAD, err);
	if (r == 0)
		r = work_get_all(work, err);
	/* Go's caches are large, and nothing more is built. */
	if (r == 0)
		r = remove_build(work, err);
	work_list_images(work, &names, &archives);
	work->images_total = 2 * (unsigned)names.count;
	if (r == 0)
		r = work_make_images(work, err);
	if (r == 0)
		r = work_make_store(work, err);
	return r < 0 ? r : finish_payload(work, dir, err);
}

/* With the lock held: open the payload, or make it. */
static int ensure_locked(const struct release *release, const struct payload_source *source,
			 struct observer *observer, struct payload *ret, struct error *err)
{
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_free char *dir = NULL;
	int r = payload_open(release->version, ret, NULL);

	/* The previous holder of the lock may have made it. */
	if (r != -ENOENT)
		return r < 0 ? payload_open(release->version, ret, err) : 0;
	work.release = release;
	work.observer = observer;
	work.arch = oci_host_arch();
	work.step = xasprintf("getting Kubernetes %s", release->version);
	if (!work.arch)
		return error_because(err, &reason_host_unsupported, -ENOTSUP,
				     "there is no Kubernetes for this machine's architecture");
	r = cache_choose_source(source, &work.source, err);
	if (r == 0)
		r = cache_path(release->version, "", &dir, err);
	if (r == 0)
		r = cache_path(release->version, ".part", &work.dir, err);
	if (r < 0)
		return r;
	observe_begin(observer, work.step, NULL);
	r = make_payload(&work, dir, err);
	observe_end(observer, work.step, NULL, r == 0);
	return r < 0 ? r : payload_open(release->version, ret, err);
}

/* Whether VERSION is in the cache that all users share, which is not the one in use. */
static bool is_shared(const char *cache, const char *version)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

	return strcmp(cache, MANYKUBE_CACHE_DIR) != 0 &&
	       open_in(xasprintf(MANYKUBE_CACHE_DIR "/%s", version), version, &payload, NULL) == 0;
}

static int refuse_offline(const char *version, struct error *err)
{
	cleanup_free char *cache = NULL;
	int r = path_cache(&cache, err);

	if (r < 0)
		return r;
	(void)error_because(err, &reason_download, -ENOENT,
			    "Kubernetes %s is not in the cache '%s', and is neither downloaded "
			    "nor built for an offline cluster",
			    version, cache);
	if (is_shared(cache, version))
		return error_hint(err, -ENOENT,
				  "it is in '" MANYKUBE_CACHE_DIR
				  "': set MANYKUBE_CACHE=" MANYKUBE_CACHE_DIR " to use it");
	return error_hint(err, -ENOENT,
			  "run 'manykube start --download-only --kubernetes-version=%s' while this "
			  "machine is online",
			  version);
}

/* Tell the user why VERSION, which an earlier version kept in their home, is needed again. */
static void warn_of_old(const char *version)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *old = old_dir(version);
	struct stat st;

	if (old && user_enter(&rights, NULL) == 0 && stat(old, &st) == 0)
		log_warning("'%s' is not used: root runs no programs from a home", old);
}

int payload_ensure(const char *version, const struct payload_source *source,
		   struct observer *observer, struct payload *ret, struct error *err)
{
	const struct release *release = release_find(version);
	cleanup_free char *title = xasprintf("Kubernetes %s", version);
	cleanup_fd int lock = -1;
	int r;

	r = payload_open(version, ret, NULL);
	if (r == 0)
		return 0;
	/* The cluster may have been made by another version of manykube. */
	if (!release)
		return error_because(
			err, &reason_version_unsupported, -EINVAL,
			"Kubernetes %s is not in the cache, and this manykube does not "
			"know how to get it",
			version);
	warn_of_old(version);
	if (source && source->offline)
		return refuse_offline(version, err);
	r = cache_make(err);
	if (r == 0)
		r = cache_lock(version, title, observer, &lock, err);
	return r < 0 ? r : ensure_locked(release, source, observer, ret, err);
}
