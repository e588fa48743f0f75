/* What the process that reads an archive does. */

#include "image/reader-inside.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "data/decompress.h"
#include "data/tar-fields.h"
#include "image/found.h"
#include "image/oci.h"
#include "image/parents.h"

#define CHUNK (1024 * 1024)

#define SPOOL "archive"

/* Copy PLAIN to a file in `incoming` that has no name, so that it can be sought in. */
static int spool_stream(struct stream *plain, const struct reader_inside *job, struct room *room,
			int *ret_fd, struct error *err)
{
	cleanup_fd int fd = openat(job->incoming, SPOOL,
				   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool is_first = true;

	if (fd < 0 || unlinkat(job->incoming, SPOOL, 0) < 0)
		return room_error(err, "cannot create a file");
	for (;;) {
		const void *data;
		size_t len;
		int r = plain->next(plain, &data, &len, err);

		if (r < 0)
			return r;
		/* Anything could come through a pipe, and without end. */
		if (is_first && (len < TAR_BLOCK || tar_header_check(data) != 1))
			return error_set(err, -EINVAL,
					 len ? "it is not a tar archive" : "it is empty");
		is_first = false;
		if (len == 0)
			break;
		r = room_write(room, fd, data, len, err);
		if (r < 0)
			return r;
	}
	*ret_fd = take_fd(fd);
	return 0;
}

/* Set RET_FD to a file that holds the archive in plain, which is the archive itself if that is a
 * plain file; then it is -1. */
static int make_seekable(const struct reader_inside *job, struct room *room, int *ret_fd,
			 struct error *err)
{
	cleanup_with(decompress_release) struct decompress plain = DECOMPRESS_INIT;
	cleanup_with(stream_file_release) struct stream_file file = STREAM_FILE_INIT;
	struct archive_part whole = { .fd = job->archive };
	char head[8];
	ssize_t len;
	struct stat st;

	*ret_fd = -1;
	if (fstat(job->archive, &st) < 0)
		return error_sys(err, "cannot stat the archive");
	if (S_ISREG(st.st_mode)) {
		whole.size = (uint64_t)st.st_size;
		len = archive_peek(&whole, head, sizeof(head));
		if (len < 0) {
			errno = (int)-len;
			return error_sys(err, "cannot read the archive");
		}
		if (decompress_kind_of(head, (size_t)len) == DECOMPRESS_PLAIN)
			return 0;
		stream_range_open(&file, job->archive, 0, whole.size, CHUNK);
	} else {
		stream_file_open(&file, job->archive, CHUNK);
	}
	decompress_open(&plain, &file.stream);
	return spool_stream(&plain.stream, job, room, ret_fd, err);
}

/* Whether LAYER is in an image of the store: at the same place, so that nothing is to be learnt
 * about it. */
static bool is_known(const struct reader_inside *job, const struct image_layer *layer)
{
	cleanup_free char *place = image_layer_place(layer);

	return strlist_has(job->known_places, place) &&
	       strlist_has(job->known_blobs, layer->blob.digest) &&
	       strlist_has(job->known_layers, layer->diff_id);
}

/* Whether there is a task for the blob of LAYER that verifies its diff ID. */
static bool is_verified(const struct unpack_task *tasks, size_t count,
			const struct image_layer *layer)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(tasks[i].layer->blob.digest, layer->blob.digest) == 0 &&
		    tasks[i].layer->blob.size == layer->blob.size &&
		    strcmp(tasks[i].layer->diff_id, layer->diff_id) == 0)
			return true;
	return false;
}

static bool is_planned(const struct unpack_task *tasks, size_t count,
		       const struct image_layer *layer, bool as_blob)
{
	for (size_t i = 0; i < count; i++)
		if (as_blob ? tasks[i].wants_blob &&
				      strcmp(tasks[i].layer->blob.digest, layer->blob.digest) == 0
			    : tasks[i].wants_contents &&
				      strcmp(tasks[i].layer->diff_id, layer->diff_id) == 0)
			return true;
	return false;
}

/* The tasks for all layers that are not known, each once; the caller frees them.  Contents that the
 * store has are unpacked again if what is below them is new: see parents.h. */
