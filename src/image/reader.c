/* The process that reads an image archive, seen from outside. */

#include "image/reader.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "data/decompress.h"
#include "host/namespace.h"
#include "image/reader-inside.h"

/* The most bytes of a result. */
#define RESULT_MAX (16u << 20)

/* How often progress is shown. */
#define PROGRESS_MS 100

/* The words by which a reader gives the reason of an error. */
static const struct {
	const char *word;
	const struct reason *reason;
} reader_reasons[] = {
	{ "usage", &reason_usage },
	{ "image", &reason_image },
	{ "storage", &reason_storage },
};

/* What reader and parent share. */
struct reader {
	const struct reader_job *job;
	struct unpack_progress *progress;
	struct process child;
	int user_namespace;
	int root;    /* `incoming` as the reader sees it */
	int archive; /* the same for the archive */
	int result;  /* what the reader writes; we read */
};

static void release_reader(struct reader *reader)
{
	process_release(&reader->child);
	if (reader->progress)
		(void)munmap(reader->progress, sizeof(*reader->progress));
	if (reader->archive >= 0 && reader->archive != reader->job->archive)
		(void)close(reader->archive);
	if (reader->user_namespace >= 0)
		(void)close(reader->user_namespace);
	if (reader->root >= 0)
		(void)close(reader->root);
	if (reader->result >= 0)
		(void)close(reader->result);
}

/* In the reader: say whose fault an error is. */
static void add_reason(int code, struct error *err)
{
	if (code == -EINVAL)
		error_reason(err, code, &reason_usage);
	else if (code == -ENOSPC || code == -EDQUOT)
		error_reason(err, code, &reason_storage);
	else if (code != -EIO && code != -ENOMEM && code != -EROFS)
		error_reason(err, code, &reason_image);
}

static json_t *describe_error(int code, const struct error *err)
{
	const char *word = "";

	for (size_t i = 0; i < ARRAY_SIZE(reader_reasons); i++)
		if (err->reason == reader_reasons[i].reason)
			word = reader_reasons[i].word;
	return json_pack("{s:s, s:i, s:s}", "error", err->text ? err->text : "unknown error",
			 "code", code, "reason", word);
}

static json_t *describe_images(const struct image_list *list, json_t *parents)
{
	json_t *images = json_array();

	for (size_t i = 0; i < list->count; i++)
		(void)json_array_append_new(images, image_to_json(&list->items[i]));
	return json_pack("{s:o, s:o}", "images", images, "parents", parents);
}

static int read_confined(const struct reader *reader, int incoming, struct image_list *ret,
			 json_t *parents, struct error *err)
{
	struct stat st;
	struct reader_inside inside = {
		.archive = 3,
		.incoming = incoming,
		.reserve = reader->job->reserve,
		.known_blobs = reader->job->known_blobs,
		.known_layers = reader->job->known_layers,
		.known_places = reader->job->known_places,
		.progress = reader->progress,
		.parents = parents,
	};

	if (incoming < 0 || fstat(inside.archive, &st) < 0)
		return error_sys(err, "cannot open the directory");
	inside.is_dir = S_ISDIR(st.st_mode);
	return reader_inside(&inside, ret, err);
}

static _Noreturn void run_reader(const struct reader *reader, pid_t parent, int result)
{
	const int fds[] = { reader->archive, result };
	struct image_list list = IMAGE_LIST_INIT;
	struct error err = ERROR_INIT;
	json_t *parents = json_object();
	char *text;
	json_t *answer;
	int r = reader_confine(parent, reader->user_namespace, reader->root, fds, &err);

	/* The descriptors may not be in their places yet. */
	if (r < 0)
		_exit(MIN(-r, 127));
	r = read_confined(reader, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &list, parents,
			  &err);
	if (r < 0)
		add_reason(r, &err);
	answer = r < 0 ? describe_error(r, &err) : describe_images(&list, parents);
	text = json_dumps(answer, JSON_COMPACT);
	_exit(text && file_write_all(4, text, strlen(text)) == 0 ? 0 : EIO);
}

/*
 * In a directory, other users' files would be closed to the reader, so that it gets a mapped view
 * of it if the file system has such.  What it cannot read then is an error of its own.
 */
static int open_archive(struct reader *reader, struct error *err)
{
	struct stat st;

	reader->archive = reader->job->archive;
	if (fstat(reader->archive, &st) < 0)
		return error_sys(err, "cannot stat the archive");
	if (S_ISDIR(st.st_mode) &&
	    namespace_map_opened(reader->job->archive, reader->job->shown, reader->user_namespace,
				 true, &reader->archive, NULL) < 0)
		reader->archive = reader->job->archive;
	return 0;
}

