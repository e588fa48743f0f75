/* Reading tar archives. */

#include "data/tar-read.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/tar-fields.h"

/* The most bytes of a PAX header or of a long name. */
#define EXTENSION_MAX  (1024 * 1024)
/* The most extensions before one entry. */
#define EXTENSIONS_MAX 16

/* What came before an entry and counts for it. */
struct extensions {
	char *path; /* NULL: as in the header */
	char *target;
	struct tar_pax pax;
	unsigned count;
};

static void release_extensions(struct extensions *extensions)
{
	free(extensions->path);
	free(extensions->target);
	tar_pax_release(&extensions->pax);
}

void tar_reader_open(struct tar_reader *reader, struct stream *stream)
{
	*reader = TAR_READER_INIT;
	reader->stream = stream;
}

static void release_entry(struct tar_entry *entry)
{
	free(entry->path);
	free(entry->target);
	for (size_t i = 0; i < entry->xattr_count; i++) {
		free(entry->xattrs[i].name);
		free(entry->xattrs[i].value);
	}
	free(entry->xattrs);
	*entry = TAR_ENTRY_INIT;
}

void tar_reader_release(struct tar_reader *reader)
{
	release_entry(&reader->entry);
	*reader = TAR_READER_INIT;
}

/* Get a chunk unless there is one; none is left at the end of the stream. */
static int get_chunk(struct tar_reader *reader, struct error *err)
{
	const void *data;
	size_t len;
	int r;

	if (reader->chunk_len > 0)
		return 0;
	r = reader->stream->next(reader->stream, &data, &len, err);
	if (r < 0)
		return r;
	reader->chunk = data;
	reader->chunk_len = len;
	return 0;
}

static void consume(struct tar_reader *reader, size_t len)
{
	reader->chunk += len;
	reader->chunk_len -= len;
	reader->offset += len;
}

/* Copy LEN bytes to BUFFER; returns how many there were before the end. */
static ssize_t copy_bytes(struct tar_reader *reader, void *buffer, size_t len, struct error *err)
{
	size_t done = 0;

	while (done < len) {
		int r = get_chunk(reader, err);
		size_t part = MIN(len - done, reader->chunk_len);

		if (r < 0)
			return r;
		if (part == 0)
			break;
		memcpy((char *)buffer + done, reader->chunk, part);
		consume(reader, part);
		done += part;
	}
	return (ssize_t)done;
}

static int refuse_truncated(struct error *err)
{
	return error_set(err, -EBADMSG, "the archive is truncated");
}

static int skip_bytes(struct tar_reader *reader, uint64_t len, struct error *err)
{
	while (len > 0) {
		size_t part;
		int r;

		if (reader->chunk_len == 0 && reader->stream->skip) {
			reader->offset += len;
			return reader->stream->skip(reader->stream, len, err);
		}
		r = get_chunk(reader, err);
		if (r < 0)
			return r;
		if (reader->chunk_len == 0)
			return refuse_truncated(err);
		part = (size_t)MIN(len, (uint64_t)reader->chunk_len);
		consume(reader, part);
		len -= part;
	}
	return 0;
}

int tar_reader_data(struct tar_reader *reader, const void **ret_data, size_t *ret_len,
		    struct error *err)
{
	size_t part;
	int r;

	*ret_len = 0;
	if (reader->left == 0)
		return 0;
	r = get_chunk(reader, err);
	if (r < 0)
		return r;
	if (reader->chunk_len == 0)
		return refuse_truncated(err);
	part = (size_t)MIN(reader->left, (uint64_t)reader->chunk_len);
	*ret_data = reader->chunk;
	*ret_len = part;
	consume(reader, part);
	reader->left -= part;
	return 0;
}

