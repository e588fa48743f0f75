/* The unit test harness. */

#include "test.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/file.h"

#define EXIT_SKIPPED     77
#define SKIP_REASON_SIZE 256

static struct test *tests;
static struct test **last = &tests;
static char *dir;
static char *skip_reason; /* shared with the child that runs a test */

void test_add(struct test *test)
{
	*last = test;
	last = &test->next;
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("# %s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	_exit(EXIT_FAILURE);
}

void test_skip(const char *reason)
{
	(void)snprintf(skip_reason, SKIP_REASON_SIZE, "%s", reason);
	fflush(stdout);
	_exit(EXIT_SKIPPED);
}

const char *test_dir(void)
{
	return dir;
}

int test_listen(const char *address, uint16_t port)
{
	struct sockaddr_in name = { .sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = inet_addr(address) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ASSERT_INT(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	ASSERT_INT(listen(fd, 10), 0);
	return fd;
}

uint16_t test_port(int fd)
{
	struct sockaddr_in name;
	socklen_t len = sizeof(name);

	ASSERT_INT(getsockname(fd, (struct sockaddr *)&name, &len), 0);
	return ntohs(name.sin_port);
}

/* Run TEST in a child; returns its exit status. */
static int run_apart(struct test *test)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return EXIT_FAILURE;
	if (pid == 0) {
		test->run();
		fflush(stdout);
		/* exit() runs the leak checker for every test. */
		exit(EXIT_SUCCESS);
	}
	(void)waitpid(pid, &status, 0);
	if (WIFSIGNALED(status)) {
		printf("# killed by signal %d\n", WTERMSIG(status));
		return EXIT_FAILURE;
	}
	return WEXITSTATUS(status);
}

int main(void)
{
	unsigned count = 0;
	unsigned failed = 0;

	skip_reason = mmap(NULL, SKIP_REASON_SIZE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED) {
		perror("mmap");
		return EXIT_FAILURE;
	}
	for (struct test *test = tests; test; test = test->next) {
		char in_memory[] = "/dev/shm/manykube-test-XXXXXX";
		char on_disk[] = "/tmp/manykube-test-XXXXXX";
		int status;

		/* Rounds in a fake world would spend most of the time waiting for the disk. */
		dir = mkdtemp(in_memory);
		if (!dir)
			dir = mkdtemp(on_disk);
		if (!dir) {
			perror("mkdtemp");
			return EXIT_FAILURE;
		}
		status = run_apart(test);
		(void)file_remove_tree(dir, NULL);
		count++;
		if (status == EXIT_SKIPPED) {
			printf("ok %u %s # SKIP %s\n", count, test->name, skip_reason);
		} else if (status == 0) {
			printf("ok %u %s\n", count, test->name);
		} else {
			printf("not ok %u %s\n", count, test->name);
			failed++;
		}
	}
	printf("1..%u\n", count);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
