/* Writing ustar archives. */

#include "data/tar.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "data/tar-block.h"

#define BLOCK     TAR_BLOCK
#define CHUNK     (256 * 1024)
#define SIZE_MAX_ UINT64_C(077777777777)

static int write_block(struct tar_writer *tar, const void *data, size_t len, struct error *err)
{
	int r = file_write_all(tar->fd, data, len);

	if (r < 0) {
		errno = -r;
		return error_sys(err, "cannot write the archive");
	}
	if (tar->digest)
		sha256_add(tar->digest, data, len);
	tar->bytes += len;
	return 0;
}

static int put_padding(struct tar_writer *tar, uint64_t size, struct error *err)
{
	static const char zeros[BLOCK];
	size_t rest = (size_t)(size % BLOCK);

	return rest ? write_block(tar, zeros, BLOCK - rest, err) : 0;
}

/* A path of up to 100 bytes goes into `name`; a longer one is split at a slash. */
static int set_path(struct tar_block *header, const char *path, struct error *err)
{
	size_t len = strlen(path);
	const char *cut = path + len;

	if (len <= sizeof(header->name)) {
		memcpy(header->name, path, len);
		return 0;
	}
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
		if (p > path && (size_t)(p - path) <= sizeof(header->prefix) && p[1])
			cut = p;
	if (*cut != '/' || strlen(cut + 1) > sizeof(header->name))
		return error_set(err, -ENAMETOOLONG, "the path '%s' is too long for an archive",
				 path);
	memcpy(header->prefix, path, (size_t)(cut - path));
	memcpy(header->name, cut + 1, strlen(cut + 1));
	return 0;
}

static int make_header(struct tar_block *header, const char *path, char type, mode_t mode,
		       uint64_t size, const char *target, struct error *err)
{
	int r;

	memset(header, 0, sizeof(*header));
	r = set_path(header, path, err);
	if (r < 0)
		return r;
	if (size > SIZE_MAX_)
		return error_set(err, -EFBIG, "'%s' is too big for an archive", path);
	if (strlen(target) > sizeof(header->target))
		return error_set(err, -ENAMETOOLONG, "the link '%s' is too long for an archive",
				 target);
	tar_set_octal(header->mode, sizeof(header->mode), mode & 07777);
	tar_set_octal(header->uid, sizeof(header->uid), 0);
	tar_set_octal(header->gid, sizeof(header->gid), 0);
	tar_set_octal(header->size, sizeof(header->size), size);
	tar_set_octal(header->mtime, sizeof(header->mtime), 0);
	header->type = type;
	memcpy(header->target, target, strlen(target));
	memcpy(header->magic, "ustar", 6);
	memcpy(header->version, "00", 2);
	tar_set_checksum(header);
	return 0;
}

static int put_header(struct tar_writer *tar, const char *path, char type, mode_t mode,
		      uint64_t size, const char *target, struct error *err)
{
	struct tar_block header;
	int r = make_header(&header, path, type, mode, size, target, err);

	return r < 0 ? r : write_block(tar, &header, sizeof(header), err);
}

int tar_add_dir(struct tar_writer *tar, const char *path, mode_t mode, struct error *err)
{
	cleanup_free char *with_slash = xasprintf("%s/", path);

	return put_header(tar, with_slash, '5', mode, 0, "", err);
}

int tar_add_link(struct tar_writer *tar, const char *path, const char *target, struct error *err)
{
	return put_header(tar, path, '2', 0777, 0, target, err);
}

int tar_add_data(struct tar_writer *tar, const char *path, const void *data, size_t len,
		 mode_t mode, struct error *err)
{
	int r = put_header(tar, path, '0', mode, len, "", err);

	if (r == 0)
		r = write_block(tar, data, len, err);
	return r < 0 ? r : put_padding(tar, len, err);
}

static int put_contents(struct tar_writer *tar, int fd, uint64_t size, const char *file,
			struct error *err)
{
	cleanup_free char *chunk = xmalloc(CHUNK);
	uint64_t left = size;

	while (left > 0) {
		ssize_t len = read(fd, chunk, (size_t)MIN(left, (uint64_t)CHUNK));
		int r;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return error_sys(err, "cannot read '%s'", file);
		if (len == 0)
			return error_set(err, -EIO, "'%s' became shorter while it was read", file);
		r = write_block(tar, chunk, (size_t)len, err);
		if (r < 0)
			return r;
		left -= (uint64_t)len;
	}
	return put_padding(tar, size, err);
}

int tar_add_file(struct tar_writer *tar, const char *path, const char *file, mode_t mode,
		 struct error *err)
{
	cleanup_fd int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open '%s'", file);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "'%s' is not a file", file);
	r = put_header(tar, path, '0', mode, (uint64_t)st.st_size, "", err);
	return r < 0 ? r : put_contents(tar, fd, (uint64_t)st.st_size, file, err);
}

int tar_reserve(struct tar_writer *tar, off_t *ret_header, struct error *err)
{
	static const char nothing[BLOCK];
	off_t at = lseek(tar->fd, 0, SEEK_CUR);

	assert(!tar->digest);
	if (at < 0)
		return error_sys(err, "cannot write the archive");
	*ret_header = at;
	return write_block(tar, nothing, sizeof(nothing), err);
}

int tar_name_reserved(struct tar_writer *tar, off_t at, const char *path, uint64_t size,
		      struct error *err)
{
	struct tar_block header;
	int r = make_header(&header, path, '0', 0644, size, "", err);

	assert(size % BLOCK == 0);
	if (r < 0)
		return r;
	if (pwrite(tar->fd, &header, sizeof(header), at) != (ssize_t)sizeof(header))
		return error_sys(err, "cannot write the archive");
	tar->bytes += size;
	return 0;
}

int tar_end(struct tar_writer *tar, struct error *err)
{
	static const char zeros[2 * BLOCK];

	return write_block(tar, zeros, sizeof(zeros), err);
}