static void set_size(struct tar_reader *reader, uint64_t size)
{
	reader->left = size;
	reader->padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

/* Read the data of an extension, with a NUL behind it; the caller frees it. */
static int read_extension(struct tar_reader *reader, uint64_t size, char **ret, struct error *err)
{
	cleanup_free char *text = NULL;
	ssize_t got;

	if (size > EXTENSION_MAX)
		return error_set(err, -EBADMSG, "a header of the archive is too large");
	text = xmalloc((size_t)size + 1);
	got = copy_bytes(reader, text, (size_t)size, err);
	if (got < 0)
		return (int)got;
	if ((uint64_t)got < size)
		return refuse_truncated(err);
	text[size] = '\0';
	reader->left = 0;
	*ret = take_ptr(text);
	return 0;
}

/* If the header is an extension, read it and return 1; 0 if it begins an entry. */
static int take_extension(struct tar_reader *reader, const struct tar_block *header, uint64_t size,
			  struct extensions *extensions, struct error *err)
{
	cleanup_free char *text = NULL;
	char **place;
	int r;

	if (header->type != 'x' && header->type != 'L' && header->type != 'K' &&
	    header->type != 'g')
		return 0;
	if (++extensions->count > EXTENSIONS_MAX)
		return error_set(err, -EBADMSG, "too many headers in a row");
	set_size(reader, size);
	/* Global headers hold comments; containerd and Docker ignore them, too. */
	if (header->type == 'g')
		return 1;
	r = read_extension(reader, size, &text, err);
	if (r < 0)
		return r;
	if (header->type == 'x') {
		r = tar_pax_parse(text, (size_t)size, &extensions->pax, err);
		return r < 0 ? r : 1;
	}
	place = header->type == 'L' ? &extensions->path : &extensions->target;
	free(*place);
	*place = take_ptr(text);
	return 1;
}

/* What PAX says counts before GNU's long names, and these before the header. */
static char *choose_name(char **pax, char **gnu, char *plain)
{
	if (*pax || *gnu) {
		free(plain);
		return *pax ? take_ptr(*pax) : take_ptr(*gnu);
	}
	return plain;
}

static int check_entry(const struct tar_entry *entry, struct error *err)
{
	if (!*entry->path)
		return error_set(err, -EBADMSG, "an entry of the archive has no name");
	if (strlen(entry->path) >= PATH_MAX || strlen(entry->target) >= PATH_MAX)
		return error_set(err, -EBADMSG, "a path in the archive is too long");
	if (!*entry->target && (entry->type == TAR_HARD_LINK || entry->type == TAR_SYMLINK))
		return error_set(err, -EBADMSG, "the link '%s' has no target", entry->path);
	return 0;
}

static int make_entry(struct tar_reader *reader, const struct tar_block *header,
		      struct extensions *extensions, struct error *err)
{
	struct tar_entry *entry = &reader->entry;
	struct tar_pax *pax = &extensions->pax;
	int r = tar_header_decode(header, entry, err);

	if (r < 0)
		return r;
	entry->path = choose_name(&pax->path, &extensions->path, entry->path);
	entry->target = choose_name(&pax->target, &extensions->target, entry->target);
	if (pax->has_size)
		entry->size = pax->size;
	if (pax->has_uid)
		entry->uid = pax->uid;
	if (pax->has_gid)
		entry->gid = pax->gid;
	if (pax->has_mtime) {
		entry->mtime = pax->mtime;
		entry->mtime_ns = pax->mtime_ns;
	}
	entry->xattrs = take_ptr(pax->xattrs);
	entry->xattr_count = pax->xattr_count;
	pax->xattr_count = 0;
	/* Before PAX and ustar, a directory was a file whose name ends in a slash. */
	if (header->type == '\0' && *entry->path && entry->path[strlen(entry->path) - 1] == '/')
		entry->type = TAR_DIR;
	if (entry->type != TAR_FILE)
		entry->size = 0;
	return check_entry(entry, err);
}

/* Read a header block: 1, or 0 at the end of the archive. */
static int read_header(struct tar_reader *reader, struct tar_block *header, struct error *err)
{
	bool is_first = reader->offset == 0;
	ssize_t got = copy_bytes(reader, header, sizeof(*header), err);
	int r;

	if (got < 0)
		return (int)got;
	if (got == 0 && is_first)
		return error_set(err, -EINVAL, "it is empty");
	/* Some programs do not write the blocks of zeros that end an archive. */
	if (got == 0)
		return 0;
	if ((size_t)got < sizeof(*header) && !is_first)
		return refuse_truncated(err);
	/* An archive without entries, as of an empty layer, begins with its end. */
	r = (size_t)got < sizeof(*header) ? -EBADMSG : tar_header_check(header);
	if (r < 0 && is_first)
		return error_set(err, -EINVAL, "it is not a tar archive");
	if (r < 0)
		return error_set(err, -EBADMSG, "a header of the archive is damaged");
	return r;
}

int tar_reader_next(struct tar_reader *reader, const struct tar_entry **ret_entry,
		    struct error *err)
{
	cleanup_with(release_extensions) struct extensions extensions = { .path = NULL };
	struct tar_block header;
	uint64_t size;
	int r;

	release_entry(&reader->entry);
	if (reader->ended)
		return 0;
	for (;;) {
		r = skip_bytes(reader, reader->left + reader->padding, err);
		reader->left = 0;
		reader->padding = 0;
		if (r == 0)
			r = read_header(reader, &header, err);
		if (r < 0)
			return r;
		if (r == 0 && extensions.count > 0)
			return refuse_truncated(err);
		if (r == 0) {
			reader->ended = true;
			return 0;
		}
		r = tar_header_size(&header, &size, err);
		if (r < 0)
			return r;
		r = take_extension(reader, &header, size, &extensions, err);
		if (r < 0)
			return r;
		if (r == 0)
			break;
	}
	r = make_entry(reader, &header, &extensions, err);
	if (r < 0)
		return r;
	set_size(reader, reader->entry.size);
	*ret_entry = &reader->entry;
	return 1;
}
