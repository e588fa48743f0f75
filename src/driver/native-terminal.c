/*
 * Terminals of native nodes.
 *
 * A terminal belongs to the node's /dev/pts, so that programs there can find its name.  The node's
 * root can replace /dev/pts/ptmx, so it is opened by a child that has become the node's root and
 * sends the descriptor, which we check before use.
 */

#include "driver/native-terminal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/namespace.h"

union one_descriptor {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* In the node: open a terminal and send its descriptor through the socket *ARG. */
static int open_inside(const void *arg)
{
	cleanup_fd int fd = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct iovec byte = { .iov_base = (char[]){ 'x' }, .iov_len = 1 };
	union one_descriptor control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	if (fd < 0)
		return -errno;
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(*(const int *)arg, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Receive a descriptor from SOCKET; -1 if there is none. */
static int receive(int socket)
{
	char byte;
	struct iovec room = { .iov_base = &byte, .iov_len = 1 };
	union one_descriptor control;
	struct msghdr message = { .msg_iov = &room,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	const struct cmsghdr *head;
	int fd;

	if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -1;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* Whether FD is the master end of a pseudo-terminal on a devpts file system. */
static bool is_terminal(int fd)
{
	struct statfs fs;
	struct stat st;
	unsigned number;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(5, 2) &&
	       fstatfs(fd, &fs) == 0 && fs.f_type == DEVPTS_SUPER_MAGIC &&
	       ioctl(fd, TIOCGPTN, &number) == 0;
}

int native_terminal_open(const char *name, pid_t pid, int *ret_ours, int *ret_theirs,
			 struct error *err)
{
	int ends[2];
	int unlocked = 0;
	cleanup_fd int receiver = -1;
	cleanup_fd int sender = -1;
	cleanup_fd int ours = -1;
	int theirs;
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "cannot make a socket");
	receiver = ends[0];
	sender = ends[1];
	r = namespace_call(pid, open_inside, &sender, &sender, 1, err);
	if (r < 0)
		return error_prefix(err, r, "cannot open a terminal on node '%s'", name);
	ours = receive(receiver);
	if (ours < 0 || !is_terminal(ours))
		return error_set(err, -ENOTTY, "/dev/pts/ptmx of node '%s' is not a terminal",
				 name);
	/* It was opened with O_NONBLOCK in case it was something else. */
	if (fcntl(ours, F_SETFL, O_RDWR) < 0 || ioctl(ours, TIOCSPTLCK, &unlocked) < 0)
		return error_sys(err, "cannot open a terminal on node '%s'", name);
	theirs = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0)
		return error_sys(err, "cannot open a terminal on node '%s'", name);
	*ret_ours = take_fd(ours);
	*ret_theirs = theirs;
	return 0;
}
