/* Adding images to a store. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "image/oci.h"
#include "image/parents.h"
#include "image/reader.h"
#include "image/store-files.h"
#include "image/store.h"

/* Move NAME from the directory FROM, where the reader made it, to TO, unless it is there. */
static int move_entry(int from, int to, const char *name, bool is_dir, struct error *err)
{
	struct stat st;

	if (fstatat(to, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (is_dir ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode) || st.st_nlink != 1))
		return error_because(err, &reason_image, -EBADMSG, "sha256:%s was not unpacked",
				     name);
	if (renameat2(from, name, to, name, RENAME_NOREPLACE) < 0)
		return error_sys(err, "cannot move sha256:%s into the store of images", name);
	return 0;
}

static int move_image(const struct store_files *from, const struct store_files *to,
		      const struct image *image, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < image->layer_count; i++) {
		const struct image_layer *layer = &image->layers[i];

		r = move_entry(from->layers, to->layers, layer->diff_id, true, err);
		if (r == 0)
			r = move_entry(from->blobs, to->blobs, layer->blob.digest, false, err);
	}
	if (r == 0)
		r = move_entry(from->blobs, to->blobs, image->config.digest, false, err);
	if (r == 0)
		r = move_entry(from->blobs, to->blobs, image->manifest.digest, false, err);
	return r;
}

static void warn_of_arch(const struct image *image)
{
	const char *arch = oci_host_arch();

	if (!text_is(arch, image->arch))
		log_warning("the image '%s%s' is for %s, and this machine is %s: its programs may "
			    "not run",
			    image->names.count ? "" : "sha256:",
			    image->names.count ? image->names.items[0] : image->config.digest,
			    image->arch, arch ? arch : "something else");
}

/* Whether nothing of IMAGE has to be stored. */
static bool is_needless(const struct image_source *source, const struct image *image)
{
	const char *name;

	strlist_for_each(name, &image->names)
		if (!source->is_there || !source->is_there(source->arg, image, name))
			return false;
	return image->names.count > 0;
}

/* Put the images ADDED of SOURCE on LIST, with their names. */
static int merge_images(const struct image_source *source, struct image_list *list,
			const struct image_list *added, struct error *err)
{
	for (size_t i = 0; i < added->count; i++) {
		const struct image *image = &added->items[i];
		const char *name;

		strlist_for_each(name, &image->names)
			if (!source->is_there || !source->is_there(source->arg, image, name))
				image_list_give(list, image, name, source->nodes);
		if (image->names.count == 0)
			image_list_give(list, image, NULL, source->nodes);
	}
	return image_store_check(list, err);
}

static void list_places(const struct image_list *list, struct strlist *ret)
{
	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; k < list->items[i].layer_count; k++) {
			cleanup_free char *place = image_layer_place(&list->items[i].layers[k]);

			strlist_add(ret, place);
		}
}

static int read_source(const struct image_source *source, const struct store_files *files,
		       const struct image_list *list, const struct store_files *incoming,
		       struct image_list *ret, struct error *err)
{
	json_auto_t *parents = NULL;
	cleanup_with(strlist_release) struct strlist blobs = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist layers = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist places = STRLIST_INIT;
	struct reader_job job = {
		.archive = source->fd,
		.shown = source->shown,
		.incoming = incoming->top,
		.reserve = source->reserve,
		.known_blobs = &blobs,
		.known_layers = &layers,
		.known_places = &places,
		.progress = source->progress,
		.arg = source->arg,
	};
	int r = store_files_list(files->blobs, &blobs, err);

	list_places(list, &places);
	if (r == 0)
		r = store_files_list(files->layers, &layers, err);
	if (r == 0)
		r = reader_run(&job, ret, &parents, err);
	for (size_t i = 0; r == 0 && i < ret->count; i++) {
		r = parents_adopt(&ret->items[i], parents, incoming, files, err);
		if (r < 0)
			return error_prefix(err, r, "image archive '%s'", source->shown);
	}
	return r;
}

/* Read SOURCE into the directory NAME and move what it has into the store. */
static int add_through(const char *store, const struct store_files *files, const char *name,
		       const struct image_source *source, struct image_list *ret, struct error *err)
{
	cleanup_with(store_files_close) struct store_files incoming = STORE_FILES_INIT;
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	/* Opened before the reader, which could replace them by links. */
	int r = store_files_open(files->top, name, true, &incoming, err);

	if (r == 0)
		r = image_store_read(store, &list, err);
	if (r == 0)
		r = read_source(source, files, &list, &incoming, ret, err);
	for (size_t i = 0; r == 0 && source->accept && i < ret->count; i++)
		r = source->accept(source->arg, &list, &ret->items[i], err);
	if (r == 0)
		r = merge_images(source, &list, ret, err);
	for (size_t i = 0; r == 0 && i < ret->count; i++)
		if (!is_needless(source, &ret->items[i]))
			r = move_image(&incoming, files, &ret->items[i], err);
	return r < 0 ? r : image_store_write(store, &list, err);
}

int image_store_add(const char *store, const struct image_source *source,
		    struct image_list *ret_added, struct error *err)
{
	cleanup_with(store_files_close) struct store_files files = STORE_FILES_INIT;
	cleanup_with(image_list_release) struct image_list added = IMAGE_LIST_INIT;
	cleanup_free char *path = xasprintf("%s/" STORE_INCOMING "XXXXXX", store);
	int r = file_make_dirs(store, 0755, err);

	if (r == 0)
		r = store_files_open(AT_FDCWD, store, true, &files, err);
	if (r == 0)
		r = store_files_remove_incoming(&files, err);
	if (r < 0)
		return r;
	if (!mkdtemp(path))
		return error_sys(err, "cannot make the directory '%s'", path);
	r = add_through(store, &files, path_last_name(path), source, &added, err);
	if (file_remove_tree_at(files.top, path_last_name(path), r < 0 ? NULL : err) < 0 && r == 0)
		r = -EIO;
	if (r < 0)
		return r;
	for (size_t i = 0; i < added.count; i++)
		warn_of_arch(&added.items[i]);
	*ret_added = added;
	added = IMAGE_LIST_INIT;
	return 0;
}
