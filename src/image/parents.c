/* Directories that a layer has files in, but says nothing about. */

#include "image/parents.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

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

/* Find the status of the directory PATH in the layers of IMAGE below BELOW. */
static bool find_status(const struct image *image, size_t below, const char *path,
			const struct store_files *incoming, const struct store_files *store,
			struct stat *ret)
{
	for (size_t i = below; i-- > 0;) {
		cleanup_fd int layer = open_layer(incoming, image->layers[i].diff_id);
		cleanup_fd int fd = -1;

		if (layer < 0)
			layer = open_layer(store, image->layers[i].diff_id);
		fd = layer < 0 ? -1 : open_below(layer, path);
		if (fd >= 0)
			return fstat(fd, ret) == 0;
		/* A whiteout or a file hides what is below. */
		if (errno != ENOENT)
			return false;
	}
	return false;
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

void parents_adopt(const struct image *image, const json_t *parents,
		   const struct store_files *incoming, const struct store_files *store)
{
	/* Upwards, so that a directory may get what the layer below it has got. */
	for (size_t i = 1; i < image->layer_count; i++) {
		const json_t *paths = json_object_get(parents, image->layers[i].diff_id);
		cleanup_fd int layer = -1;
		const json_t *path;
		size_t k;

		if (json_array_size(paths) == 0 || json_array_size(paths) > PARENTS_MAX)
			continue;
		layer = open_layer(incoming, image->layers[i].diff_id);
		json_array_foreach(paths, k, path) {
			const char *text = json_string_value(path);
			struct stat status;

			if (layer >= 0 && text &&
			    find_status(image, i, text, incoming, store, &status))
				adopt_status(layer, text, &status);
		}
	}
}
