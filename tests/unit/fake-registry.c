/*
 * A static program for test-registry.c in the place of the registry: it answers each connection to
 * the socket ARGV[1] with what it may do, and ends after the COUNT-th (ARGV[0] is its path).
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int count_names(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		(void)closedir(dir);
	return count - 2;
}

/* How many ways of sending to an address are refused, which would make the listener a client: with
 * MSG_FASTOPEN, they connect. */
static int count_refused_sends(int fd)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct iovec byte = { (char[]){ "x" }, 1 };
	struct mmsghdr message = { .msg_hdr = { .msg_name = &name,
						.msg_namelen = sizeof(name),
						.msg_iov = &byte,
						.msg_iovlen = 1 } };
	int flags = MSG_FASTOPEN | MSG_NOSIGNAL;
	int count = 0;

	count += sendto(fd, "x", 1, flags, (struct sockaddr *)&name, sizeof(name)) < 0 &&
		 errno == EPERM;
	count += sendmsg(fd, &message.msg_hdr, flags) < 0 && errno == EPERM;
	count += sendmmsg(fd, &message, 1, (unsigned)flags) < 0 && errno == EPERM;
	return count;
}

int main(int argc, char **argv)
{
	int listener = argc > 1 ? atoi(argv[1]) : -1;
	char text[256];
	int client;

	while ((client = accept(listener, NULL, NULL)) >= 0) {
		int file = open("/made", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

		(void)snprintf(text, sizeof(text),
			       "pid=%d uid=%d gid=%d socket=%d user=%d mount=%d root=%d names=%d "
			       "file=%d sockets=%d refused=%d\n",
			       (int)getpid(), (int)getuid(), (int)getgid(),
			       socket(AF_INET, SOCK_STREAM, 0), unshare(CLONE_NEWUSER),
			       unshare(CLONE_NEWNS), setuid(0), count_names("/"), file >= 0,
			       argc - 1, count_refused_sends(client));
		(void)!write(client, text, strlen(text));
		(void)close(client);
		if (file >= 0)
			(void)close(file);
	}
	return 1;
}
