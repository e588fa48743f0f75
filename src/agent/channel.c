/* The agent's side of a VM's channel. */

#include "agent/channel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "agent/frames.h"
#include "agent/program.h"
#include "agent/text.h"

#define PORT_NAME "manykube"

/* How long to wait for a host that has not answered yet, and between looks at the state. */
static const int tick_ms = 1000;

struct session {
	bool used;
	uint16_t id;
	struct program program;
	bool ended; /* STATUS is that of the program */
	uint32_t status;
	size_t credit; /* bytes of output that the host takes */
	size_t begin;  /* input that the program has not taken: from BEGIN to END */
	size_t end;
	bool input_ends;
	unsigned char input[FRAME_WINDOW];
};

static struct session *sessions[FRAME_SESSIONS];
static struct frame_reader reader;
static int port = -1;
static bool greeted;

static void send_frame(enum frame_type type, uint8_t stream, uint16_t session, const void *data,
		       size_t len)
{
	unsigned char header[FRAME_HEADER];

	frame_header(type, stream, session, len, header);
	write_all(port, header, sizeof(header));
	if (len > 0)
		write_all(port, data, len);
}

static void send_number(enum frame_type type, uint16_t session, uint64_t number)
{
	unsigned char data[4];

	frame_put_number(data, number, sizeof(data));
	send_frame(type, 0, session, data, sizeof(data));
}

/* What an earlier process left unfinished is no frame any more after that many zeros. */
static void send_hello(void)
{
	static const unsigned char zeros[FRAME_MOST + FRAME_HEADER];

	write_all(port, zeros, sizeof(zeros));
	write_all(port, frame_sync, sizeof(frame_sync));
	send_frame(FRAME_HELLO, 0, 0, NULL, 0);
}

static int find_port(void)
{
	DIR *ports = opendir("/sys/class/virtio-ports");
	struct dirent *entry;
	int fd = -1;

	while (ports && fd < 0 && (entry = readdir(ports))) {
		char path[320];
		char name[64];
		ssize_t len;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name",
			       entry->d_name);
		len = read_file(path, name, sizeof(name) - 1);
		if (len <= 0 || strcmp(name, PORT_NAME "\n") != 0)
			continue;
		(void)snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (ports)
		(void)closedir(ports);
	return fd;
}

static struct session **find_session(uint16_t id)
{
	for (unsigned i = 0; i < FRAME_SESSIONS; i++)
		if (sessions[i] && sessions[i]->id == id)
			return &sessions[i];
	return NULL;
}

static void drop_session(struct session **place)
{
	struct session *session = *place;

	program_end(&session->program);
	free(session);
	*place = NULL;
}

static void drop_all(void)
{
	for (unsigned i = 0; i < FRAME_SESSIONS; i++)
		if (sessions[i])
			drop_session(&sessions[i]);
}

static void open_session(const struct frame *frame)
{
	static struct frame_open request;
	struct session **place = NULL;
	struct session *session;
	int problem;

	for (unsigned i = 0; i < FRAME_SESSIONS && !place; i++)
		if (!sessions[i])
			place = &sessions[i];
	session = place && !find_session(frame->session) ? calloc(1, sizeof(*session)) : NULL;
	if (!session || frame_read_open(frame->data, frame->len, &request) < 0) {
		free(session);
		send_number(FRAME_FAILED, frame->session, session ? EINVAL : EAGAIN);
		return;
	}
	session->id = frame->session;
	session->credit = FRAME_WINDOW;
	problem = program_start(&request, &session->program);
	if (problem) {
		free(session);
		send_number(FRAME_FAILED, frame->session, (uint64_t)problem);
		return;
	}
	*place = session;
	send_frame(FRAME_STARTED, 0, session->id, NULL, 0);
}

static void close_input(struct session *session)
{
	if (session->program.input < 0)
		return;
	/* The end of a terminal's input is a character. */
	if (session->program.terminal)
		(void)!write(session->program.input, "\4", 1);
	else
		(void)close(session->program.input);
	session->program.input = -1;
}

static void take_input(struct session *session, const struct frame *frame)
{
	if (session->begin > 0) {
		memmove(session->input, session->input + session->begin,
			session->end - session->begin);
		session->end -= session->begin;
		session->begin = 0;
	}
	if (frame->len > sizeof(session->input) - session->end)
		return;
	memcpy(session->input + session->end, frame->data, frame->len);
	session->end += frame->len;
}

