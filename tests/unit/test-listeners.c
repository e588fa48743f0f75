/* Programs that listen and answer, or do not. */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "api/listeners.h"
#include "test.h"

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
	cleanup_fd int silent_fd = test_listen("127.0.0.2", 0);
	uint16_t port = test_port(silent_fd);
	cleanup_fd int speaking_fd = test_listen("127.0.0.3", port);
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
