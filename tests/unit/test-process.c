#include <fcntl.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "test.h"

TEST(passes_the_exit_status)
{
	ASSERT_INT(process_run(ARGV("sh", "-c", "exit 7"), NULL, NULL), 7);
	ASSERT_INT(process_run(ARGV("sh", "-c", "kill -9 $$"), NULL, NULL), 137);
}

TEST(names_a_missing_program)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(process_run(ARGV("no-such-program"), NULL, &err), -ENOENT);
	ASSERT_STR(err.text, "there is no program 'no-such-program'");
}

TEST(captures_what_it_prints)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	ASSERT_INT(process_capture(ARGV("echo", "hello"), NULL, &out, NULL), 0);
	ASSERT_STR(out.text, "hello\n");
}

TEST(waits_no_longer_than_it_was_told)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;

	ASSERT_OK(process_spawn(ARGV("sleep", "60"), NULL, &process, &err));
	ASSERT_INT(process_wait(&process, clock_now_ms() + 20, NULL), -ETIMEDOUT);
}

TEST(knows_a_process_by_its_beginning)
{
	uint64_t start = process_start_time(getpid());

	ASSERT(start > 0);
	ASSERT(process_is(getpid(), start));
	ASSERT(!process_is(getpid(), start + 1));
	ASSERT(!process_is(0, start));
}

/* For programs that read what is not to be trusted. */
TEST(a_confined_program_has_no_rights_but_its_descriptors)
{
	static char script[] =
		"id -u; id -G; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; cat;"
		" cat /proc/self/fd/0 2>&1 | grep -o denied; echo ${MANYKUBE_HOME-none}";
	cleanup_with(strbuf_release) struct strbuf output = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/secret", test_folder());
	struct process_options options = { .confined_uid = 0xfffd00ff };
	cleanup_fd int fd = -1;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_OK(file_put(path, "text\n", 5, 0600, &err));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	options.stdin_fd = fd;
	ASSERT_INT(setenv("MANYKUBE_HOME", "/nowhere", 1), 0);
	/* The file is root's: what was opened can be read, but not opened again. */
	ASSERT_INT(process_capture(ARGV("sh", "-c", script), &options, &output, NULL), 0);
	ASSERT_STR(output.text, "4294770943\n4294770943\nCapEff:\t0000000000000000\n"
				"NoNewPrivs:\t1\ntext\ndenied\nnone\n");
}
