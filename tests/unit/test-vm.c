/* The keeper of a VM and its clients; this program is QEMU, its guest, and whoever uses both. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "agent/frames.h"
#include "base/clock.h"
#include "base/file.h"
#include "test.h"
#include "vm/console.h"
#include "vm/initrd.h"
#include "vm/keeper.h"
#include "vm/kernel.h"
#include "vm/session.h"
#include "vm/silence.h"

#define LONG_MS 10000

static int monitor = -1;
static int channel = -1;
static int console = -1;
static pid_t keeper;
static struct frame_reader from_keeper;

static int listen_here(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/" KEEPER_SOCKET, test_dir());
	ASSERT_INT(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ASSERT_INT(listen(fd, 16), 0);
	return fd;
}

static int open_here(const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", test_dir(), name);
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	ASSERT(fd >= 0);
	return fd;
}

static void make_pair(int *ret_keeper, int *ret_ours)
{
	int pair[2];

	ASSERT_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	*ret_keeper = pair[0];
	*ret_ours = pair[1];
}

static void write_all(int fd, const void *data, size_t len)
{
	ASSERT_INT(file_write_all(fd, data, len), 0);
}

/* Read a line of JSON from the keeper. */
static void read_command(char *ret, size_t size)
{
	size_t len = 0;

	do
		ASSERT_INT(read(monitor, ret + len, 1), 1);
	while (ret[len++] != '\n' && len < size - 1);
	ret[len] = '\0';
}

static void say(const char *line)
{
	write_all(monitor, line, strlen(line));
}

static void begin(void)
{
	struct keeper_fds fds;
	char line[256];
	int state;

	(void)signal(SIGPIPE, SIG_IGN);
	make_pair(&fds.monitor, &monitor);
	make_pair(&fds.channel, &channel);
	make_pair(&fds.console, &console);
	fds.listener = listen_here();
	fds.log = open_here(KEEPER_CONSOLE);
	state = open_here(KEEPER_STATE);
	/* It is written in place. */
	ASSERT_INT(fcntl(state, F_SETFL, 0), 0);
	fds.state = state;
	keeper = fork();
	if (keeper == 0) {
		(void)close(monitor);
		(void)close(channel);
		(void)close(console);
		_exit(keeper_run(&fds, 0xfffd1234, NULL) < 0);
	}
	(void)close(fds.listener);
	(void)close(fds.monitor);
	(void)close(fds.channel);
	(void)close(fds.console);
	say("{\"QMP\":{}}\n");
	read_command(line, sizeof(line));
	ASSERT(strstr(line, "qmp_capabilities"));
	say("{\"return\":{},\"id\":1}\n");
	from_keeper = (struct frame_reader){ .synced = false };
}

static void guest_sends(enum frame_type type, uint8_t stream, uint16_t session, const void *data,
			size_t len)
{
	unsigned char header[FRAME_HEADER];

	frame_header(type, stream, session, len, header);
	write_all(channel, header, sizeof(header));
	if (len > 0)
		write_all(channel, data, len);
}

static void guest_sends_number(enum frame_type type, uint16_t session, unsigned number)
{
	unsigned char data[4];

	frame_put_number(data, number, 4);
	guest_sends(type, 0, session, data, 4);
}

/* The next frame that the guest gets. */
static struct frame guest_gets(void)
{
	struct pollfd ready = { .fd = channel, .events = POLLIN };
	struct frame frame;
	int r;

	while ((r = frame_next(&from_keeper, &frame)) == 0) {
		size_t room;
		unsigned char *at = frame_room(&from_keeper, &room);
		ssize_t len;

		ASSERT_INT(poll(&ready, 1, LONG_MS), 1);
		len = read(channel, at, room);
		ASSERT(len > 0);
		frame_grown(&from_keeper, (size_t)len);
	}
	ASSERT_INT(r, 1);
	return frame;
}

static struct frame guest_gets_a(enum frame_type type)
{
	struct frame frame = guest_gets();

	ASSERT_INT(frame.type, type);
	return frame;
}

