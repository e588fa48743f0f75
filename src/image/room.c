/* Free space while untrusted data is unpacked. */

#include "image/room.h"

#include <stdarg.h>
#include <sys/statvfs.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"

#define GIB (UINT64_C(1) << 30)

/* How much may be taken between two looks at free space. */
#define STEP (UINT64_C(16) << 20)

/* Inodes that stay free, in percent. */
#define INODES_PERCENT 1

static int look_at_room(const struct room *room, struct statvfs *ret, struct error *err)
{
	if (fstatvfs(room->fd, ret) < 0)
		return error_sys(err, "cannot read the free space of the disk");
	return 0;
}

uint64_t room_reserve(const struct statvfs *status)
{
	uint64_t reserve = MAX((uint64_t)status->f_blocks * status->f_frsize / 20, GIB);

	return MIN(reserve, 8 * GIB);
}

bool room_is_scarce(const struct statvfs *status)
{
	return (uint64_t)status->f_bavail * status->f_frsize < room_reserve(status) + GIB;
}

int room_open(struct room *room, int fd, uint64_t reserve, struct error *err)
{
	struct statvfs status;
	int r;

	*room = (struct room){ .fd = fd, .reserve = reserve, .unchecked = STEP };
	r = look_at_room(room, &status, err);
	if (r < 0)
		return r;
	room->capacity = (uint64_t)status.f_blocks * status.f_frsize;
	if (reserve == 0)
		room->reserve = room_reserve(&status);
	return 0;
}

int room_take(struct room *room, uint64_t bytes, struct error *err)
{
	struct statvfs status;
	int r;

	room->unchecked += bytes;
	if (room->unchecked < STEP)
		return 0;
	room->unchecked = 0;
	r = look_at_room(room, &status, err);
	if (r < 0)
		return r;
	if ((uint64_t)status.f_bavail * status.f_frsize < room->reserve + bytes)
		return error_because(err, &reason_storage, -ENOSPC,
				     "less than %llu MiB would be left free on the disk",
				     (unsigned long long)(room->reserve >> 20));
	if (status.f_files > 0 && status.f_favail < status.f_files / 100 * INODES_PERCENT)
		return error_because(err, &reason_storage, -ENOSPC,
				     "less than %d %% of the disk's inodes would be left free",
				     INODES_PERCENT);
	return 0;
}

int room_error(struct error *err, const char *fmt, ...)
{
	int code = errno;
	cleanup_free char *what = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	what = xvasprintf(fmt, ap);
	va_end(ap);
	errno = code;
	r = error_sys(err, "%s", what);
	return r == -ENOSPC || r == -EDQUOT ? error_reason(err, r, &reason_storage) : r;
}

int room_write(struct room *room, int fd, const void *data, size_t len, struct error *err)
{
	int r = room_take(room, len, err);

	if (r < 0)
		return r;
	r = file_write_all(fd, data, len);
	if (r < 0) {
		errno = -r;
		return room_error(err, "cannot write");
	}
	return 0;
}
