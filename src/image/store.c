/* The store of a cluster's images. */

#include "image/store.h"

#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "image/store-files.h"

#define LIST_MAX_BYTES (64u << 20)

char *image_store_blob(const char *store, const struct image_blob *blob)
{
	return xasprintf("%s/blobs/%s", store, blob->digest);
}

char *image_store_layer(const char *store, const struct image_layer *layer)
{
	return xasprintf("%s/layers/%s", store, layer->diff_id);
}

static int read_list(const json_t *json, struct image_list *ret, struct error *err)
{
	const json_t *images = json_object_get(json, "images");
	const json_t *item;
	size_t i;

	if (!json_is_array(images))
		return error_set(err, -EBADMSG, "it has no list of images");
	json_array_foreach(images, i, item) {
		int r = image_from_json(item, image_list_add(ret), err);

		if (r < 0)
			return r;
	}
	return 0;
}

int image_store_read(const char *store, struct image_list *ret, struct error *err)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/images.json", store);
	json_auto_t *json = NULL;
	int r = file_read(path, LIST_MAX_BYTES, &text, &problem);

	if (r == -ENOENT) {
		*ret = IMAGE_LIST_INIT;
		return 0;
	}
	if (r < 0)
		return error_move(err, r, &problem);
	json = json_loadb(text.text, text.len, 0, NULL);
	r = read_list(json, &list, err);
	if (r < 0)
		return error_reason(err, error_prefix(err, r, "'%s'", path), &reason_host_config);
	*ret = list;
	list = IMAGE_LIST_INIT;
	return 0;
}

int image_store_check(const struct image_list *list, struct error *err)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].names.count > IMAGE_NAMES_MAX)
			return error_because(
				err, &reason_usage, -EINVAL,
				"the image sha256:%s would have more than %d names; remove some "
				"of them first",
				list->items[i].config.digest, IMAGE_NAMES_MAX);
	return 0;
}

int image_store_write(const char *store, const struct image_list *list, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/images.json", store);
	cleanup_free char *text = NULL;
	json_auto_t *json = NULL;
	json_t *images;
	int r = image_store_check(list, err);

	if (r < 0)
		return r;
	images = json_array();
	for (size_t i = 0; i < list->count; i++)
		(void)json_array_append_new(images, image_to_json(&list->items[i]));
	json = json_pack("{s:o}", "images", images);
	text = json_dumps(json, JSON_INDENT(1));
	if (!text)
		return error_set(err, -EINVAL, "cannot write the list of images as JSON");
	/* What cannot be read again would take all images with it. */
	if (strlen(text) > LIST_MAX_BYTES)
		return error_because(err, &reason_usage, -E2BIG,
				     "there are too many images; remove some of them first");
	return file_replace(path, text, strlen(text), 0644, err);
}

/* Add the entries of the directory FD, which stays open, to RET; RET may have duplicates. */
int store_files_list(int fd, struct strlist *ret, struct error *err)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!stream) {
		int r = error_sys(err, "cannot list the store of images");

		if (copy >= 0)
			(void)close(copy);
		return r;
	}
	while ((entry = readdir(stream)))
		if (!path_is_dots(entry->d_name))
			strlist_add(ret, entry->d_name);
	return 0;
}

void store_files_close(struct store_files *files)
{
	for (size_t i = 0; i < 3; i++)
		if ((&files->top)[i] >= 0)
			(void)close((&files->top)[i]);
	*files = STORE_FILES_INIT;
}

static int open_dir(int at, const char *name, int *ret_fd, struct error *err)
{
	*ret_fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? error_sys(err, "cannot open '%s'", name) : 0;
}

int store_files_open(int at, const char *path, bool make, struct store_files *ret,
		     struct error *err)
{
	int r = open_dir(at, path, &ret->top, err);

	if (r < 0)
		return r;
	/* Closed to others: unpacked layers have set-user-ID programs of all owners. */
	if (make && ((mkdirat(ret->top, "blobs", 0700) < 0 && errno != EEXIST) ||
		     (mkdirat(ret->top, "layers", 0700) < 0 && errno != EEXIST)))
		return error_sys(err, "cannot make directories in '%s'", path);
	r = open_dir(ret->top, "blobs", &ret->blobs, err);
	return r < 0 ? r : open_dir(ret->top, "layers", &ret->layers, err);
}

int store_files_remove_incoming(const struct store_files *files, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;
	int r = store_files_list(files->top, &names, err);

	strlist_for_each(name, &names)
		if (r == 0 && strncmp(name, STORE_INCOMING, strlen(STORE_INCOMING)) == 0)
			r = file_remove_tree_at(files->top, name, err);
	return r;
}

/* Remove the entries of FD that are not in NEEDED. */
static int remove_others(int fd, const struct strlist *needed, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;
	int r = store_files_list(fd, &names, err);

	strlist_for_each(name, &names)
		if (r == 0 && !strlist_has(needed, name))
			r = file_remove_tree_at(fd, name, err);
	return r;
}

int image_store_clean(const char *store, const struct strlist *kept, struct error *err)
{
	cleanup_with(store_files_close) struct store_files files = STORE_FILES_INIT;
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(strlist_release) struct strlist blobs = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist layers = STRLIST_INIT;
	const char *name;
	int r;

	if (!file_exists(store))
		return 0;
	r = image_store_read(store, &list, err);
	if (r == 0)
		r = store_files_open(AT_FDCWD, store, true, &files, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < list.count; i++) {
		const struct image *image = &list.items[i];

		strlist_add(&blobs, image->manifest.digest);
		strlist_add(&blobs, image->config.digest);
		for (size_t k = 0; k < image->layer_count; k++) {
			strlist_add(&blobs, image->layers[k].blob.digest);
			strlist_add(&layers, image->layers[k].diff_id);
		}
	}
	if (kept)
		strlist_for_each(name, kept) {
			strlist_add(&blobs, name);
			strlist_add(&layers, name);
		}
	r = store_files_remove_incoming(&files, err);
	if (r == 0)
		r = remove_others(files.blobs, &blobs, err);
	return r < 0 ? r : remove_others(files.layers, &layers, err);
}