static struct unpack_task *plan_tasks(const struct reader_inside *job, const struct found *found,
				      size_t *ret_count)
{
	struct unpack_task *tasks = NULL;
	size_t count = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct image *image = &found->items[i].image;

		tasks = xrealloc(tasks, count + image->layer_count + 1, sizeof(*tasks));
		for (size_t k = 0; k < image->layer_count; k++) {
			const struct image_layer *layer = &image->layers[k];
			struct unpack_task task = {
				.layer = layer,
				.member = found->items[i].layers.items[k],
				.is_unnamed = found->items[i].is_docker &&
					      strcmp(layer->blob.digest, layer->diff_id) == 0,
				.wants_blob = !strlist_has(job->known_blobs, layer->blob.digest) &&
					      !is_planned(tasks, count, layer, true),
				.wants_contents = !is_planned(tasks, count, layer, false),
			};

			if (!is_known(job, layer) && !is_verified(tasks, count, layer))
				tasks[count++] = task;
		}
	}
	*ret_count = count;
	return tasks;
}

/* Large layers first, so that both processes end at about the same time. */
static int compare_tasks(const void *one, const void *other)
{
	uint64_t a = ((const struct unpack_task *)one)->layer->blob.size;
	uint64_t b = ((const struct unpack_task *)other)->layer->blob.size;

	return a > b ? -1 : a < b;
}

static int check_tasks(const struct archive *archive, const struct unpack_task *tasks, size_t count,
		       struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		cleanup_with(archive_part_release) struct archive_part part = ARCHIVE_PART_INIT;

		if (archive_find(archive, tasks[i].member, &part, NULL) < 0)
			return error_set(err, -EBADMSG, "it lacks the layer sha256:%s",
					 tasks[i].layer->blob.digest);
	}
	return 0;
}

static int write_document(const struct reader_inside *job, struct room *room, const char *digest,
			  const struct strbuf *text, struct error *err)
{
	cleanup_free char *name = xasprintf("blobs/%s", digest);
	cleanup_fd int fd = -1;

	if (strlist_has(job->known_blobs, digest))
		return 0;
	fd = openat(job->incoming, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return room_error(err, "cannot create '%s'", name);
	return room_write(room, fd, text->text, text->len, err);
}

static int write_documents(const struct reader_inside *job, struct room *room,
			   const struct found *found, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < found->count; i++) {
		const struct found_image *item = &found->items[i];

		r = write_document(job, room, item->image.manifest.digest, &item->manifest, err);
		if (r == 0)
			r = write_document(job, room, item->image.config.digest, &item->config,
					   err);
	}
	return r;
}

/* Add what unpack_layers() made for the tasks to job->parents, see parents.h. */
static int list_parents(const struct reader_inside *job, const struct unpack_task *tasks,
			size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *name = unpack_made_name(tasks[i].layer);
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		cleanup_fd int fd = openat(job->incoming, name, O_RDONLY | O_CLOEXEC);
		json_t *paths;
		int r;

		if (fd < 0)
			continue;
		r = file_read_fd(fd, PARENTS_MAX * PATH_MAX, &text, err);
		if (r < 0)
			return r;
		paths = json_array();
		/* What is not UTF-8 is left out. */
		for (size_t at = 0; at < text.len; at += strlen(text.text + at) + 1)
			(void)json_array_append_new(paths, json_string(text.text + at));
		(void)json_object_set_new(job->parents, tasks[i].layer->diff_id, paths);
	}
	return 0;
}

static int read_images(const struct reader_inside *job, const struct archive *archive,
		       struct room *room, struct found *found, struct error *err)
{
	cleanup_free struct unpack_task *tasks = NULL;
	const char *arch = oci_host_arch();
	size_t count = 0;
	int r = found_read(archive, arch ? arch : "", found, err);

	if (r < 0)
		return r;
	tasks = plan_tasks(job, found, &count);
	r = check_tasks(archive, tasks, count, err);
	if (r < 0)
		return r;
	qsort(tasks, count, sizeof(*tasks), compare_tasks);
	r = unpack_layers(archive, tasks, count, job->incoming, room, job->progress, err);
	if (r == 0)
		r = list_parents(job, tasks, count, err);
	return r < 0 ? r : write_documents(job, room, found, err);
}

int reader_inside(const struct reader_inside *job, struct image_list *ret, struct error *err)
{
	cleanup_with(archive_release) struct archive archive = ARCHIVE_INIT;
	cleanup_with(found_release) struct found found = FOUND_INIT;
	cleanup_fd int spool = -1;
	struct room room;
	int r = room_open(&room, job->incoming, job->reserve, err);

	if (r < 0)
		return r;
	if (job->is_dir) {
		archive_use_dir(&archive, job->archive);
	} else {
		r = make_seekable(job, &room, &spool, err);
		if (r == 0)
			r = archive_scan(&archive, spool >= 0 ? spool : job->archive, err);
	}
	if (r == 0)
		r = read_images(job, &archive, &room, &found, err);
	for (size_t i = 0; r == 0 && i < found.count; i++) {
		*image_list_add(ret) = found.items[i].image;
		found.items[i].image = IMAGE_INIT;
	}
	return r;
}
