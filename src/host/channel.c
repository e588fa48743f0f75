/* Messages between the front door's keeper and its worker. */

#include "host/channel.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/file.h"

union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int channel_new(int ret_ends[2], struct error *err)
{
	struct timeval limit = { .tv_sec = 2 };

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_ends) < 0)
		return error_sys(err, "cannot make a pair of sockets");
	(void)setsockopt(ret_ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return 0;
}

int channel_send(int fd, const char *text, int passed, struct error *err)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text) };
	union control control = { .room = { 0 } };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	*header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				    .cmsg_type = SCM_RIGHTS,
				    .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(header), &passed, sizeof(passed));
	while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return error_sys(err, "cannot send to the front door's worker");
	return 0;
}

int channel_send_config(int fd, const char *text, struct error *err)
{
	cleanup_fd int file = memfd_create("front-door.json", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file < 0 || file_write_all(file, text, strlen(text)) < 0 ||
	    lseek(file, 0, SEEK_SET) < 0 ||
	    fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return error_sys(err, "cannot make a file in memory");
	return channel_send(fd, CHANNEL_CONFIG, file, err);
}

int channel_receive(int fd, char text[CHANNEL_TEXT], int *ret_passed)
{
	struct iovec part = { .iov_base = text, .iov_len = CHANNEL_TEXT - 1 };
	union control control;
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *header;
	ssize_t len = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (len < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	header = CMSG_FIRSTHDR(&message);
	if (len == 0)
		return 0;
	if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EBADMSG;
	memcpy(ret_passed, CMSG_DATA(header), sizeof(*ret_passed));
	text[len] = '\0';
	return 1;
}