static void guest_begins(void)
{
	write_all(channel, frame_sync, sizeof(frame_sync));
	guest_sends(FRAME_HELLO, 0, 0, NULL, 0);
	/* Frames for an earlier session may come first. */
	while (guest_gets().type != FRAME_HELLO)
		;
	(void)guest_gets_a(FRAME_CLOCK);
}

/* A command of the host, in a process of its own: run a program with INPUT, and exit with its
 * status if it prints OUTPUT, else 200, or the errno if it cannot be run. */
static pid_t start_call(const char *input, const char *output)
{
	pid_t pid = fork();

	if (pid == 0) {
		cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
		const struct session_data data = { input, strlen(input), &out, 1 << 20 };
		int r = session_call(test_dir(), (char *[]){ "prog", "word", NULL }, &data,
				     clock_now_ms() + LONG_MS, NULL);

		_exit(r < 0 ? -r : strcmp(out.text, output) == 0 ? r : 200);
	}
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	ASSERT_INT(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Serve a call as a guest does; returns what it got as input. */
static void serve(uint16_t session, const char *output, unsigned status)
{
	guest_sends(FRAME_STARTED, 0, session, NULL, 0);
	guest_sends(FRAME_DATA, 1, session, output, strlen(output));
	guest_sends_number(FRAME_EXIT, session, status);
}

static void end(void)
{
	(void)close(monitor);
	ASSERT_INT(status_of(keeper), 0);
}

static bool state_has(const char *words)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/" KEEPER_STATE, test_dir());

	ASSERT_INT(file_read(path, 65536, &text, NULL), 0);
	ASSERT_INT(text.len, KEEPER_STATE_BYTES);
	return strstr(text.text, words);
}

static void await_state(const char *words)
{
	int64_t deadline = clock_now_ms() + LONG_MS;

	while (!state_has(words))
		ASSERT(clock_poll(deadline, 10));
}

TEST(a_program_gets_its_words_and_input_and_gives_output_and_status)
{
	static struct frame_open open;
	struct frame frame;
	pid_t call;

	begin();
	guest_begins();
	call = start_call("question", "answer");
	frame = guest_gets_a(FRAME_OPEN);
	ASSERT_INT(frame_read_open(frame.data, frame.len, &open), 0);
	ASSERT_STR(open.words[0], "prog");
	ASSERT_STR(open.words[1], "word");
	guest_sends(FRAME_STARTED, 0, frame.session, NULL, 0);
	frame = guest_gets_a(FRAME_DATA);
	ASSERT(frame.len == 8 && memcmp(frame.data, "question", 8) == 0);
	frame = guest_gets_a(FRAME_EOF);
	guest_sends(FRAME_DATA, 1, frame.session, "answer", 6);
	guest_sends(FRAME_DATA, 2, frame.session, "error", 5);
	guest_sends_number(FRAME_EXIT, frame.session, 5);
	ASSERT_INT(status_of(call), 5);
	end();
}

TEST(sessions_do_not_mix_and_a_closed_one_is_told)
{
	struct frame first;
	struct frame second;
	pid_t calls[2];

	begin();
	guest_begins();
	calls[0] = start_call("", "one");
	first = guest_gets_a(FRAME_OPEN);
	calls[1] = start_call("", "two");
	second = guest_gets_a(FRAME_OPEN);
	ASSERT(first.session != second.session);
	serve(second.session, "two", 2);
	ASSERT_INT(status_of(calls[1]), 2);
	ASSERT_INT(kill(calls[0], SIGKILL), 0);
	do
		second = guest_gets();
	while (second.type == FRAME_EOF);
	ASSERT_INT(second.type, FRAME_CLOSE);
	ASSERT_INT(second.session, first.session);
	end();
}

TEST(a_hostile_guest_harms_only_itself)
{
	static char junk[200000];
	struct frame frame;
	pid_t call;

	begin();
	/* Before it begins, after that, and for sessions that do not exist. */
	memset(junk, 'M', sizeof(junk));
	write_all(channel, junk, sizeof(junk));
	guest_begins();
	for (uint16_t i = 0; i < 500; i++) {
		guest_sends(FRAME_DATA, 1, i, "x", 1);
		guest_sends_number(FRAME_EXIT, i, 0);
		guest_sends(FRAME_OPEN, 0, i, "x", 1);
		guest_sends(FRAME_CONTROL, 0, i, "quit", 4);
	}
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (char)(i * 2654435761u >> 24);
	guest_sends(FRAME_STATE, 0, 0, junk, FRAME_MOST);
	write_all(channel, junk, sizeof(junk));
	guest_begins();
	/* More output than it has credit for. */
	call = start_call("", "");
	frame = guest_gets_a(FRAME_OPEN);
	guest_sends(FRAME_STARTED, 0, frame.session, NULL, 0);
	for (int i = 0; i < 200; i++)
		guest_sends(FRAME_DATA, 1, frame.session, junk, FRAME_MOST);
	ASSERT(status_of(call) != 0);
	guest_begins();
	call = start_call("", "well");
	do
		frame = guest_gets();
	while (frame.type != FRAME_OPEN);
	serve(frame.session, "well", 0);
	ASSERT_INT(status_of(call), 0);
	end();
}

TEST(an_agent_that_begins_again_ends_its_sessions)
{
	pid_t call;

	begin();
	guest_begins();
	call = start_call("", "");
	(void)guest_gets_a(FRAME_OPEN);
	write_all(channel, frame_sync, sizeof(frame_sync));
	guest_sends(FRAME_HELLO, 0, 0, NULL, 0);
	ASSERT_INT(status_of(call), EPIPE);
	end();
}

TEST(without_an_agent_nothing_runs_but_one_can_wait_for_it)
{
	pid_t call;
	pid_t waiting;

	begin();
	ASSERT(state_has("vm booting\n"));
	call = start_call("", "");
	ASSERT_INT(status_of(call), ENOTCONN);
	waiting = fork();
	if (waiting == 0)
		_exit(-session_control(test_dir(), "ready", clock_now_ms() + LONG_MS, NULL));
	guest_begins();
	ASSERT_INT(status_of(waiting), 0);
	await_state("vm running\n");
	end();
}

TEST(a_paused_vm_runs_nothing_and_gets_the_time_afterwards)
{
	char line[256];
	pid_t control;

	begin();
	guest_begins();
	for (int i = 0; i < 2; i++) {
		control = fork();
		if (control == 0)
			_exit(-session_control(test_dir(), i == 0 ? "pause" : "resume",
					       clock_now_ms() + LONG_MS, NULL));
		read_command(line, sizeof(line));
		ASSERT(strstr(line, i == 0 ? "\"stop\"" : "\"cont\""));
		say(i == 0 ? "{\"event\":\"STOP\"}\n{\"return\":{},\"id\":2}\n"
			   : "{\"event\":\"RESUME\"}\n{\"return\":{},\"id\":3}\n");
		ASSERT_INT(status_of(control), 0);
		await_state(i == 0 ? "vm paused\n" : "vm running\n");
		if (i == 0)
			ASSERT_INT(status_of(start_call("", "")), EBUSY);
	}
	(void)guest_gets_a(FRAME_CLOCK);
	end();
}

/* An agent that sends beats but starts nothing. */
TEST(a_guest_that_starts_nothing_keeps_nobody_waiting)
{
	const struct session_data data = { "", 0, NULL, 0 };
	int64_t began_ms;

	silence_most_ms = 400;
	begin();
	guest_begins();
	began_ms = clock_now_ms();
	ASSERT_INT(
		session_call(test_dir(), (char *[]){ "prog", NULL }, &data, began_ms + 100, NULL),
		-ETIMEDOUT);
	ASSERT(clock_now_ms() - began_ms < LONG_MS / 2);
	for (int i = 0; i < 200 && !state_has("\ntrouble it does not answer any more\n"); i++) {
		guest_sends(FRAME_STATE, 0, 0, "ok\n", 3);
		(void)usleep(20000);
	}
	ASSERT(state_has("\ntrouble it does not answer any more\n"));
	began_ms = clock_now_ms();
	ASSERT_INT(status_of(start_call("", "")), ETIMEDOUT);
	ASSERT(clock_now_ms() - began_ms < LONG_MS / 2);
	/* It begins again. */
	guest_begins();
	while (state_has("\ntrouble"))
		(void)usleep(20000);
	end();
}

TEST(a_guest_that_sends_without_end_meets_the_deadline)
{
	const struct session_data data = { "", 0, NULL, 0 };
	struct frame frame;
	int status;
	pid_t call;

	begin();
	guest_begins();
	call = fork();
	if (call == 0)
		_exit(-session_call(test_dir(), (char *[]){ "prog", NULL }, &data,
				    clock_now_ms() + 300, NULL));
	frame = guest_gets_a(FRAME_OPEN);
	guest_sends(FRAME_STARTED, 0, frame.session, NULL, 0);
	for (int64_t end_ms = clock_now_ms() + LONG_MS; waitpid(call, &status, WNOHANG) == 0;) {
		ASSERT(clock_now_ms() < end_ms);
		guest_sends(FRAME_DATA, 1, frame.session, "x", 1);
		(void)usleep(1000);
	}
	ASSERT_INT(WEXITSTATUS(status), ETIMEDOUT);
	end();
}

TEST(what_the_monitor_refuses_is_an_error)
{
	char line[256];
	pid_t control;

	begin();
	control = fork();
	if (control == 0)
		_exit(-session_control(test_dir(), "pause", clock_now_ms() + LONG_MS, NULL));
	read_command(line, sizeof(line));
	say("{\"error\":{\"class\":\"x\",\"desc\":\"no\"},\"id\":2}\n");
	ASSERT_INT(status_of(control), EIO);
	end();
}

TEST(a_panic_on_the_console_is_kept_and_told)
{
	static const char words[] = "[    1.0] Kernel panic - not syncing: Fatal exception\r\n";
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *log = xasprintf("%s/" KEEPER_CONSOLE, test_dir());
	bool fatal;

	begin();
	guest_begins();
	write_all(console, words, strlen(words));
	await_state("\ntrouble its kernel panicked\n");
	ASSERT_STR(keeper_trouble("its kernel panicked", &fatal), "its kernel panicked");
	ASSERT(fatal);
	ASSERT(!keeper_trouble("its owner is late", &fatal));
	end();
	ASSERT(state_has("vm ended\ntrouble its kernel panicked\n"));
	ASSERT_INT(file_read(log, 65536, &text, NULL), 0);
	ASSERT_STR(text.text, words);
}

TEST(a_console_that_is_flooded_keeps_its_end)
{
	static char flood[65536];
	struct console watched = CONSOLE_INIT;
	struct stat st;

	memset(flood, 'x', sizeof(flood));
	watched.log = open_here("flood");
	for (int i = 0; i < 100; i++)
		ASSERT(!console_add(&watched, flood, sizeof(flood)));
	ASSERT_INT(fstat(watched.log, &st), 0);
	ASSERT(st.st_size <= (off_t)(KEEPER_CONSOLE_MOST + sizeof(flood)));
	ASSERT(console_add(&watched, "\nwatchdog: BUG: soft lockup - CPU#1\n", 36));
	ASSERT_STR(watched.trouble, "its kernel reports CPUs that hang");
	console_release(&watched);
}

/* The number in hexadecimal digits at AT. */
static unsigned hex_at(const char *at)
{
	char digits[9] = "";

	(void)memcpy(digits, at, 8);
	return (unsigned)strtoul(digits, NULL, 16);
}

/* The kernel unpacks archives one after the other, each of which begins at a multiple of 4. */
TEST(an_initramfs_ends_with_the_agent_of_whoever_starts_the_vm)
{
	cleanup_with(strbuf_release) struct strbuf all = STRBUF_INIT;
	cleanup_free char *base = xasprintf("%s/base", test_dir());
	cleanup_free char *agent = xasprintf("%s/agent", test_dir());
	const char *entry;
	struct stat st;
	int fd = -1;

	ASSERT_OK(file_put(base, "shared", 6, 0644, &err));
	ASSERT_OK(file_put(agent, "agent", 5, 0755, &err));
	ASSERT_OK(initrd_make(base, agent, &fd, &err));
	ASSERT_INT(fstat(fd, &st), 0);
	ASSERT_INT(st.st_mode & 0777, 0444);
	ASSERT_INT(lseek(fd, 0, SEEK_SET), 0);
	ASSERT_OK(file_read_fd(fd, 4096, &all, &err));
	(void)close(fd);
	ASSERT_INT(all.len % 4, 0);
	ASSERT(memcmp(all.text,
		      "shared\0\0"
		      "070701",
		      14) == 0);
	entry = all.text + 8;
	ASSERT_INT(hex_at(entry + 6 + 8), S_IFREG | 0755);
	ASSERT_INT(hex_at(entry + 6 + 6 * 8), 5);
	ASSERT_INT(hex_at(entry + 6 + 11 * 8), sizeof("init"));
	ASSERT_STR(entry + 110, "init");
	/* 110 bytes and the name, up to 116. */
	ASSERT(memcmp(entry + 116,
		      "agent\0\0\0"
		      "070701",
		      14) == 0);
	ASSERT_STR(entry + 124 + 110, "TRAILER!!!");
	ASSERT_INT(initrd_make(base, "/nonexistent/agent", &fd, NULL), -ENOENT);
}

/* Make the file NAME in the test's directory, which looks like a kernel image of VERSION. */
static char *make_kernel(const char *name, const char *version)
{
	char image[2048] = { 0 };
	char *path = xasprintf("%s/%s", test_dir(), name);

	(void)memcpy(image + 514, "HdrS", 4);
	image[526] = 0x00;
	image[527] = 0x04;
	(void)snprintf(image + 512 + 0x400, 100, "%s (somebody@somewhere) #1", version);
	ASSERT_OK(file_put(path, image, sizeof(image), 0644, &err));
	return path;
}

TEST(a_kernel_of_this_host_is_taken_with_its_modules)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *cache = xasprintf("%s/cache", test_dir());
	cleanup_free char *boot = xasprintf("%s/boot", test_dir());
	cleanup_free char *modules = xasprintf("%s/lib/modules/6.0-mine/kernel/fs", test_dir());
	cleanup_free char *module = xasprintf("%s/ext4.ko", modules);
	cleanup_free char *log = xasprintf("%s/log", test_dir());
	cleanup_free char *kernel = NULL;
	cleanup_free char *taken = NULL;
	cleanup_free char *image = NULL;
	cleanup_free char *dir = NULL;
	cleanup_free char *again = NULL;

	ASSERT_OK(file_make_dirs(boot, 0755, &err));
	kernel = make_kernel("boot/linux", "6.0-mine");
	ASSERT_OK(vm_kernel_check(kernel, &err));
	ASSERT_INT(vm_kernel_ensure(cache, kernel, log, true, &dir, &why), -EIO);
	ASSERT(strstr(why.text, "there are no modules of the kernel 6.0-mine"));
	ASSERT_OK(file_make_dirs(modules, 0755, &err));
	ASSERT_OK(file_put(module, "module", 6, 0644, &err));
	ASSERT_OK(vm_kernel_ensure(cache, kernel, log, true, &dir, &err));
	image = xasprintf("%s/boot/vmlinuz-6.0-mine", dir);
	taken = xasprintf("%s/lib/modules/6.0-mine/kernel/fs/ext4.ko", dir);
	ASSERT(file_exists(image) && file_exists(taken));
	/* It is there, whatever became of the file's modules. */
	ASSERT_INT(unlink(module), 0);
	ASSERT_OK(vm_kernel_ensure(cache, kernel, log, true, &again, &err));
	ASSERT_STR(again, dir);
}

TEST(what_is_no_kernel_is_refused)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/vmlinux", test_dir());

	ASSERT_INT(vm_kernel_check("/nonexistent", &why), -EINVAL);
	ASSERT_OK(file_put(path, "\177ELF", 4, 0644, &err));
	ASSERT_INT(vm_kernel_check(path, &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(strstr(why.text, "neither a kernel image nor a Debian package"));
}
