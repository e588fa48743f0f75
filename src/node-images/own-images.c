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

/* Make IMAGE one for the nodes called NODES as well (NULL: for all). */
static void widen_to_nodes(struct image *image, bool is_new, const struct strlist *nodes)
{
	const char *name;

	if (!nodes) {
		strlist_release(&image->nodes);
		return;
	}
	if (!is_new && image->nodes.count == 0)
		return;
	strlist_for_each(name, nodes)
		if (!strlist_has(&image->nodes, name))
			strlist_add(&image->nodes, name);
}

/* Whether LIST had the manifest of IMAGE. */
static bool had_image(const struct image_list *list, const struct image *image)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].manifest.digest, image->manifest.digest) == 0)
			return true;
	return false;
}

/* Record for which nodes the images ADDED are, which were added to the store that held BEFORE. */
static int assign_nodes(const char *dir, const struct image_list *before,
			const struct image_list *added, const struct strlist *nodes,
			struct error *err)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	int r = image_store_read(dir, &list, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.count; i++) {
		struct image *image = &list.items[i];

		if (had_image(added, image))
			widen_to_nodes(image, !had_image(before, image), nodes);
	}
	return image_store_write(dir, &list, err);
}

/* What is known of images while they are read. */
struct reading {
	struct observer *observer;
	const char *shown;
	const struct strlist *nodes; /* that they are for; NULL: all */
	const struct strlist *only;  /* the names that they may have; NULL: any */
	struct strlist kubernetes;   /* names that they may not have */
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

static int accept_name(const struct reading *reading, const struct image_list *held,
		       const struct image *image, const char *name, struct error *err)
{
	const struct image *holder = image_list_find(held, name);

	if (reading->only && !strlist_has(reading->only, name))
		return refuse_other_name(reading, name, err);
	if (strlist_has(&reading->kubernetes, name)) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "%s: '%s' is one of Kubernetes' own images, which the cluster "
				    "needs as it is",
				    reading->shown, name);
		return error_hint(err, -EINVAL,
				  "give yours another name, and make the archive anew");
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

int own_images_list_kubernetes(const struct profile *profile, struct strlist *ret,
			       struct error *err)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = payload_open(profile->kubernetes_version, &payload, &why);

	/* It may have been removed from the cache while the cluster runs. */
	if (r == -ENOENT)
		return 0;
	return r < 0 ? error_move(err, r, &why) : payload_images(&payload, ret, &archives, err);
}

int own_images_add(const struct profile *profile, int fd, const char *shown,
		   const struct strlist *only, const struct strlist *nodes,
		   struct observer *observer, struct image_list *ret_added, struct error *err)
{
	cleanup_with(image_list_release) struct image_list before = IMAGE_LIST_INIT;
	cleanup_with(strlist_release) struct strlist kubernetes = STRLIST_INIT;
	cleanup_free char *shared = xasprintf("%s/shared", profile->dir);
	cleanup_free char *dir = own_images_dir(profile);
	struct reading reading = { observer, shown, nodes, only, STRLIST_INIT };
	const struct image_source source = { .fd = fd,
					     .shown = shown,
					     .progress = show_progress,
					     .accept = accept_image,
					     .arg = &reading };
	int r = file_make_dirs(shared, 0700, err);

	if (r == 0)
		r = file_make_dirs(dir, 0755, err);
	if (r == 0)
		r = image_store_read(dir, &before, err);
	if (r == 0)
		r = own_images_list_kubernetes(profile, &kubernetes, err);
	if (r < 0)
		return r;
	reading.kubernetes = kubernetes;
	observe_begin(observer, step, NULL);
	r = image_store_add(dir, &source, ret_added, err);
	observe_end(observer, step, NULL, r == 0);
	if (r < 0)
		return r;
	world->after(step);
	return assign_nodes(dir, &before, ret_added, nodes, err);
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

/* Take IMAGE from the nodes called NODES; RET_ANY is set if it is left for others. */
static void narrow_nodes(const struct profile *profile, struct image *image,
			 const struct strlist *nodes, bool *ret_any)
{
	struct strlist left = STRLIST_INIT;
	const struct node *node;

	profile_for_each_node(node, profile)
		if (!strlist_has(nodes, node->name) &&
		    (image->nodes.count == 0 || strlist_has(&image->nodes, node->name)))
			strlist_add(&left, node->name);
	strlist_release(&image->nodes);
	image->nodes = left;
	*ret_any = left.count > 0;
}

/* Remove the name TEXT from LIST, or all of IMAGE if TEXT is its id. */
static void forget_image(struct image_list *list, struct image *image, const char *text)
{
	if (!image_list_unname(list, text))
		image_list_remove(list, (size_t)(image - list->items));
}

int own_images_forget(const struct profile *profile, const struct strlist *names,
		      const struct strlist *nodes, struct strlist *ret_found, struct error *err)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_free char *dir = own_images_dir(profile);
	const char *name;
	int r = image_store_read(dir, &list, err);

	if (r < 0)
		return r;
	strlist_for_each(name, names) {
		struct image *image = image_list_find(&list, name);
		bool any = false;

		if (!image)
			continue;
		strlist_add(ret_found, name);
		if (nodes)
			narrow_nodes(profile, image, nodes, &any);
		if (!any)
			forget_image(&list, image, name);
	}
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
