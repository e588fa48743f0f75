/* Using a VM through its keeper. */

#include "vm/session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "agent/frames.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "vm/keeper.h"

#define START_MS 60000
#define LOG_MOST (16u << 20)

/* The exit status of a program whose VM was lost. */
#define LOST 255

struct session {
	int fd;
	int64_t deadline_ms; /* for all that is sent and awaited; 0: none */
	size_t credit;       /* bytes of input that the guest takes */
	size_t received;     /* bytes of output for which the guest has no credit yet */
	struct frame_reader reader;
};

/* A path of a socket may be longer than an address allows. */
static int connect_keeper(const char *dir, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_fd int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", at,
		       KEEPER_SOCKET);
	if (at < 0 || fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return error_sys(err, "cannot connect to the VM in '%s'", dir);
	return take_fd(fd);
}

/* Whether the keeper takes more before the deadline. */
static bool await_room(const struct session *session)
{
	struct pollfd ready = { .fd = session->fd, .events = POLLOUT };

	return poll(&ready, 1, clock_left_ms(session->deadline_ms)) != 0;
}

static int send_frame(struct session *session, enum frame_type type, const void *data, size_t len)
{
	unsigned char all[FRAME_HEADER + FRAME_MOST];
	size_t done = 0;

	frame_header(type, 0, 0, len, all);
	if (len > 0)
		memcpy(all + FRAME_HEADER, data, len);
	while (done < FRAME_HEADER + len) {
		ssize_t n = send(session->fd, all + done, FRAME_HEADER + len - done,
				 MSG_NOSIGNAL | (session->deadline_ms ? MSG_DONTWAIT : 0));

		if (n < 0 && errno == EAGAIN && await_room(session))
			continue;
		if (n < 0 && errno == EAGAIN)
			return -ETIMEDOUT;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

static int gone(struct error *err)
{
	return error_set(err, -EPIPE, "the VM has ended, or its agent was restarted");
}

static int silent(struct error *err)
{
	return error_set(err, -ETIMEDOUT, "the VM does not answer");
}

/* Read what is there; -EPIPE at the end. */
static int receive(struct session *session)
{
	size_t room;
	unsigned char *at = frame_room(&session->reader, &room);
	ssize_t len = recv(session->fd, at, room, 0);

	if (len < 0 && errno == EINTR)
		return 0;
	if (len <= 0)
		return -EPIPE;
	frame_grown(&session->reader, (size_t)len);
	return 0;
}

/* Wait for the next frame until the deadline, which a guest that never stops sending meets, too. */
static int await_frame(struct session *session, struct frame *ret, struct error *err)
{
	struct pollfd ready = { .fd = session->fd, .events = POLLIN };
	int r;

	while ((r = frame_next(&session->reader, ret)) == 0) {
		int n = poll(&ready, 1, clock_left_ms(session->deadline_ms));

		if (n == 0)
			return silent(err);
		if (n > 0 && receive(session) < 0)
			return gone(err);
	}
	if (r > 0 && clock_left_ms(session->deadline_ms) == 0)
		return silent(err);
	return r < 0 ? gone(err) : 0;
}

static int begin(const char *dir, int64_t deadline_ms, struct session *ret, struct error *err)
{
	ret->fd = connect_keeper(dir, err);
	ret->deadline_ms = deadline_ms;
	ret->credit = FRAME_WINDOW;
	ret->received = 0;
	ret->reader.begin = 0;
	ret->reader.end = 0;
	ret->reader.synced = true;
	return MIN(ret->fd, 0);
}

static void end(struct session *session)
{
	cleanup_fd_(&session->fd);
}

static uint32_t number_in(const struct frame *frame)
{
	return frame->len == 4 ? (uint32_t)frame_number(frame->data, 4) : 0;
}

/* The errno in a FRAME_FAILED, which the guest may have made up. */
static int failure(const struct frame *frame, const char *what, struct error *err)
{
	uint32_t number = number_in(frame);

	errno = number > 0 && number < 134 ? (int)number : EIO;
	return error_sys(err, "cannot run '%s' in the VM", what);
}

/* Have ARGV started; returns when it runs, or at the deadline. */
static int open_program(struct session *session, char *const *argv, const char *dir,
			char *const *variables, const struct winsize *terminal, struct error *err)
{
	cleanup_free struct frame_open *open = xcalloc(1, sizeof(*open));
	unsigned char data[FRAME_MOST];
	struct frame frame;
	size_t len;
	int r;

	open->dir = dir;
	open->terminal = terminal != NULL;
	if (terminal) {
		open->rows = terminal->ws_row;
		open->columns = terminal->ws_col;
	}
	for (size_t i = 0; argv[i]; i++) {
		if (i == FRAME_WORDS)
			return error_set(err, -E2BIG, "too many arguments for a VM");
		open->words[i] = argv[i];
	}
	for (size_t i = 0; variables[i] && i < FRAME_WORDS; i++)
		open->variables[i] = variables[i];
	len = frame_put_open(open, data);
	if (len == 0)
		return error_set(err, -E2BIG, "the arguments are too long for a VM");
	r = send_frame(session, FRAME_OPEN, data, len);
	if (r < 0)
		return r == -ETIMEDOUT ? silent(err) : gone(err);
	r = await_frame(session, &frame, err);
	if (r == 0 && frame.type == FRAME_FAILED)
		r = failure(&frame, argv[0], err);
	else if (r == 0 && frame.type != FRAME_STARTED)
		r = gone(err);
	return r;
}

/* The guest may send more once LEN more bytes were passed on. */
static int credit(struct session *session, size_t len)
{
	unsigned char number[4];

	session->received += len;
	if (session->received < FRAME_WINDOW / 2)
		return 0;
	frame_put_number(number, session->received, sizeof(number));
	session->received = 0;
	return send_frame(session, FRAME_CREDIT, number, sizeof(number));
}

static char node_path[] = "PATH=/opt/manykube/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:"
			  "/usr/bin:/sbin:/bin";

/* Send as much of DATA's input as the guest takes, and its end.  A program that has ended takes
 * nothing; how it ended is still to be read. */
static void feed(struct session *session, const struct session_data *data, size_t *done,
		 bool *ended)
{
	while (!*ended && *done < data->input_len && session->credit > 0) {
		size_t most = MIN(session->credit, (size_t)FRAME_MOST);
		size_t len = MIN(data->input_len - *done, most);

		*ended = send_frame(session, FRAME_DATA, data->input + *done, len) < 0;
		*done += len;
		session->credit -= len;
	}
	if (*done == data->input_len && !*ended) {
		(void)send_frame(session, FRAME_EOF, NULL, 0);
		*ended = true;
	}
}

static int take(struct session *session, const struct session_data *data, const struct frame *frame,
		struct error *err)
{
	if (frame->stream == 1 && data->output) {
		if (frame->len > data->output_most - MIN(data->output->len, data->output_most))
			return error_set(err, -EFBIG, "the VM sent more than %zu bytes",
					 data->output_most);
		strbuf_add_mem(data->output, frame->data, frame->len);
	}
	(void)credit(session, frame->len);
	return 0;
}

int session_call(const char *dir, char *const *argv, const struct session_data *data,
		 int64_t deadline_ms, struct error *err)
{
	cleanup_free struct session *session = xcalloc(1, sizeof(*session));
	char *const variables[] = { node_path, NULL };
	struct frame frame;
	size_t done = 0;
	bool ended = false;
	int r = begin(dir, deadline_ms, session, err);

	if (r == 0)
		r = open_program(session, argv, "/", variables, NULL, err);
	while (r == 0) {
		feed(session, data, &done, &ended);
		r = await_frame(session, &frame, err);
		if (r < 0)
			break;
		if (frame.type == FRAME_EXIT) {
			r = (int)(number_in(&frame) & 0xff);
			break;
		}
		if (frame.type == FRAME_FAILED)
			r = failure(&frame, argv[0], err);
		else if (frame.type == FRAME_CREDIT)
			session->credit += MIN(number_in(&frame), FRAME_WINDOW);
		else if (frame.type == FRAME_DATA)
			r = take(session, data, &frame, err);
	}
	end(session);
	return r;
}

static int request(const char *dir, enum frame_type type, const char *data, int64_t deadline_ms,
		   struct error *err)
{
	cleanup_free struct session *session = xcalloc(1, sizeof(*session));
	struct frame frame;
	int r = begin(dir, deadline_ms, session, err);

	if (r == 0 && send_frame(session, type, data, strlen(data)) < 0)
		r = gone(err);
	if (r == 0)
		r = await_frame(session, &frame, err);
	if (r == 0 && frame.type != FRAME_EXIT) {
		uint32_t number = number_in(&frame);

		r = number > 0 && number < 134 ? -(int)number : -EIO;
		(void)error_set(err, r, "the VM: %s", strerror(-r));
	}
	end(session);
	return r;
}

int session_control(const char *dir, const char *word, int64_t deadline_ms, struct error *err)
{
	return request(dir, FRAME_CONTROL, word, deadline_ms, err);
}

int session_go(const char *dir, struct error *err)
{
	return request(dir, FRAME_GO, "", clock_now_ms() + START_MS, err);
}

int session_shut_down(const char *dir, struct error *err)
{
	return request(dir, FRAME_SHUTDOWN, "", clock_now_ms() + START_MS, err);
}

/* The streams of a program that runs in the guest, as this process has them. */
struct streams {
	int in; /* -1: its end was sent */
	int out[2];
	uint64_t left[2]; /* how many bytes may still be written */
	bool terminal;
};

static volatile sig_atomic_t resized;

static void on_resize(arg_unused int signal)
{
	resized = 1;
}

static void send_size(struct session *session, int terminal)
{
	struct winsize size;
	unsigned char data[4];

	if (ioctl(terminal, TIOCGWINSZ, &size) < 0)
		return;
	frame_put_number(data, size.ws_row, 2);
	frame_put_number(data + 2, size.ws_col, 2);
	(void)send_frame(session, FRAME_RESIZE, data, sizeof(data));
}

static void pass_input(struct session *session, struct streams *streams)
{
	char block[FRAME_MOST];
	ssize_t len = read(streams->in, block, MIN(sizeof(block), session->credit));

	if (len < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (len > 0) {
		session->credit -= (size_t)len;
		(void)send_frame(session, FRAME_DATA, block, (size_t)len);
		return;
	}
	(void)send_frame(session, FRAME_EOF, NULL, 0);
	streams->in = -1;
}

static void pass_output(struct session *session, struct streams *streams, const struct frame *frame)
{
	unsigned i = frame->stream == 2;
	size_t len = (size_t)MIN((uint64_t)frame->len, streams->left[i]);

	/* Nobody reads it any more: the program goes on. */
	if (len > 0 && file_write_all(streams->out[i], frame->data, len) < 0)
		streams->left[i] = 0;
	else
		streams->left[i] -= len;
	(void)credit(session, frame->len);
}

/* Handle the frames that are there; the program's exit status once it has ended, else -1. */
static int handle_frames(struct session *session, struct streams *streams)
{
	struct frame frame;
	int r;

	while ((r = frame_next(&session->reader, &frame)) > 0) {
		if (frame.type == FRAME_EXIT)
			return (int)(number_in(&frame) & 0xff);
		if (frame.type == FRAME_FAILED)
			return LOST;
		if (frame.type == FRAME_CREDIT)
			session->credit += MIN(number_in(&frame), FRAME_WINDOW);
		else if (frame.type == FRAME_DATA)
			pass_output(session, streams, &frame);
	}
	return r < 0 ? LOST : -1;
}

/* Relay until the program has ended; returns its exit status. */
static int relay(struct session *session, struct streams *streams)
{
	int status;

	/* Frames may have arrived with the one that told of the start. */
	while ((status = handle_frames(session, streams)) < 0) {
		struct pollfd polls[] = {
			{ .fd = session->fd, .events = POLLIN },
			{ .fd = session->credit > 0 ? streams->in : -1, .events = POLLIN },
		};

		if (poll(polls, ARRAY_SIZE(polls), -1) < 0 && errno != EINTR)
			return LOST;
		if (resized) {
			resized = 0;
			send_size(session, streams->in);
		}
		if (polls[1].revents)
			pass_input(session, streams);
		if (polls[0].revents && receive(session) < 0)
			return LOST;
	}
	return status;
}

/* In the process that stands for the program on this host. */
static _Noreturn void attend(struct session *session, const struct process_options *options,
			     struct streams *streams)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (options->dies_with_us)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (streams->terminal) {
		struct termios raw;

		(void)setsid();
		(void)ioctl(streams->in, TIOCSCTTY, 0);
		(void)signal(SIGWINCH, on_resize);
		/* The guest's terminal does what terminals do. */
		if (tcgetattr(streams->in, &raw) == 0) {
			cfmakeraw(&raw);
			(void)tcsetattr(streams->in, TCSANOW, &raw);
		}
		(void)signal(SIGTTOU, SIG_IGN);
	} else if (options->new_session) {
		(void)setsid();
	}
	_exit(relay(session, streams));
}

/* Find the streams that OPTIONS asks for; *RET_OPENED is to be closed. */
static int find_streams(const struct process_options *options, struct streams *ret, int *ret_opened,
			struct error *err)
{
	*ret = (struct streams){
		.in = options->no_stdin       ? -1
		      : options->stdin_fd > 0 ? options->stdin_fd
					      : 0,
		.out = { options->stdout_fd > 0 ? options->stdout_fd : 1,
			 options->stderr_fd > 0 ? options->stderr_fd : 2 },
		.left = { UINT64_MAX, UINT64_MAX },
	};
	ret->terminal = options->new_session && options->stdin_fd > 0 && isatty(options->stdin_fd);
	if (options->output) {
		*ret_opened = open(options->output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
				   0644);
		if (*ret_opened < 0)
			return error_sys(err, "cannot open '%s'", options->output);
		ret->out[0] = *ret_opened;
		ret->out[1] = *ret_opened;
		ret->left[0] = ret->left[1] = LOG_MOST / 2;
	}
	if (options->stdout_most)
		ret->left[0] = options->stdout_most;
	if (options->stderr_most)
		ret->left[1] = options->stderr_most;
	return 0;
}

int session_spawn(const char *dir, char *const *argv, const struct process_options *options,
		  struct process *ret_process, struct error *err)
{
	static const struct process_options nothing;
	cleanup_free struct session *session = xcalloc(1, sizeof(*session));
	cleanup_free char *term = xasprintf("TERM=%s", getenv("TERM") ?: "dumb");
	char *const variables[] = { node_path, "HOME=/root", "LANG=C.UTF-8", term, NULL };
	struct winsize size = { 0 };
	struct streams streams;
	cleanup_fd int opened = -1;
	pid_t pid;
	int r;

	if (!options)
		options = &nothing;
	r = find_streams(options, &streams, &opened, err);
	if (r == 0)
		r = begin(dir, clock_now_ms() + START_MS, session, err);
	if (r < 0)
		return r;
	if (streams.terminal)
		(void)ioctl(streams.in, TIOCGWINSZ, &size);
	r = open_program(session, argv, options->dir ? options->dir : "/",
			 options->environment ? options->environment : variables,
			 streams.terminal ? &size : NULL, err);
	if (r == 0 && streams.in < 0)
		(void)send_frame(session, FRAME_EOF, NULL, 0);
	/* The program itself may take any time. */
	session->deadline_ms = 0;
	pid = r == 0 ? fork() : -1;
	if (pid == 0)
		attend(session, options, &streams);
	if (r == 0 && pid < 0)
		r = error_sys(err, "cannot start a process");
	end(session);
	if (r < 0)
		return r;
	*ret_process = (struct process){ .pid = pid, .pidfd = pidfd_open(pid, 0) };
	return ret_process->pidfd < 0 ? error_sys(err, "cannot watch process %d", (int)pid) : 0;
}
