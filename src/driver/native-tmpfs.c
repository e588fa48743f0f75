/* Limits of a node's tmpfs mounts. */

#include "driver/native-tmpfs.h"

#include <sys/mount.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Bytes per allowed file: even an empty file takes a kilobyte of kernel memory. */
#define BYTES_PER_FILE 16384u

static const struct {
	const char *path;
	unsigned part; /* the limit is the node's memory divided by this */
} limits[] = {
	{ "run", 5 },
	{ "tmp", 2 },
	{ "dev/shm", 2 },
};

int native_tmpfs_limit(const char *root, uint64_t memory_bytes, struct error *err)
{
	uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t memory = memory_bytes && memory_bytes < host ? memory_bytes : host;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		unsigned long long size = memory / limits[i].part;
		cleanup_free char *path = xasprintf("%s/%s", root, limits[i].path);
		cleanup_free char *options = xasprintf("size=%llu,nr_inodes=%llu", size,
						       size / BYTES_PER_FILE);

		if (mount(NULL, path, NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, options) < 0)
			return error_sys(err, "cannot limit the node's '/%s'", limits[i].path);
	}
	return 0;
}
