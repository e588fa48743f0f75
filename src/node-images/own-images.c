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

struct reading {
	struct observer *observer;
	const char *shown;
};

static void show_progress(void *arg, uint64_t done, uint64_t total)
{
	const struct reading *reading = arg;

	observe_progress(reading->observer, step, NULL, reading->shown, done, total);
}

int own_images_add(const struct profile *profile, int fd, const char *shown,
		   const struct strlist *nodes, struct observer *observer,
		   struct image_list *ret_added, struct error *err)
{
	cleanup_with(image_list_release) struct image_list before = IMAGE_LIST_INIT;
	cleanup_free char *shared = xasprintf("%s/shared", profile->dir);
	cleanup_free char *dir = own_images_dir(profile);
	struct reading reading = { observer, shown };
	const struct image_source source = {
		.fd = fd, .shown = shown, .progress = show_progress, .arg = &reading
	};
	int r = file_make_dirs(shared, 0700, err);

	if (r == 0)
		r = file_make_dirs(dir, 0755, err);
	if (r == 0)
		r = image_store_read(dir, &before, err);
	if (r < 0)
		return r;
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

	return r < 0 ? r : own_images_add(profile, fd, path, NULL, observer, &added, err);
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
