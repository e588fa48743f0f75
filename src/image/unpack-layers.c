/* Storing and unpacking layers. */

#include "image/unpack-layers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/decompress.h"
#include "image/unpack.h"

#define CHUNK (1024 * 1024)

/* With less to do, a second process costs more than it saves. */
#define SHARE_LEAST (UINT64_C(4) << 20)

/* What may follow the end of a layer's tar: padding.  A few MiB decompress to a TiB of zeros. */
#define PADDING_MOST (UINT64_C(16) << 20)

/* What the two processes share. */
struct shared {
	_Atomic size_t next; /* the task that nobody has taken yet */
	_Atomic bool failed;
	int code; /* of the second process */
	char text[1024];
	bool is_storage;
};

struct worker {
	const struct archive *archive;
	const struct unpack_task *tasks;
	size_t count;
	int incoming;
	struct room room;
	struct unpack_progress *progress;
	struct shared *shared;
};

/* A layer at work. */
struct layer_work {
	struct worker *worker;
	struct sha256 blob_digest;
	struct sha256 diff_digest;
	uint64_t plain_left; /* how much it may still decompress to */
	int blob;            /* -1: not wanted */
	struct strlist made;
};

static void release_work(struct layer_work *work)
{
	sha256_release(&work->blob_digest);
	sha256_release(&work->diff_digest);
	strlist_release(&work->made);
	if (work->blob >= 0)
		(void)close(work->blob);
}

static int take_raw(void *arg, const void *data, size_t len, struct error *err)
{
	struct layer_work *work = arg;

	sha256_add(&work->blob_digest, data, len);
	atomic_fetch_add(&work->worker->progress->done, len);
	return work->blob < 0 ? 0 : room_write(&work->worker->room, work->blob, data, len, err);
}

static int take_plain(void *arg, const void *data, size_t len, struct error *err)
{
	struct layer_work *work = arg;

	if (len > work->plain_left)
		return error_set(err, -EBADMSG, "it decompresses to more than the disk can hold");
	work->plain_left -= len;
	sha256_add(&work->diff_digest, data, len);
	return 0;
}

/* Unpack PLAIN into the new directory NAME, and read it to its end. */
static int unpack_into(struct layer_work *work, struct stream *plain, const char *name,
		       struct error *err)
{
	struct worker *worker = work->worker;
	cleanup_fd int dir = -1;
	int r;

	if (mkdirat(worker->incoming, name, 0755) < 0)
		return room_error(err, "cannot make the directory '%s'", name);
	dir = openat(worker->incoming, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fchmod(dir, 0755) < 0)
		return error_sys(err, "cannot open the directory '%s'", name);
	r = unpack_layer(plain, dir, &worker->room, &work->made, err);
	return r < 0 ? r : stream_drain_most(plain, PADDING_MOST, err);
}

/* Read the layer RAW once, for all that is wanted of it.  RET_DIFF is empty if it is not
 * compressed: its diff ID is the digest of its blob then. */
static int read_layer(struct layer_work *work, struct stream *raw, enum decompress_kind kind,
		      const char *dir, char ret_diff[SHA256_HEX_SIZE], struct error *err)
{
	cleanup_with(decompress_release) struct decompress plain = DECOMPRESS_INIT;
	struct stream_tap tap;
	int r;

	*ret_diff = '\0';
	if (kind == DECOMPRESS_PLAIN)
		return dir ? unpack_into(work, raw, dir, err) : stream_drain(raw, err);
	decompress_open(&plain, raw);
	stream_tap_open(&tap, &plain.stream, take_plain, work);
	sha256_begin(&work->diff_digest);
	work->plain_left = work->worker->room.capacity;
	r = dir ? unpack_into(work, &tap.stream, dir, err) : stream_drain(&tap.stream, err);
	if (r == 0)
		sha256_end(&work->diff_digest, ret_diff);
	return r;
}

static int check_digests(const struct unpack_task *task, const char *blob, const char *diff,
			 struct error *err)
{
	const struct image_layer *layer = task->layer;