static int start_reader(struct reader *reader, struct error *err)
{
	cleanup_fd int write_end = -1;
	pid_t parent = getpid();
	int ends[2];
	int r = decompress_load(err);

	if (r == 0)
		r = namespace_new_user(NAMESPACE_UID_FIRST + READER_SLOT * NAMESPACE_IDS,
				       &reader->user_namespace, err);
	if (r == 0)
		r = namespace_map_opened(reader->job->incoming, "the store of images",
					 reader->user_namespace, false, &reader->root, err);
	if (r == 0)
		r = open_archive(reader, err);
	if (r < 0)
		return r;
	reader->progress = mmap(NULL, sizeof(*reader->progress), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reader->progress == MAP_FAILED) {
		reader->progress = NULL;
		return error_sys(err, "cannot share memory");
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	reader->result = ends[0];
	write_end = ends[1];
	reader->child.pid = fork();
	if (reader->child.pid < 0)
		return error_sys(err, "cannot start a process");
	if (reader->child.pid == 0)
		run_reader(reader, parent, write_end);
	reader->child.pidfd = pidfd_open(reader->child.pid, 0);
	return reader->child.pidfd < 0 ? error_sys(err, "cannot watch a process") : 0;
}

static void show_progress(const struct reader *reader)
{
	uint64_t total = atomic_load(&reader->progress->total);

	if (reader->job->progress && total > 0)
		reader->job->progress(reader->job->arg,
				      MIN(atomic_load(&reader->progress->done), total), total);
}

/* Read all that the reader writes, showing progress meanwhile. */
static int read_result(const struct reader *reader, struct strbuf *ret, struct error *err)
{
	for (;;) {
		struct pollfd watched = { .fd = reader->result, .events = POLLIN };
		int ready = poll(&watched, 1, PROGRESS_MS);
		ssize_t len;

		if (ready < 0 && errno != EINTR)
			return error_sys(err, "cannot wait for the reader");
		show_progress(reader);
		if (ready <= 0)
			continue;
		len = read(reader->result, strbuf_grow(ret, 65536), 65536);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return error_sys(err, "cannot read the reader's result");
		if (len == 0)
			return 0;
		strbuf_grown(ret, (size_t)len);
		if (ret->len > RESULT_MAX)
			return error_set(err, -EBADMSG, "the reader's result is too large");
	}
}

/* Turn the error that the reader reports into ours. */
static int take_error(const struct reader *reader, const json_t *json, struct error *err)
{
	const char *shown = reader->job->shown;
	const char *text = json_string_value(json_object_get(json, "error"));
	const char *word = json_string_value(json_object_get(json, "reason"));
	json_int_t code = json_integer_value(json_object_get(json, "code"));
	const struct reason *reason = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(reader_reasons); i++)
		if (text_is(word, reader_reasons[i].word))
			reason = reader_reasons[i].reason;
	if (code >= 0 || code < -4095)
		code = -EBADMSG;
	if (reason == &reason_usage)
		error_set(
			err, (int)code,
			"'%s' is not an image archive, plain or compressed with gzip or zstd: %.1000s",
			shown, text);
	else
		error_set(err, (int)code, "image archive '%s': %.2000s", shown, text);
	return reason ? error_reason(err, (int)code, reason) : (int)code;
}

static int take_images(const json_t *json, struct image_list *ret, struct error *err)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(json))
		return error_set(err, -EBADMSG, "the reader's result is invalid");
	json_array_foreach(json, i, item) {
		int r = image_from_json(item, image_list_add(ret), err);

		if (r < 0)
			return error_prefix(err, r, "the reader's result");
	}
	return 0;
}

int reader_run(const struct reader_job *job, struct image_list *ret, json_t **ret_parents,
	       struct error *err)
{
	cleanup_with(release_reader) struct reader reader = {
		.job = job,
		.child = PROCESS_INIT,
		.user_namespace = -1,
		.root = -1,
		.archive = -1,
		.result = -1,
	};
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	json_auto_t *json = NULL;
	int status;
	int r = start_reader(&reader, err);

	if (r == 0)
		r = read_result(&reader, &text, err);
	if (r < 0)
		return r;
	status = process_wait(&reader.child, 0, err);
	if (status < 0)
		return status;
	json = json_loadb(text.text, text.len, 0, NULL);
	if (status > 0 && status < 128) {
		errno = status;
		return error_sys(err, "the process that reads '%s' cannot begin", job->shown);
	}
	if (status != 0 || !json)
		return error_set(err, -EIO, "the process that reads '%s' ended unexpectedly (%d)",
				 job->shown, status);
	if (json_is_string(json_object_get(json, "error")))
		return take_error(&reader, json, err);
	r = take_images(json_object_get(json, "images"), &list, err);
	if (r < 0)
		return r;
	*ret_parents = json_incref(json_object_get(json, "parents"));
	*ret = list;
	list = IMAGE_LIST_INIT;
	return 0;
}
