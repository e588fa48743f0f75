/*
 * Downloading components from their official releases; every file is checked against its published
 * SHA-256 sum.  See payload_source.binary_mirror for the layout of mirrors.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "payload/checksum.h"
#include "payload/download.h"
#include "payload/work.h"

#define CHECKSUMS_LIMIT (1 << 20)
#define FILE_LIMIT      (UINT64_C(2) << 30)

/* The file whose download progress is reported. */
struct topic {
	struct work *work;
	enum component_id id;
	const char *name;
	unsigned at; /* the index of the file among the component's COUNT files */
	unsigned count;
	uint64_t told; /* the last reported progress, in MiB */
};

static void on_progress(uint64_t done, uint64_t total, void *data)
{
	struct topic *topic = data;
	uint64_t mib = done >> 20;

	if (mib == topic->told)
		return;
	topic->told = mib;
	if (total)
		work_tell(topic->work, topic->id,
			  (unsigned)((topic->at * UINT64_C(1000) + 990 * done / total) /
				     topic->count),
			  "%s (%llu of %llu MiB)", topic->name, (unsigned long long)mib,
			  (unsigned long long)(total >> 20));
	else
		work_tell(topic->work, topic->id, 1000 * topic->at / topic->count, "%s (%llu MiB)",
			  topic->name, (unsigned long long)mib);
}

static const char *last_part(const char *url)
{
	return strrchr(url, '/') + 1;
}

static char *mirrored(const struct work *work, const char *url)
{
	const char *mirror = work->source.binary_mirror;
	size_t len = mirror ? strlen(mirror) : 0;

	if (!mirror)
		return xstrdup(url);
	while (len > 0 && mirror[len - 1] == '/')
		len--;
	return xasprintf("%.*s/%s", (int)len, mirror, strstr(url, "://") + 3);
}

/* scheme://host:port of URL. */
static char *origin_of(const char *url)
{
	const char *host = strstr(url, "://");

	host = host ? host + 3 : url;
	return xstrndup(url, (size_t)(host - url) + strcspn(host, "/"));
}

/* Remember hosts that cannot be reached, so that their other files are not tried. */
static int judge_download(struct work *work, const char *url, int r, struct error *err)
{
	cleanup_free char *origin = origin_of(url);

	if (r != -EHOSTUNREACH)
		return r;
	work_avoid(work, origin);
	return error_prefix(err, -ENOENT, "cannot reach '%s'", origin);
}

static int check_reachable(struct work *work, const char *url, struct error *err)
{
	cleanup_free char *origin = origin_of(url);

	if (!strlist_has(&work->unreachable, origin))
		return 0;
	return error_because(err, &reason_download, -ENOENT, "cannot reach '%s'", origin);
}

static int fetch_checksum(struct work *work, const char *url, const char *file,
			  char ret_hex[SHA256_HEX_SIZE], struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct download download = { .url = url,
				     .limit_bytes = CHECKSUMS_LIMIT,
				     .plain_http = work->source.binary_mirror };
	int r = check_reachable(work, url, err);

	if (r < 0)
		return r;
	r = download_text(&download, &text, err);
	if (r < 0)
		return judge_download(work, url, r, err);
	r = checksum_find(text.text, text.len, file, ret_hex, err);
	return r < 0 ? error_prefix(err, r, "'%s'", url) : 0;
}

/* Check that the file PATH has the digest WANTED; otherwise remove it and return -EBADMSG. */
static int verify(const char *path, const char *url, const char *wanted, struct error *err)
{
	char have[SHA256_HEX_SIZE];
	int r = sha256_of_file(path, have, err);

	if (r < 0)
		return r;
	if (strcmp(have, wanted) == 0)
		return 0;
	(void)unlink(path);
	r = error_because(err, &reason_download, -EBADMSG,
			  "'%s' has the SHA-256 sum %s, but the published one is %s", url, have,
			  wanted);
	return error_hint(err, r, "try again later, or use a mirror with --binary-mirror");
}

/* Download URL, whose digest must be WANTED, to PATH. */
static int fetch_file(struct topic *topic, const char *url, const char *wanted, const char *path,
		      struct error *err)
{
	struct work *work = topic->work;
	struct download download = {
		.url = url,
		.limit_bytes = FILE_LIMIT,
		.plain_http = work->source.binary_mirror,
		.progress = on_progress,
		.data = topic,
	};
	bool resumed = false;
	int r;