	if (task->is_unnamed && strcmp(blob, layer->blob.digest) != 0)
		return error_set(err, -EBADMSG,
				 "its digest is sha256:%s, but the configuration says sha256:%s",
				 blob, layer->diff_id);
	if (strcmp(blob, layer->blob.digest) != 0)
		return error_set(err, -EBADMSG, "its contents have the digest sha256:%s", blob);
	if (strcmp(diff, layer->diff_id) != 0)
		return error_set(err, -EBADMSG,
				 "unpacked, its digest is sha256:%s, but the configuration says "
				 "sha256:%s",
				 diff, layer->diff_id);
	return 0;
}

/* A layer with a wrong digest may be invalid in other ways as well, but that says most. */
static int explain_damage(struct layer_work *work, struct stream *raw,
			  const struct unpack_task *task, int code, struct error *err)
{
	const struct image_layer *layer = task->layer;
	char blob[SHA256_HEX_SIZE];

	if (work->blob >= 0)
		(void)close(work->blob);
	work->blob = -1;
	if (stream_drain(raw, NULL) < 0)
		return code;
	sha256_end(&work->blob_digest, blob);
	if (strcmp(blob, layer->blob.digest) == 0)
		return code;
	return check_digests(task, blob, layer->diff_id, err);
}

static int name_results(struct worker *worker, const struct unpack_task *task, const char *blob,
			const char *dir, struct error *err)
{
	cleanup_free char *blob_name = xasprintf("blobs/%s", task->layer->blob.digest);
	cleanup_free char *dir_name = xasprintf("layers/%s", task->layer->diff_id);
	int at = worker->incoming;

	if (blob && renameat(at, blob, at, blob_name) < 0)
		return room_error(err, "cannot rename to '%s'", blob_name);
	if (dir && renameat(at, dir, at, dir_name) < 0)
		return room_error(err, "cannot rename to '%s'", dir_name);
	return 0;
}

char *unpack_made_name(const struct image_layer *layer)
{
	return xasprintf("made-%s", layer->diff_id);
}

