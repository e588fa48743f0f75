/* The user's own images: the store of a cluster. */

#include "node-images/own-images.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/user.h"
#include "image/store.h"
#include "node-images/own-images-store.h"
#include "payload/payload.h"
#include "record/world.h"

#define LIST_MAX_BYTES (1 << 20)

/* The offset of the magic number in a tar archive. */
#define TAR_MAGIC_AT 257

static const char step[] = "reading images";

char *own_images_dir(const struct profile *profile)
{
	return xasprintf("%s/shared/images", profile->dir);
}

int own_images_check(const char *path, struct error *err)
{
	cleanup_fd int fd = -1;
	char head[TAR_MAGIC_AT + 5] = "";
	struct stat st;
	int r = user_open(path, O_NONBLOCK, &fd, err);

	if (r < 0)
		return error_reason(err, r, &reason_usage);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && faccessat(fd, "oci-layout", F_OK, 0) == 0)
		return 0;
	if (!S_ISREG(st.st_mode))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is neither a file nor an OCI layout", path);
	if (read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	    (memcmp(head + TAR_MAGIC_AT, "ustar", 5) == 0 || memcmp(head, "\x1f\x8b", 2) == 0 ||
	     memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0))
		return 0;
	return error_because(err, &reason_usage, -EINVAL,
			     "'%s' is not an image archive as written by 'docker save -o FILE'",
			     path);
}

int own_images_read(const struct profile *profile, struct image_list *ret, struct error *err)
{
	cleanup_free char *dir = own_images_dir(profile);

	return image_store_read(dir, ret, err);
}

/* What is known of images while they are read. */
struct reading {
	struct observer *observer;
	const char *shown;
	const struct strlist *nodes; /* that they are for; NULL: all */
	const struct strlist *only;  /* the names that they may have; NULL: any */
	struct strlist kubernetes;   /* names that they may not have ... */
	struct strlist ids;          /* ... unless they are these images */
};

static void show_progress(void *arg, uint64_t done, uint64_t total)
{
	const struct reading *reading = arg;

	observe_progress(reading->observer, step, NULL, reading->shown, done, total);
}

/* Whether IMAGE is for nodes other than NODES (NULL: all). */
static bool is_for_others(const struct image *image, const struct strlist *nodes)
{
	const char *name;

	if (!nodes)
		return false;
	strlist_for_each(name, &image->nodes)
		if (!strlist_has(nodes, name))
			return true;
	return image->nodes.count == 0;
}

static int refuse_other_name(const struct reading *reading, const char *name, struct error *err)
{
	cleanup_free char *only = strlist_join(reading->only, ", ");

	return error_because(err, &reason_image, -EBADMSG,
			     "%s: an image called '%s' came, but only '%s' was asked for",
			     reading->shown, name, only);
}

/* Whether IMAGE is the one of Kubernetes' own that has this NAME. */
static bool is_own(const struct reading *reading, const struct image *image, const char *name)
{
	cleanup_free char *id = xasprintf("sha256:%s", image->config.digest);

	for (size_t i = 0; i < reading->ids.count; i++)
		if (strcmp(reading->kubernetes.items[i], name) == 0)
			return strcmp(reading->ids.items[i], id) == 0;
	return false;
}

static bool is_there(void *arg, const struct image *image, const char *name)
{
	return is_own(arg, image, name);
}

static int accept_name(const struct reading *reading, const struct image_list *held,
		       const struct image *image, const char *name, struct error *err)
{
	const struct image *holder = image_list_find(held, name);

	if (reading->only && !strlist_has(reading->only, name))
		return refuse_other_name(reading, name, err);
	if (is_own(reading, image, name))
		return 0;
	if (strlist_has(&reading->kubernetes, name)) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "%s: '%s' is one of Kubernetes' own images, which the cluster "
				    "needs as it is",
				    reading->shown, name);
		return error_hint(err, -EINVAL, "give yours another name where it comes from");
	}
	if (!holder || strcmp(holder->manifest.digest, image->manifest.digest) == 0 ||
	    !is_for_others(holder, reading->nodes))
		return 0;
	(void)error_because(err, &reason_usage, -EEXIST, "%s: '%s' is another image on other nodes",
			    reading->shown, name);
	return error_hint(err, -EEXIST, "give it another name, or omit --node to replace that one");
}

/* No image takes a name that it must not have, or that an image of other nodes has. */
static int accept_image(void *arg, const struct image_list *held, const struct image *image,
			struct error *err)
{
	const struct reading *reading = arg;
	const char *name;

	strlist_for_each(name, &image->names) {
		int r = accept_name(reading, held, image, name, err);

		if (r < 0)
			return r;
	}
	if (image->names.count == 0 && reading->only)
		return refuse_other_name(reading, "<none>", err);
	return 0;
}

/* Kubernetes' own images and their IDs. */
static int list_own(const struct profile *profile, struct strlist *names, struct strlist *ids,
		    struct error *err)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = payload_open(profile->kubernetes_version, &payload, &why);

	/* It may have been removed from the cache while the cluster runs. */
	if (r == -ENOENT)
		return 0;
	return r < 0 ? error_move(err, r, &why) : payload_image_ids(&payload, names, ids, err);
}

int own_images_list_kubernetes(const struct profile *profile, struct strlist *ret,
			       struct error *err)
{
	cleanup_with(strlist_release) struct strlist ids = STRLIST_INIT;

	return list_own(profile, ret, &ids, err);
}

static void release_reading(struct reading *reading)
{
	strlist_release(&reading->kubernetes);
	strlist_release(&reading->ids);
}

