/* Image archives as tables of members. */

#include "image/archive.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strlist.h"
#include "data/tar-read.h"

/* Only headers are of interest while members are listed. */
#define SCAN_CHUNK 8192

/* The most links from a member to the next. */
#define LINKS_MAX 8

char *archive_normalize(const char *path)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf clean = STRBUF_INIT;
	size_t *ends = xcalloc(strlen(path) / 2 + 2, sizeof(*ends));
	bool leads_out = false;
	size_t depth = 0;
	const char *name;

	strlist_split(&names, path, '/');
	strlist_for_each(name, &names) {
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			leads_out = leads_out || depth == 0;
			depth -= depth > 0;
			clean.len = depth > 0 ? ends[depth - 1] : 0;
			continue;
		}
		if (depth > 0)
			strbuf_add_char(&clean, '/');
		strbuf_add(&clean, name);
		ends[depth++] = clean.len;
	}
	free(ends);
	if (clean.capacity)
		clean.text[clean.len] = '\0';
	return leads_out ? NULL : strbuf_take(&clean);
}

/* The member that the link ENTRY means: symbolic links are relative to their directory. */
static char *find_target(const struct tar_entry *entry, const char *path)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *joined = NULL;

	if (entry->type == TAR_HARD_LINK)
		return archive_normalize(entry->target);
	if (*entry->target == '/' || !slash)
		joined = xstrdup(entry->target);
	else
		joined = xasprintf("%.*s/%s", (int)(slash - path), path, entry->target);
	return archive_normalize(joined);
}

static int add_member(struct archive *archive, const struct tar_entry *entry, uint64_t offset,
		      struct error *err)
{
	bool is_link = entry->type == TAR_HARD_LINK || entry->type == TAR_SYMLINK;
	struct archive_member member = { .offset = offset, .size = entry->size };

	if (!is_link && entry->type != TAR_FILE)
		return 0;
	if (archive->count == ARCHIVE_MEMBERS_MAX)
		return error_set(err, -EBADMSG, "the archive has more than %d members",
				 ARCHIVE_MEMBERS_MAX);
	member.path = archive_normalize(entry->path);
	/* Members that no document can name do not matter. */
	if (!member.path)
		return 0;
	if (is_link) {
		member.target = find_target(entry, member.path);
		member.target = member.target ? member.target : xstrdup("");
	}
	if ((archive->count & (archive->count - 1)) == 0)
		archive->members = xrealloc(
			archive->members, archive->count ? 2 * archive->count : 1, sizeof(member));
	archive->members[archive->count++] = member;
	return 0;
}

static int scan_entries(struct archive *archive, struct tar_reader *reader, struct error *err)
{
	for (;;) {
		const struct tar_entry *entry;
		int r = tar_reader_next(reader, &entry, err);

		if (r <= 0)
			return r;
		r = add_member(archive, entry, reader->offset, err);
		if (r < 0)
			return r;
	}
}

int archive_scan(struct archive *archive, int fd, struct error *err)
{
	cleanup_with(tar_reader_release) struct tar_reader reader = TAR_READER_INIT;
	cleanup_with(stream_file_release) struct stream_file file = STREAM_FILE_INIT;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_sys(err, "cannot stat the archive");
	archive->fd = fd;
	stream_range_open(&file, fd, 0, (uint64_t)st.st_size, SCAN_CHUNK);
	tar_reader_open(&reader, &file.stream);
	return scan_entries(archive, &reader, err);
}

void archive_use_dir(struct archive *archive, int fd)
{
	archive->fd = fd;
	archive->is_dir = true;
}

void archive_release(struct archive *archive)
{
	for (size_t i = 0; i < archive->count; i++) {
		free(archive->members[i].path);
		free(archive->members[i].target);
	}
	free(archive->members);
	*archive = ARCHIVE_INIT;
}

/* A directory may belong to somebody else, so links in it are not followed. */
static int find_in_dir(const struct archive *archive, const char *path, struct archive_part *ret,
		       struct error *err)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	cleanup_fd int fd = (int)syscall(SYS_openat2, archive->fd, path, &how, sizeof(how));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EBADMSG, "'%s' is not a file", path);
	*ret = (struct archive_part){
		.fd = take_fd(fd),
		.is_owned = true,
		.size = (uint64_t)st.st_size,
	};
	return 0;
}

/* The last one counts, as when an archive is unpacked. */
static const struct archive_member *find_member(const struct archive *archive, const char *path)
{
	for (size_t i = archive->count; i-- > 0;)
		if (strcmp(archive->members[i].path, path) == 0)
			return &archive->members[i];
	return NULL;
}

int archive_find(const struct archive *archive, const char *path, struct archive_part *ret,
		 struct error *err)
{
	cleanup_free char *clean = archive_normalize(path);
	const struct archive_member *member;

	if (!clean || !*clean)
		return error_set(err, -EBADMSG, "'%s' leads out of the archive", path);
	if (archive->is_dir)
		return find_in_dir(archive, clean, ret, err);
	member = find_member(archive, clean);
	for (unsigned links = 0; member && member->target && links < LINKS_MAX; links++)
		member = find_member(archive, member->target);
	if (!member || member->target)
		return error_set(err, -ENOENT, "the archive has no '%s'", path);
	*ret = (struct archive_part){
		.fd = archive->fd,
		.offset = member->offset,
		.size = member->size,
	};
	return 0;
}

void archive_part_release(struct archive_part *part)
{
	if (part->is_owned)
		(void)close(part->fd);
	*part = ARCHIVE_PART_INIT;
}

ssize_t archive_peek(const struct archive_part *part, void *buffer, size_t len)
{
	size_t wanted = (size_t)MIN((uint64_t)len, part->size);
	size_t done = 0;

	while (done < wanted) {
		ssize_t got = pread(part->fd, (char *)buffer + done, wanted - done,
				    (off_t)(part->offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

int archive_read(const struct archive *archive, const char *path, size_t limit, struct strbuf *buf,
		 struct error *err)
{
	cleanup_with(archive_part_release) struct archive_part part = ARCHIVE_PART_INIT;
	int r = archive_find(archive, path, &part, err);
	ssize_t got;

	if (r < 0)
		return r;
	if (part.size > limit)
		return error_set(err, -EBADMSG, "'%s' has more than %zu bytes", path, limit);
	got = archive_peek(&part, strbuf_grow(buf, (size_t)part.size), (size_t)part.size);
	if (got < 0) {
		errno = (int)-got;
		return error_sys(err, "cannot read '%s'", path);
	}
	if ((uint64_t)got < part.size)
		return error_set(err, -EBADMSG, "the archive is truncated");
	strbuf_grown(buf, (size_t)got);
	return 0;
}