	/* An earlier attempt may have downloaded it. */
	if (file_exists(path) && verify(path, url, wanted, NULL) == 0)
		return 0;
	work_tell(work, topic->id, 1000 * topic->at / topic->count, "%s", topic->name);
	r = download_file(&download, path, &resumed, err);
	if (r < 0)
		return judge_download(work, url, r, err);
	r = verify(path, url, wanted, err);
	if (r != -EBADMSG || !resumed)
		return r;
	/* The partial file may have been from another file. */
	log_debug("'%s' has a wrong checksum after resuming; downloading all of it", url);
	error_clear(err);
	r = download_file(&download, path, NULL, err);
	return r < 0 ? judge_download(work, url, r, err) : verify(path, url, wanted, err);
}

/* Download the file of TOPIC to work/download/; the caller frees RET_PATH. */
static int fetch(struct topic *topic, const char *program, char **ret_path, struct error *err)
{
	struct work *work = topic->work;
	const enum component_id id = topic->id;
	const struct component *component = &components[id];
	const char *version = work->release->versions[id];
	cleanup_free char *url = component_expand(component->url, version, work->arch, program);
	cleanup_free char *sums_url = component_expand(component->checksum_url, version, work->arch,
						       program);
	cleanup_free char *from = mirrored(work, url);
	cleanup_free char *sums_from = mirrored(work, sums_url);
	cleanup_free char *path = work_path(work, "work/download/%s", last_part(url));
	char wanted[SHA256_HEX_SIZE];
	int r = fetch_checksum(work, sums_from, last_part(url), wanted, err);

	if (r == 0)
		r = check_reachable(work, from, err);
	if (r < 0)
		return r;
	r = work_goes(work, id, WAY_DOWNLOAD, err);
	if (r < 0)
		return r;
	topic->name = last_part(url);
	r = fetch_file(topic, from, wanted, path, err);
	if (r < 0)
		return r;
	*ret_path = take_ptr(path);
	return 0;
}

static int fetch_programs(struct work *work, enum component_id id, struct error *err)
{
	const struct component *component = &components[id];
	struct topic topic = { .work = work, .id = id };

	while (component->programs[topic.count].name)
		topic.count++;
	for (const struct program *program = component->programs; program->name;
	     program++, topic.at++) {
		cleanup_free char *file = NULL;
		cleanup_free char *place = work_path(work, "work/get/%s/%s", component->name,
						     program->name);
		int r = fetch(&topic, program->name, &file, err);

		if (r < 0)
			return r;
		if (link(file, place) < 0 && errno != EEXIST)
			return error_sys(err, "cannot link '%s'", place);
	}
	return 0;
}

/* Move the program PATH, unpacked in DIR, to TO with the mode 0755.  It must be a regular file
 * without other hard links. */
static int take_unpacked(const char *dir, const char *path, const char *to, struct error *err)
{
	cleanup_free char *from = xasprintf("%s/%s", dir, path);
	cleanup_fd int fd = -1;
	struct stat st;
	int r = below_open(dir, path, O_RDONLY, &fd, err);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		return error_because(err, &reason_download, -EBADMSG,
				     "'%s' is not a regular file with one name", path);
	if (fchmod(fd, 0755) < 0 || rename(from, to) < 0)
		return error_sys(err, "cannot move '%s'", from);
	return 0;
}

static int unpack(struct work *work, enum component_id id, char *archive, struct error *err)
{
	const struct component *component = &components[id];
	const char *version = work->release->versions[id];
	cleanup_free char *dir = work_path(work, "work/get/%s/private", component->name);
	cleanup_free char *inside = component_expand(component->inside, version, work->arch, NULL);
	/* Only we may enter it: the archive may contain set-user-ID programs and devices. */
	int r = file_make_dirs(dir, 0700, err);

	if (r < 0)
		return r;
	work_tell(work, id, 990, "unpacking %s", last_part(archive));
	r = process_run(ARGV("tar", "-xzf", archive, "-C", dir, "--no-same-owner"), NULL, err);
	if (r != 0)
		return r < 0 ? r
			     : error_set(err, -EIO, "cannot unpack '%s': tar exited with status %d",
					 archive, r);
	for (const struct program *program = component->programs; program->name; program++) {
		cleanup_free char *path = xasprintf("%s/%s", inside, program->name);
		cleanup_free char *to = work_path(work, "work/get/%s/%s", component->name,
						  program->name);

		r = take_unpacked(dir, path, to, err);
		if (r < 0)
			return error_prefix(err, r, "cannot take '%s' from '%s'", program->name,
					    archive);
	}
	return 0;
}

int work_download(struct work *work, enum component_id id, struct error *err)
{
	const struct component *component = &components[id];
	struct topic topic = { .work = work, .id = id, .count = 1 };
	cleanup_free char *archive = NULL;
	int r;

	if (!component->url)
		return error_because(err, &reason_download, -ENOENT,
				     "there is no release of %s to download", component->name);
	if (!component->inside)
		return fetch_programs(work, id, err);
	r = fetch(&topic, NULL, &archive, err);
	return r < 0 ? r : unpack(work, id, archive, err);
}