/* Pods name images, and a name in an archive may be a bare tag. */
static void warn_of_nameless(const struct reading *reading, const struct image_list *added)
{
	for (size_t i = 0; i < added->count; i++)
		if (added->items[i].names.count == 0)
			log_warning("%s: the image sha256:%.12s has no name that pods can use; "
				    "'manykube image tag' gives it one",
				    reading->shown, added->items[i].config.digest);
}

int own_images_add(const struct profile *profile, int fd, const char *shown,
		   const struct strlist *only, const struct strlist *nodes,
		   struct observer *observer, struct image_list *ret_added, struct error *err)
{
	cleanup_free char *shared = xasprintf("%s/shared", profile->dir);
	cleanup_free char *dir = own_images_dir(profile);
	cleanup_with(release_reading) struct reading reading = {
		.observer = observer, .shown = shown, .nodes = nodes, .only = only
	};
	const struct image_source source = { .fd = fd,
					     .shown = shown,
					     .nodes = nodes,
					     .progress = show_progress,
					     .accept = accept_image,
					     .is_there = is_there,
					     .arg = &reading };
	int r = file_make_dirs(shared, 0700, err);

	if (r == 0)
		r = file_make_dirs(dir, 0755, err);
	if (r == 0)
		r = list_own(profile, &reading.kubernetes, &reading.ids, err);
	if (r < 0)
		return r;
	observe_begin(observer, step, NULL);
	r = image_store_add(dir, &source, ret_added, err);
	observe_end(observer, step, NULL, r == 0);
	if (r < 0)
		return r;
	warn_of_nameless(&reading, ret_added);
	world->after(step);
	return r;
}

/* "SIZE TIME PATH" of the current archive, for the caller to free; NULL if it does not exist. */
static char *describe_archive(const char *path)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	struct stat st;

	if (user_enter(&rights, NULL) < 0 || stat(path, &st) < 0)
		return NULL;
	return xasprintf("%lld %lld.%09ld %s", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			 st.st_mtim.tv_nsec, path);
}

static bool has_some_of(const struct strlist *loaded, const char *path)
{
	const char *line;

	strlist_for_each(line, loaded) {
		const char *space = strchr(line, ' ');

		space = space ? strchr(space + 1, ' ') : NULL;
		if (space && strcmp(space + 1, path) == 0)
			return true;
	}
	return false;
}

/* Read the archive PATH into the store. */
static int add_archive(const struct profile *profile, const char *path, struct observer *observer,
		       struct error *err)
{
	cleanup_with(image_list_release) struct image_list added = IMAGE_LIST_INIT;
	cleanup_fd int fd = -1;
	int r = user_open(path, O_NONBLOCK, &fd, err);

	return r < 0 ? r : own_images_add(profile, fd, path, NULL, NULL, observer, &added, err);
}

int own_images_add_archives(const struct profile *profile, struct observer *observer,
			    struct error *err)
{
	cleanup_free char *dir = own_images_dir(profile);
	cleanup_free char *list = xasprintf("%s/archives", dir);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist loaded = STRLIST_INIT;
	const char *path;

	if (profile->images.count == 0)
		return 0;
	(void)file_read(list, LIST_MAX_BYTES, &text, NULL);
	strlist_split(&loaded, text.text, '\n');
	strlist_for_each(path, &profile->images) {
		cleanup_free char *now = describe_archive(path);
		int r;

		if (!now && !has_some_of(&loaded, path))
			log_warning("'%s' is missing, so nodes do not get its images", path);
		if (!now || strlist_has(&loaded, now))
			continue;
		r = add_archive(profile, path, observer, err);
		if (r < 0)
			return r;
		strbuf_addf(&text, "%s\n", now);
		r = file_put(list, text.text, text.len, 0644, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Take the image or the name TEXT from the nodes called NODES (NULL: from LIST), of ALL that there
 * are; returns whether it was there. */
static bool forget(struct image_list *list, const char *text, const struct strlist *nodes,
		   const struct strlist *all)
{
	bool is_found = false;

	for (size_t i = list->count; i-- > 0;) {
		struct image *image = &list->items[i];
		bool is_named = strlist_has(&image->names, text);

		if (!is_named && !image_has_id(image, text))
			continue;
		is_found = true;
		if (nodes)
			image_list_take(list, i, is_named ? text : NULL, nodes, all);
		else if (is_named)
			(void)image_list_unname(list, text);
		else
			image_list_remove(list, i);
		/* A name is there once. */
		if (is_named)
			break;
	}
	return is_found;
}

int own_images_forget(const struct profile *profile, const struct strlist *names,
		      const struct strlist *nodes, struct strlist *ret_found, struct error *err)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_free char *dir = own_images_dir(profile);
	const struct node *node;
	const char *name;
	int r = image_store_read(dir, &list, err);

	if (r < 0)
		return r;
	profile_for_each_node(node, profile)
		strlist_add(&all, node->name);
	strlist_for_each(name, names)
		if (forget(&list, name, nodes, &all))
			strlist_add(ret_found, name);
	return ret_found->count ? image_store_write(dir, &list, err) : 0;
}

int own_images_tag(const struct profile *profile, const char *from, const char *to,
		   struct error *err)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_free char *dir = own_images_dir(profile);
	const struct image *image;
	int r = image_store_read(dir, &list, err);

	if (r < 0)
		return r;
	image = image_list_find(&list, from);
	if (!image)
		return -ENOENT;
	(void)image_list_name(&list, (size_t)(image - list.items), to);
	return image_store_write(dir, &list, err);
}
