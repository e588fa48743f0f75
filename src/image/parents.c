/* Directories that a layer has files in, but says nothing about. */

#include "image/parents.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Open the directory PATH of a layer.  Layers belong to anybody: no link is followed. */
static int open_below(int layer, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, layer, path, &how, sizeof(how));
}

static int open_layer(const struct store_files *files, const char *diff_id)
{
	return openat(files->layers, diff_id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool has_mark(int fd)
{
	char value;

	return fd >= 0 && fgetxattr(fd, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

/* Whether the directory PATH, or one above it, hides what the layers below have there. */
static bool is_opaque(int layer, const char *path)
{
	cleanup_free char *part = xstrdup(path);

	for (char *slash = part + strlen(part); slash; slash = strrchr(part, '/')) {
		cleanup_fd int fd = -1;

		*slash = '\0';
		fd = open_below(layer, part);
		if (has_mark(fd))
			return true;
	}
	return has_mark(layer);
}

/* Find the status of the directory PATH in the layers of IMAGE below BELOW: 1, 0 if they have no
 * such directory, or -ELOOP if there is a symbolic link instead of it or above it. */
static int find_status(const struct image *image, size_t below, const char *path,
		       const struct store_files *incoming, const struct store_files *store,
		       struct stat *ret)
{
	for (size_t i = below; i-- > 0;) {
		cleanup_fd int layer = open_layer(incoming, image->layers[i].diff_id);
		cleanup_fd int fd = -1;

		if (layer < 0)
			layer = open_layer(store, image->layers[i].diff_id);
		if (layer < 0)
			return 0;
		fd = open_below(layer, path);
		if (fd >= 0)
			return fstat(fd, ret) == 0;
		if (errno == ELOOP)
			return -ELOOP;
		/* A whiteout or a file hides what is below. */
		if (errno != ENOENT || is_opaque(layer, path))
			return 0;
	}
	return 0;
}

static void adopt_status(int layer, const char *path, const struct stat *status)
{
	cleanup_fd int fd = open_below(layer, path);
	struct timespec mtime = status->st_mtim;

	if (fd < 0 || fchown(fd, status->st_uid, status->st_gid) < 0 ||
	    fchmod(fd, status->st_mode & 07777) < 0)
		return;
	(void)futimens(fd, (struct timespec[]){ mtime, mtime });
}

static int adopt_paths(const struct image *image, size_t i, const json_t *paths,
		       const struct store_files *incoming, const struct store_files *store,
		       struct error *err)
{
	cleanup_fd int layer = open_layer(incoming, image->layers[i].diff_id);
	const json_t *path;
	size_t k;

	json_array_foreach(paths, k, path) {
		const char *text = json_string_value(path);
		struct stat status;
		int r;

		if (layer < 0 || !text || is_opaque(layer, text))
			continue;
		r = find_status(image, i, text, incoming, store, &status);
		if (r == -ELOOP)
			return error_because(
				err, &reason_image, -EBADMSG,
				"the layer sha256:%s has files in '%.1000s', but that is a "
				"symbolic link in a layer below it, which is not supported",
				image->layers[i].blob.digest, text);
		if (r > 0)
			adopt_status(layer, text, &status);
	}
	return 0;
}

int parents_adopt(const struct image *image, const json_t *parents,
		  const struct store_files *incoming, const struct store_files *store,
		  struct error *err)
{
	int r = 0;

	/* Upwards, so that a directory may get what the layer below it has got. */
	for (size_t i = 1; r == 0 && i < image->layer_count; i++) {
		const json_t *paths = json_object_get(parents, image->layers[i].diff_id);

		if (json_array_size(paths) > 0 && json_array_size(paths) <= PARENTS_MAX)
			r = adopt_paths(image, i, paths, incoming, store, err);
	}
	return r;
}
