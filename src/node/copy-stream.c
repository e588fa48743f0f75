/* The archive of a node on its way to a program of the host. */

#include "node/copy-stream.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "image/room.h"

#define BLOCK (64 << 10)

/* Small copies are possible even if the disk is nearly full. */
#define ALWAYS (UINT64_C(16) << 20)

/* How long a signal that comes just before poll() goes unnoticed. */
#define LOOK_MS 500

static int open_room(int dir, uint64_t reserve, struct room *room, uint64_t *ret_most,
		     struct error *err)
{
	struct statvfs status;
	uint64_t free_bytes;
	int r = room_open(room, dir, reserve, err);

	if (r < 0)
		return r;
	room->unchecked = 0;
	if (fstatvfs(dir, &status) < 0)
		return error_sys(err, "cannot read the free space of the disk");
	free_bytes = (uint64_t)status.f_bavail * status.f_frsize;
	free_bytes -= MIN(free_bytes, room->reserve);
	*ret_most = MAX(free_bytes, ALWAYS);
	return 0;
}

/* Pass one block on; 0 at the end, or if nobody reads it. */
static ssize_t pass_block(int from, int to)
{
	char block[BLOCK];
	ssize_t len = read(from, block, sizeof(block));

	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : 0;
	return len > 0 && file_write_all(to, block, (size_t)len) < 0 ? 0 : len;
}

int copy_stream(int from, int to, const struct process *packer, int dir, uint64_t reserve,
		unsigned silent_seconds, const volatile int *interrupted, struct error *err)
{
	struct pollfd wait[] = { { .fd = from, .events = POLLIN },
				 { .fd = packer->pidfd, .events = POLLIN } };
	struct room room;
	int64_t deadline_ms = clock_now_ms() + silent_seconds * INT64_C(1000);
	uint64_t most = 0;
	int r = open_room(dir, reserve, &room, &most, err);

	/* A program of the node may empty the pipe between poll() and read(). */
	if (r < 0 || fcntl(from, F_SETFL, O_NONBLOCK) < 0)
		return r < 0 ? r : error_sys(err, "cannot set up a pipe");
	(void)signal(SIGPIPE, SIG_IGN);
	while (!*interrupted) {
		ssize_t len;

		if (clock_left_ms(deadline_ms) == 0)
			return error_because(err, &reason_node_failed, -ETIMEDOUT,
					     "the node has sent nothing for %u minutes",
					     silent_seconds / 60);
		if (poll(wait, ARRAY_SIZE(wait), LOOK_MS) <= 0)
			continue;
		/* A program that the packer left behind may hold the pipe for ever. */
		if (!wait[0].revents)
			return 0;
		len = pass_block(from, to);
		if (len == -EAGAIN)
			continue;
		if (len <= 0)
			return 0;
		if ((uint64_t)len > most)
			return error_because(err, &reason_storage, -ENOSPC,
					     "the archive is larger than the space that is left");
		deadline_ms = clock_now_ms() + silent_seconds * INT64_C(1000);
		most -= (uint64_t)len;
		r = room_take(&room, (uint64_t)len, err);
		if (r < 0)
			return r;
	}
	return -EINTR;
}
