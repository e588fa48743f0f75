/* Programs that listen and answer, or do not. */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "api/listeners.h"
#include "test.h"

static uint16_t port;

/* Listen at ADDRESS, at PORT of the others or at any for the first. */
static int listen_at(const char *address)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ASSERT(inet_pton(AF_INET, address, &at.sin_addr) == 1);
	ASSERT(bind(fd, (struct sockaddr *)&at, len) == 0);
	ASSERT(listen(fd, 4) == 0);
	ASSERT(getsockname(fd, (struct sockaddr *)&at, &len) == 0);
	port = ntohs(at.sin_port);
	return fd;
}

/* Answer one connection to FD after it has said something. */
static pid_t answer_once(int fd)
{
	pid_t pid = fork();
	char words[64];

	if (pid == 0) {
		int client = accept(fd, NULL, NULL);

		_exit(recv(client, words, sizeof(words), 0) > 0 && send(client, "no", 2, 0) == 2
			      ? 0
			      : 1);
	}
	return pid;
}

TEST(only_one_that_takes_connections_and_says_nothing_is_silent)
{
	cleanup_with(strlist_release) struct strlist addresses = STRLIST_INIT;
	arg_unused cleanup_fd int silent_fd = listen_at("127.0.0.2");
	cleanup_fd int speaking_fd = listen_at("127.0.0.3");
	pid_t pid = answer_once(speaking_fd);
	bool silent[4];
	int status;

	strlist_add(&addresses, "127.0.0.2");
	strlist_add(&addresses, "127.0.0.3");
	strlist_add(&addresses, "127.0.0.4");
	strlist_add(&addresses, "no address");
	listeners_find_silent(&addresses, port, "hello", 500, silent);
	ASSERT(silent[0]);
	ASSERT(!silent[1]);
	ASSERT(!silent[2]);
	ASSERT(!silent[3]);
	ASSERT(waitpid(pid, &status, 0) == pid);
	ASSERT_INT(status, 0);
}

TEST(nobody_to_ask_takes_no_time)
{
	struct strlist addresses = STRLIST_INIT;

	listeners_find_silent(&addresses, 1, "hello", 60 * 1000, NULL);
}