static void pass_input(struct session *session)
{
	size_t len = session->end - session->begin;
	ssize_t done = len;

	if (len > 0 && session->program.input >= 0)
		done = write(session->program.input, session->input + session->begin, len);
	if (done < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (done < 0) {
		close_input(session);
		done = (ssize_t)len;
	}
	session->begin += (size_t)done;
	if (done > 0)
		send_number(FRAME_CREDIT, session->id, (uint64_t)done);
	if (session->begin == session->end && session->input_ends)
		close_input(session);
}

/* Pass on output of STREAM; false at its end, or if there is none now. */
static bool pass_output(struct session *session, unsigned stream)
{
	static unsigned char data[FRAME_MOST];
	size_t most = session->credit < sizeof(data) ? session->credit : sizeof(data);
	int *fd = &session->program.outputs[stream - 1];
	ssize_t len;

	if (*fd < 0 || most == 0)
		return false;
	len = read(*fd, data, most);
	if (len > 0) {
		session->credit -= (size_t)len;
		send_frame(FRAME_DATA, (uint8_t)stream, session->id, data, (size_t)len);
		return true;
	}
	if (len == 0 || (errno != EAGAIN && errno != EINTR)) {
		if (*fd != session->program.input)
			(void)close(*fd);
		*fd = -1;
	}
	return false;
}

static void set_clock(const struct frame *frame)
{
	struct timespec now = { 0 };

	if (frame->len != 8)
		return;
	now.tv_sec = (time_t)frame_number(frame->data, 8);
	(void)clock_settime(CLOCK_REALTIME, &now);
}

static void handle_for_session(const struct frame *frame)
{
	struct session **place = find_session(frame->session);
	struct session *session = place ? *place : NULL;

	if (!session)
		return;
	if (frame->type == FRAME_DATA) {
		take_input(session, frame);
	} else if (frame->type == FRAME_EOF) {
		session->input_ends = true;
	} else if (frame->type == FRAME_CREDIT && frame->len == 4) {
		session->credit += frame_number(frame->data, 4);
	} else if (frame->type == FRAME_RESIZE && frame->len == 4) {
		program_resize(&session->program, (uint16_t)frame_number(frame->data, 2),
			       (uint16_t)frame_number(frame->data + 2, 2));
	} else if (frame->type == FRAME_CLOSE) {
		drop_session(place);
	}
}

static void handle(const struct frame *frame, int go)
{
	switch (frame->type) {
	case FRAME_HELLO:
		greeted = true;
		break;
	case FRAME_OPEN:
		open_session(frame);
		break;
	case FRAME_GO:
		(void)!write(go, "g", 1);
		break;
	case FRAME_CLOCK:
		set_clock(frame);
		break;
	case FRAME_SHUTDOWN:
		(void)kill(1, SIGTERM);
		break;
	default:
		handle_for_session(frame);
		break;
	}
}

/* Read from the host; false if the channel is broken. */
static bool receive(int go)
{
	struct frame frame;
	size_t room;
	unsigned char *at = frame_room(&reader, &room);
	ssize_t len = read(port, at, room);
	int r;

	if (len <= 0)
		return len < 0 && (errno == EINTR || errno == EAGAIN);
	frame_grown(&reader, (size_t)len);
	while ((r = frame_next(&reader, &frame)) > 0)
		handle(&frame, go);
	return r == 0;
}

static void send_state(const char *path)
{
	static char before[FRAME_MOST + 1];
	static char now[FRAME_MOST + 1];
	static int64_t sent_ms;
	ssize_t len = read_file(path, now, FRAME_MOST);

	if (len < 0) {
		len = 0;
		now[0] = '\0';
	}
	/* The host takes silence for a guest that hangs. */
	if (strcmp(now, before) == 0 && now_ms() - sent_ms < FRAME_BEAT_MS)
		return;
	sent_ms = now_ms();
	memcpy(before, now, sizeof(before));
	send_frame(FRAME_STATE, 0, 0, now, (size_t)len);
}

/* Note which programs have ended.  Orphans belong to PID 1. */
static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (unsigned i = 0; i < FRAME_SESSIONS; i++)
			if (sessions[i] && sessions[i]->program.pid == pid) {
				sessions[i]->ended = true;
				sessions[i]->program.pid = -1;
				sessions[i]->status = (uint32_t)(WIFSIGNALED(status)
									 ? 128 + WTERMSIG(status)
									 : WEXITSTATUS(status));
			}
}

/* Once a program has ended, what it wrote is passed on, but not what others write that it left
 * behind. */
static void serve_session(struct session **place)
{
	struct session *session = *place;
	bool more;

	pass_input(session);
	do {
		more = pass_output(session, 1);
		more |= pass_output(session, 2);
	} while (more && session->ended);
	if (!session->ended || session->credit == 0)
		return;
	send_number(FRAME_EXIT, session->id, session->status);
	drop_session(place);
}

static void wait_for_events(int wake)
{
	struct pollfd polls[2 + 3 * FRAME_SESSIONS];
	unsigned n = 0;

	polls[n++] = (struct pollfd){ .fd = port, .events = POLLIN };
	polls[n++] = (struct pollfd){ .fd = wake, .events = POLLIN };
	for (unsigned i = 0; i < FRAME_SESSIONS; i++) {
		const struct session *session = sessions[i];

		if (!session)
			continue;
		if (session->begin < session->end && session->program.input >= 0)
			polls[n++] = (struct pollfd){ .fd = session->program.input,
						      .events = POLLOUT };
		for (int k = 0; k < 2 && session->credit > 0; k++)
			polls[n++] = (struct pollfd){ .fd = session->program.outputs[k],
						      .events = POLLIN };
	}
	(void)poll(polls, n, tick_ms);
	/* Without a host at the other end, the port is always ready. */
	if (polls[0].revents & POLLHUP)
		(void)poll(NULL, 0, 100);
}

static int wake_write = -1;

static void on_child(int signal)
{
	int saved = errno;

	(void)signal;
	(void)!write(wake_write, "c", 1);
	errno = saved;
}

int channel_serve(int go, const char *state_file)
{
	char bytes[64];
	int wake[2];

	port = find_port();
	if (port < 0 || pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0) {
		say("cannot open the channel to the host: ", strerror(errno), NULL);
		(void)poll(NULL, 0, tick_ms);
		return EXIT_FAILURE;
	}
	wake_write = wake[1];
	(void)signal(SIGCHLD, on_child);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)fcntl(port, F_SETFL, O_RDWR);
	send_hello();
	for (;;) {
		struct pollfd ready = { .fd = port, .events = POLLIN };

		wait_for_events(wake[0]);
		while (read(wake[0], bytes, sizeof(bytes)) > 0)
			;
		if (poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN) && !receive(go)) {
			drop_all();
			return EXIT_FAILURE;
		}
		reap();
		for (unsigned i = 0; i < FRAME_SESSIONS; i++)
			if (sessions[i])
				serve_session(&sessions[i]);
		if (greeted)
			send_state(state_file);
	}
}
