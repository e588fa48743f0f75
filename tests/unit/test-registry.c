/* The process of a registry; MANYKUBE_FAKE_REGISTRY names the program in the place of the real one.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/loop.h"
#include "registry/keep.h"
#include "test.h"

static int listener = -1;
static struct sockaddr_in address = { .sin_family = AF_INET };
static struct loop *loop;
static struct registry_keep *keep;
static char *data;

static void begin(void)
{
	socklen_t len = sizeof(address);

	if (!getenv("MANYKUBE_FAKE_REGISTRY"))
		test_skip("MANYKUBE_FAKE_REGISTRY is not set");
	if (geteuid() != 0)
		test_skip("needs root");
	data = xasprintf("%s/registry", test_dir());
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ASSERT_INT(bind(listener, (struct sockaddr *)&address, len), 0);
	ASSERT_INT(listen(listener, 16), 0);
	ASSERT_INT(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	ASSERT_OK(loop_new(&loop, &err));
	keep = registry_keep_new(loop);
}

static void end(void)
{
	registry_keep_free(keep);
	loop_free(loop);
	(void)close(listener);
	free(data);
}

static struct cell wanted(void)
{
	return (struct cell){ getenv("MANYKUBE_FAKE_REGISTRY"), data, &listener, 1 };
}

static void run_it(void)
{
	const struct cell cell = wanted();

	ASSERT_OK(registry_keep_set(keep, &cell, true, &err));
}

/* What the registry answers to a connection, for the caller to free. */
static char *ask(void)
{
	const struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[256] = "";
	ssize_t len;

	ASSERT_INT(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	ASSERT_INT(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	len = recv(fd, text, sizeof(text) - 1, MSG_WAITALL);
	(void)close(fd);
	ASSERT(len > 0);
	return xstrdup(text);
}

static int on_timer(void *of, arg_unused struct error *problem)
{
	loop_stop(of);
	return 0;
}

/* Let the keeper work until another registry than PID runs. */
static void await_other(pid_t pid)
{
	int64_t deadline = clock_now_ms() + 10000;

	while (registry_keep_pid(keep) == pid || registry_keep_pid(keep) == 0) {
		struct loop_source *timer;

		ASSERT(clock_now_ms() < deadline);
		ASSERT_OK(loop_add_timer(loop, 5, 0, on_timer, loop, &timer, &err));
		ASSERT_OK(loop_run(loop, &err));
		loop_remove(timer);
	}
}

TEST(it_has_a_user_of_its_own_and_only_its_directory_and_sockets)
{
	cleanup_free char *answer = NULL;
	cleanup_free char *rest = NULL;
	struct stat st;

	begin();
	run_it();
	answer = ask();
	rest = xasprintf(
		"uid=%d gid=%d socket=-1 user=-1 mount=-1 root=-1 names=1 file=1 sockets=1 "
		"refused=3\n",
		(int)cell_uid(data), (int)cell_uid(data));
	ASSERT_STR(strchr(answer, ' ') + 1, rest);
	ASSERT_INT(stat(data, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0700);
	ASSERT(st.st_uid == cell_uid(data));
	ASSERT(st.st_uid != 0);
	end();
}

TEST(one_that_was_killed_is_started_again_and_connections_wait)
{
	cleanup_free char *answer = NULL;
	pid_t before;

	begin();
	run_it();
	before = registry_keep_pid(keep);
	ASSERT(before > 0);
	ASSERT_INT(kill(before, SIGKILL), 0);
	await_other(before);
	answer = ask();
	end();
}

TEST(the_same_one_is_kept_and_another_one_takes_its_place)
{
	struct cell cell;
	pid_t before;

	begin();
	run_it();
	before = registry_keep_pid(keep);
	run_it();
	ASSERT_INT(registry_keep_pid(keep), before);
	cell = wanted();
	ASSERT_OK(registry_keep_set(keep, &cell, false, &err));
	ASSERT(registry_keep_pid(keep) != before);
	ASSERT_INT(kill(before, 0), -1);
	ASSERT_OK(registry_keep_set(keep, NULL, true, &err));
	ASSERT_INT(registry_keep_pid(keep), 0);
	end();
}

TEST(a_link_in_the_place_of_its_directory_is_refused)
{
	cleanup_free char *elsewhere = NULL;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cell cell;
	struct stat st;

	begin();
	elsewhere = xasprintf("%s/elsewhere", test_dir());
	ASSERT_INT(mkdir(elsewhere, 0755), 0);
	ASSERT_INT(symlink(elsewhere, data), 0);
	cell = wanted();
	ASSERT(registry_keep_set(keep, &cell, true, &why) < 0);
	ASSERT_INT(stat(elsewhere, &st), 0);
	ASSERT_INT(st.st_uid, 0);
	end();
}
