/* The standard streams of a program that runs in a node. */

#include "host/relay.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"

/* The most output of one program that is written to a log. */
#define LOG_MOST (16u << 20)

#define BLOCK      65536
#define PIPE_PAGES 256 /* of the largest pipe that a node can make */

int relay_silence_ms = 10 * 60 * 1000;

/* Bytes from our standard input that are not yet written to the program. */
struct input {
	char block[BLOCK];
	size_t begin;
	size_t end;
};

/* A description of the pipe FD for a program of a node, which may change its flags (O_NONBLOCK); -1
 * if FD is something else: only pipes are safe. */
static int reopen_pipe(int fd, int access)
{
	cleanup_free char *path = xasprintf("/proc/self/fd/%d", fd);
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) ||
	    (fcntl(fd, F_GETFL) & O_ACCMODE) != access)
		return -1;
	fd = open(path, access | O_NONBLOCK | O_CLOEXEC); /* which does not wait */
	return fd >= 0 && fcntl(fd, F_SETFL, 0) < 0 ? -1 : fd;
}

static bool is_same(int one, int other)
{
	struct stat a;
	struct stat b;

	return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int open_stream(struct relay *relay, int number, int fd)
{
	int ends[2];

	if (!relay->stops)
		relay->theirs[number] = reopen_pipe(fd, number ? O_WRONLY : O_RDONLY);
	if (relay->theirs[number] >= 0)
		return 0;
	/* One pipe for standard output and error preserves the order of writes. */
	if (number == STDERR_FILENO && relay->between[STDOUT_FILENO] >= 0 &&
	    is_same(fd, relay->ours[STDOUT_FILENO])) {
		relay->theirs[number] = relay->theirs[STDOUT_FILENO];
		return 0;
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	relay->ours[number] = fd;
	relay->between[number] = ends[number == STDIN_FILENO];
	relay->theirs[number] = ends[number != STDIN_FILENO];
	return fcntl(relay->between[number], F_SETFL, O_NONBLOCK);
}

/* Close all descriptors except those of RELAY, REPORT and the standard streams. */
static void close_others(const struct relay *relay, int report)
{
	unsigned from = STDERR_FILENO + 1;

	for (;;) {
		unsigned next = UINT_MAX;
		int kept[] = { report,           relay->ours[0],    relay->ours[1],
			       relay->ours[2],   relay->theirs[0],  relay->theirs[1],
			       relay->theirs[2], relay->between[0], relay->between[1],
			       relay->between[2] };

		for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
			if (kept[i] >= (int)from && (unsigned)kept[i] < next)
				next = (unsigned)kept[i];
		if (next > from)
			(void)close_range(from, next - (next != UINT_MAX), 0);
		if (next == UINT_MAX)
			return;
		from = next + 1;
	}
}

int relay_open(const struct process_options *options, int report, struct relay *ret)
{
	int given[] = { options->stdin_fd, options->stdout_fd, options->stderr_fd };
	struct relay relay = RELAY_INIT;

	/* Use the host's /dev/null: the node's may be something else. */
	if (options->no_stdin)
		relay.theirs[STDIN_FILENO] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	relay.stops = options->stdout_stops;
	/* A log is the same file for both. */
	if (options->output)
		relay.left[STDOUT_FILENO] = relay.left[STDERR_FILENO] = LOG_MOST / 2;
	if (options->stdout_most)
		relay.left[STDOUT_FILENO] = options->stdout_most;
	if (options->stderr_most)
		relay.left[STDERR_FILENO] = options->stderr_most;
	for (int i = 0; i < 3; i++) {
		if (relay.theirs[i] >= 0)
			continue;
		/* With new_session, the given descriptors are a terminal of the node. */
		if (options->new_session && given[i] > 0)
			relay.theirs[i] = given[i];
		else if (open_stream(&relay, i, given[i] > 0 ? given[i] : i) < 0)
			return -1;
	}
	close_others(&relay, report);
	*ret = relay;
	return 0;
}

int relay_become(const struct relay *relay)
{
	for (int i = 0; i < 3; i++)
		if (relay->theirs[i] != i && dup2(relay->theirs[i], i) < 0)
			return -1;
	return close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
}

static void close_stream(struct relay *relay, int number)
{
	(void)close(relay->between[number]);
	relay->between[number] = -1;
}

/* Write LEN bytes to our stream, even if it is non-blocking; false if that is over. */
static bool write_out(struct relay *relay, int number, const char *data, size_t len)
{
	struct pollfd room = { .fd = relay->ours[number], .events = POLLOUT };
	bool is_full = relay->stops && len > relay->left[number];

	len = MIN(len, relay->left[number]);
	relay->left[number] -= relay->left[number] == UINT64_MAX ? 0 : len;
	while (len > 0) {
		ssize_t written = write(relay->ours[number], data, len);

		if (written < 0 && errno == EAGAIN)
			(void)poll(&room, 1, -1);
		else if (written < 0 && errno != EINTR)
			return false;
		else if (written > 0) {
			data += written;
			len -= (size_t)written;
		}
	}
	return !is_full;
}

/* Copy one block of the program's output; false if none is available. */
static bool pass_output(struct relay *relay, int number)
{
	char block[BLOCK];
	ssize_t len = read(relay->between[number], block, sizeof(block));

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (len <= 0 || !write_out(relay, number, block, (size_t)len))
		close_stream(relay, number);
	return len > 0;
}

static void pass_input(struct relay *relay, struct input *input)
{
	ssize_t len;

	if (input->begin == input->end) {
		len = read(relay->ours[STDIN_FILENO], input->block, sizeof(input->block));
		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		/* Also on errors: our input may be a directory, or the terminal of another job. */
		if (len <= 0) {
			close_stream(relay, STDIN_FILENO);
			return;
		}
		input->begin = 0;
		input->end = (size_t)len;
	}
	len = write(relay->between[STDIN_FILENO], input->block + input->begin,
		    input->end - input->begin);
	if (len > 0)
		input->begin += (size_t)len;
	else if (errno != EAGAIN && errno != EINTR)
		close_stream(relay, STDIN_FILENO);
}

/* How long to wait for output, if the last one came at NEWS_MS; -1: any time. */
static int patience(const struct relay *relay, int64_t news_ms)
{
	return relay->stops ? clock_left_ms(news_ms + relay_silence_ms) : -1;
}

/* Tell the reader of its errors that the program was silent. */
static int give_up(const struct relay *relay)
{
	cleanup_free char *line = xasprintf("\nit has sent nothing for %d minutes\n",
					    relay_silence_ms / 60000);

	if (relay->ours[STDERR_FILENO] >= 0)
		(void)!write(relay->ours[STDERR_FILENO], line, strlen(line));
	return -ETIMEDOUT;
}

int relay_run(struct relay *relay, pid_t program)
{
	int64_t news_ms = clock_now_ms();
	struct input input = { .begin = 0 };
	struct pollfd wait[] = { { .fd = pidfd_open(program, 0), .events = POLLIN },
				 { .events = POLLIN },
				 { .events = POLLIN },
				 { .events = POLLIN },
				 { .events = POLLOUT } };

	/* Close the program's ends of the pipes, so that we see their end.  Ignoring SIGTTIN makes
	 * reading from the terminal fail for a background job. */
	for (int i = 0; i < 3; i++)
		if (relay->between[i] >= 0)
			(void)close(relay->theirs[i]);
	(void)signal(SIGTTIN, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	while (wait[0].fd >= 0 && !(wait[0].revents & POLLIN)) {
		bool full = input.begin < input.end;
		int into = relay->between[STDIN_FILENO];

		/* Wait for our input while the buffer is empty, else for room in the pipe. */
		wait[1].fd = relay->between[STDOUT_FILENO];
		wait[2].fd = relay->between[STDERR_FILENO];
		wait[3].fd = into >= 0 && !full ? relay->ours[STDIN_FILENO] : -1;
		wait[4].fd = into;
		wait[4].events = full ? POLLOUT : 0;
		if (poll(wait, ARRAY_SIZE(wait), patience(relay, news_ms)) < 0)
			continue;
		if (wait[1].revents && pass_output(relay, STDOUT_FILENO))
			news_ms = clock_now_ms();
		else if (!wait[0].revents && patience(relay, news_ms) == 0)
			return give_up(relay);
		if (wait[2].revents)
			(void)pass_output(relay, STDERR_FILENO);
		if (wait[4].revents & POLLERR)
			close_stream(relay, STDIN_FILENO);
		else if (wait[3].revents || wait[4].revents)
			pass_input(relay, &input);
	}
	/* What fits into a pipe: a program that was left behind may go on writing. */
	for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
		for (int n = 0; n < PIPE_PAGES && relay->between[i] >= 0; n++)
			if (!pass_output(relay, i))
				break;
	return 0;
}