/* Leave the list of directories that the layer has no entries for, each with a NUL, in a file. */
static int write_made(struct layer_work *work, const struct unpack_task *task, struct error *err)
{
	cleanup_free char *name = unpack_made_name(task->layer);
	cleanup_fd int fd = openat(work->worker->incoming, name,
				   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	const char *path;
	int r = fd < 0 ? room_error(err, "cannot create '%s'", name) : 0;

	strlist_for_each(path, &work->made)
		if (r == 0)
			r = room_write(&work->worker->room, fd, path, strlen(path) + 1, err);
	return r;
}

static int read_part(struct layer_work *work, const struct unpack_task *task,
		     const struct archive_part *part, const char *dir, struct error *err)
{
	cleanup_with(stream_file_release) struct stream_file file = STREAM_FILE_INIT;
	const struct image_layer *layer = task->layer;
	enum decompress_kind kind;
	struct stream_tap raw;
	char blob[SHA256_HEX_SIZE];
	char diff[SHA256_HEX_SIZE];
	char head[8];
	ssize_t len = archive_peek(part, head, sizeof(head));
	int r;

	if (part->size != layer->blob.size)
		return error_set(err, -EBADMSG, "it has %llu bytes instead of %llu",
				 (unsigned long long)part->size,
				 (unsigned long long)layer->blob.size);
	kind = decompress_kind_of(head, len > 0 ? (size_t)len : 0);
	stream_range_open(&file, part->fd, part->offset, part->size, CHUNK);
	stream_tap_open(&raw, &file.stream, take_raw, work);
	sha256_begin(&work->blob_digest);
	r = read_layer(work, &raw.stream, kind, dir, diff, err);
	/* Of a compressed layer, something may follow that is not part of it. */
	if (r == 0)
		r = stream_drain(&raw.stream, err);
	if (r < 0 && r != -ENOSPC && r != -EDQUOT)
		return explain_damage(work, &raw.stream, task, r, err);
	if (r < 0)
		return r;
	sha256_end(&work->blob_digest, blob);
	return check_digests(task, blob, *diff ? diff : blob, err);
}

static int do_task(struct worker *worker, size_t i, struct error *err)
{
	const struct unpack_task *task = &worker->tasks[i];
	cleanup_with(archive_part_release) struct archive_part part = ARCHIVE_PART_INIT;
	cleanup_with(release_work) struct layer_work work = { .worker = worker,
							      .blob = -1,
							      .made = STRLIST_INIT };
	cleanup_free char *blob = task->wants_blob ? xasprintf("blobs/new-%zu", i) : NULL;
	cleanup_free char *dir = task->wants_contents ? xasprintf("layers/new-%zu", i) : NULL;
	int r = archive_find(worker->archive, task->member, &part, err);

	if (r < 0)
		return r;
	if (blob) {
		work.blob = openat(worker->incoming, blob,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (work.blob < 0)
			return room_error(err, "cannot create '%s'", blob);
	}
	r = read_part(&work, task, &part, dir, err);
	if (r == 0 && work.made.count > 0)
		r = write_made(&work, task, err);
	return r < 0 ? r : name_results(worker, task, blob, dir, err);
}

/* Say in ERR which layer it is about. */
static int name_layer(const struct unpack_task *task, int code, struct error *err)
{
	if (task->is_unnamed)
		return error_prefix(err, code, "the layer '%s'", task->member);
	return error_prefix(err, code, "the layer sha256:%s", task->layer->blob.digest);
}

/* Take one task after the other until there is none, or one has failed. */
static int do_tasks(struct worker *worker, struct error *err)
{
	for (;;) {
		size_t i = atomic_fetch_add(&worker->shared->next, 1);
		int r;

		if (i >= worker->count || atomic_load(&worker->shared->failed))
			return 0;
		r = do_task(worker, i, err);
		if (r < 0) {
			atomic_store(&worker->shared->failed, true);
			return name_layer(&worker->tasks[i], r, err);
		}
	}
}

static _Noreturn void run_second(struct worker *worker, pid_t first)
{
	struct shared *shared = worker->shared;
	struct error err = ERROR_INIT;
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != first)
		_exit(1);
	r = do_tasks(worker, &err);
	if (r < 0) {
		(void)snprintf(shared->text, sizeof(shared->text), "%s", err.text);
		shared->is_storage = err.reason == &reason_storage;
	}
	shared->code = r;
	_exit(0);
}

static int wait_second(const struct shared *shared, pid_t pid, int code, struct error *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_sys(err, "cannot wait for a process");
	if (code < 0)
		return code;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(err, -EIO, "a process that unpacked layers ended unexpectedly");
	if (shared->code < 0 && shared->is_storage)
		return error_because(err, &reason_storage, shared->code, "%s", shared->text);
	if (shared->code < 0)
		return error_set(err, shared->code, "%s", shared->text);
	return 0;
}

int unpack_layers(const struct archive *archive, const struct unpack_task *tasks, size_t count,
		  int incoming, const struct room *room, struct unpack_progress *progress,
		  struct error *err)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct worker worker = {
		.archive = archive,
		.tasks = tasks,
		.count = count,
		.incoming = incoming,
		.room = *room,
		.progress = progress,
		.shared = shared,
	};
	uint64_t total = 0;
	pid_t first = getpid();
	pid_t pid = -1;
	int r;

	if (shared == MAP_FAILED)
		return error_sys(err, "cannot share memory");
	for (size_t i = 0; i < count; i++)
		total += tasks[i].layer->blob.size;
	atomic_store(&progress->total, total);
	if (count > 1 && total >= SHARE_LEAST)
		pid = fork();
	if (pid == 0)
		run_second(&worker, first);
	/* Without a second process, it only takes longer. */
	r = do_tasks(&worker, err);
	if (pid > 0)
		r = wait_second(shared, pid, r, err);
	(void)munmap(shared, sizeof(*shared));
	return r;
}
