/* The programs of a payload. */

#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "payload/payload.h"

/* The directory with the unpacked layers of images. */
#define LAYERS "store/io.containerd.snapshotter.v1.overlayfs/snapshots"

int payload_open_program(const struct payload *payload, const char *name, int *ret_fd,
			 struct error *err)
{
	cleanup_free char *own = xasprintf("%s/bin/%s", payload->dir, name);
	cleanup_free char *layers = xasprintf("%s/" LAYERS, payload->dir);
	cleanup_fd int fd = open(own, O_RDONLY | O_CLOEXEC);
	cleanup_dir DIR *stream = opendir(layers);
	struct dirent *entry;

	while (fd < 0 && stream && (entry = readdir(stream))) {
		cleanup_free char *path = xasprintf("%s/%s/fs/usr/local/bin/%s", layers,
						    entry->d_name, name);

		fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0)
		return error_set(err, -ENOENT, "the payload '%s' has no %s", payload->dir, name);
	*ret_fd = take_fd(fd);
	return 0;
}
