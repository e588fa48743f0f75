#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "host/cage.h"
#include "host/namespace.h"
#include "test.h"

/* See driver/native-disk.c. */
#define TOOLS_FIRST 0xfffc0000u

/* The exit status of PROVE, run in a process that is confined, and what it wrote to stderr. */
static int confined(int (*prove)(void), struct strbuf *ret_log)
{
	pid_t parent = getpid();
	int ends[2];
	int status;
	pid_t pid;

	ASSERT(pipe2(ends, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		cage_enter(cage_uid("test"), parent, 64u << 20);
		_exit(prove());
	}
	(void)close(ends[1]);
	ASSERT_OK(file_read_fd(ends[0], 65536, ret_log, &err));
	(void)close(ends[0]);
	ASSERT(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#define REFUSED(call) ((call) < 0 && errno == EPERM)

static int try_forbidden(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || page == MAP_FAILED)
		return 1;
	if (!REFUSED(open("/", O_RDONLY | O_CLOEXEC)) ||
	    !REFUSED(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY)))
		return 2;
	if (!REFUSED(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) ||
	    !REFUSED(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)) ||
	    !REFUSED(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) ||
	    !REFUSED(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP)) ||
	    !REFUSED(setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &(int){ 1 }, sizeof(int))))
		return 3;
	if (!REFUSED(bind(fd, (struct sockaddr *)&any, sizeof(any))) || !REFUSED(listen(fd, 1)))
		return 4;
	if (!REFUSED(mprotect(page, 4096, PROT_READ | PROT_EXEC)) ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		    MAP_FAILED)
		return 5;
	if (!REFUSED(kill(getppid(), 0)) || !REFUSED(syscall(SYS_tgkill, 1, 1, 0)) ||
	    !REFUSED(ptrace(PTRACE_TRACEME, 0, 0, 0)) ||
	    !REFUSED(syscall(SYS_execve, "/bin/true", NULL, NULL)))
		return 6;
	if (!REFUSED(fork()) || !REFUSED(setuid(0)) || !REFUSED(unlink("/x")))
		return 7;
	if (signal(SIGSYS, SIG_IGN) != SIG_ERR)
		return 8;
	return 0;
}

TEST(forbidden_system_calls_fail_and_are_logged)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;
	cleanup_free char *named = xasprintf("was refused the system call %04d", SYS_listen);

	ASSERT_INT(confined(try_forbidden, &log), 0);
	if (!strstr(log.text, named))
		test_fail(__FILE__, __LINE__, "not logged: %s", log.text);
}

static int try_memory(void)
{
	size_t most = 64u << 20;

	if (mmap(NULL, most / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	    MAP_FAILED)
		return 1;
	return CAGE_SANITIZED || mmap(NULL, most, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
		       ? 0
		       : 2;
}

static int try_needed(void)
{
	char byte;
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	char *large = malloc(4 << 20);
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0 || epoll < 0 || !large || getrandom(&byte, 1, 0) != 1)
		return 1;
	free(realloc(large, 8 << 20));
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 || epoll_wait(epoll, &event, 1, 1) != 0)
		return 2;
	if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){ 1 }, sizeof(int)) < 0)
		return 3;
	return fcntl(fd, F_DUPFD_CLOEXEC, 3) < 0 ? 4 : 0;
}

TEST(what_the_worker_needs_is_allowed)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;

	ASSERT_INT(confined(try_needed, &log), 0);
	if (strstr(log.text, "system call"))
		test_fail(__FILE__, __LINE__, "refused: %s", log.text);
}

static int give_up(void)
{
	abort();
}

TEST(the_worker_can_still_abort)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;

	ASSERT_INT(confined(give_up, &log), 128 + SIGABRT);
}

TEST(ids_of_workers_are_above_all_others)
{
	ASSERT(cage_uid("") >= CAGE_UID_FIRST);
	ASSERT(cage_uid("a") != cage_uid("b"));
	for (int i = 0; i < 1000; i++) {
		cleanup_free char *name = xasprintf("/var/lib/manykube/%d", i);

		ASSERT(cage_uid(name) - CAGE_UID_FIRST < 0x10000);
		/* The keeper has the next one. */
		ASSERT(cage_machine_uid(name) >= CAGE_MACHINE_UID_FIRST);
		ASSERT(cage_machine_uid(name) + 1 < TOOLS_FIRST);
		ASSERT_INT(cage_machine_uid(name) % 2, 0);
	}
	ASSERT(cage_machine_uid("/a/nodes/vm") != cage_machine_uid("/b/nodes/vm"));
	/* No user namespace of a node reaches them. */
	ASSERT(NAMESPACE_UID_FIRST + UINT64_C(256) * NAMESPACE_IDS <= CAGE_MACHINE_UID_FIRST);
}

TEST(the_memory_of_a_worker_is_limited)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;

	ASSERT_INT(confined(try_memory, &log), 0);
}
