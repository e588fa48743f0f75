/*
 * A static program for test-registry.c in the place of the registry: it answers each connection to
 * the socket ARGV[1] with what it may do, and ends after the COUNT-th (ARGV[0] is its path).
 */
#include <dirent.h>
#include <fcntl.h>
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

int main(int argc, char **argv)
{
	int listener = argc > 1 ? atoi(argv[1]) : -1;
	char text[256];
	int client;

	while ((client = accept(listener, NULL, NULL)) >= 0) {
		int file = open("/made", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

		(void)snprintf(text, sizeof(text),
			       "pid=%d uid=%d gid=%d socket=%d user=%d mount=%d root=%d names=%d "
			       "file=%d sockets=%d\n",
			       (int)getpid(), (int)getuid(), (int)getgid(),
			       socket(AF_INET, SOCK_STREAM, 0), unshare(CLONE_NEWUSER),
			       unshare(CLONE_NEWNS), setuid(0), count_names("/"), file >= 0,
			       argc - 1);
		(void)!write(client, text, strlen(text));
		(void)close(client);
		if (file >= 0)
			(void)close(file);
	}
	return 1;
}
