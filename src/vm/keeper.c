/* The keeper of a VM. */

#include "vm/keeper.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/frames.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/parse.h"
#include "base/process.h"
#include "host/cage.h"
#include "vm/console.h"
#include "vm/qmp.h"
#include "vm/silence.h"

const char *const vm_states[] = { "booting", "running", "paused", "stopping", "ended", NULL };

static const char silence[] = "it does not answer any more";
static const char reset[] = "it was reset";

/* While that much waits for the guest, nothing more is read from clients. */
#define GUEST_MOST (256u << 10)

/* A client that reads nothing has at most its window, some headers and one answer waiting. */
#define CLIENT_MOST (4 * FRAME_WINDOW)

struct client {
	struct keeper *keeper;
	int fd;
	struct loop_source *source;
	uint16_t session;   /* in the guest; 0: none */
	json_int_t command; /* of the monitor; 0: none */
	bool resumes;
	bool waits; /* for the agent */
	bool ended; /* to be closed once everything is sent */
	struct strbuf out;
	struct frame_reader reader;
};

struct keeper {
	struct keeper_fds fds;
	struct loop *loop;
	struct loop_source *listener;
	struct loop_source *monitor;
	struct loop_source *channel;
	struct loop_source *console_source;
	struct client *clients[FRAME_SESSIONS];
	uint16_t last_session;
	struct qmp qmp;
	struct console console;
	struct frame_reader guest;
	struct strbuf to_guest;
	struct loop_source *watch;
	struct silence silence;
	bool greeted;
	bool silent; /* for too long: it hangs */
	bool paused;
	bool stopping;
	bool ended;
	struct strbuf agent_state;
};

const char *keeper_trouble(const char *words, bool *ret_fatal)
{
	const char *known;

	*ret_fatal = true;
	if (strcmp(words, silence) == 0)
		return silence;
	if (strcmp(words, reset) == 0)
		return reset;
	for (size_t i = 0; (known = console_trouble_at(i, ret_fatal)); i++)
		if (strcmp(words, known) == 0)
			return known;
	return NULL;
}

static enum vm_state state_of(const struct keeper *keeper)
{
	return keeper->ended      ? VM_ENDED
	       : keeper->paused   ? VM_PAUSED
	       : keeper->stopping ? VM_STOPPING
	       : keeper->greeted  ? VM_RUNNING
				  : VM_BOOTING;
}

static void write_state(const struct keeper *keeper)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "vm %s\n", vm_states[state_of(keeper)]);
	if (keeper->silent)
		strbuf_addf(&text, "trouble %s\n", silence);
	else if (keeper->console.trouble)
		strbuf_addf(&text, "trouble %s\n", keeper->console.trouble);
	strbuf_add_mem(&text, keeper->agent_state.text,
		       MIN(keeper->agent_state.len, KEEPER_STATE_BYTES - text.len));
	while (text.len < KEEPER_STATE_BYTES)
		strbuf_add_char(&text, '\n');
	(void)!pwrite(keeper->fds.state, text.text, text.len, 0);
}

static void add_frame(struct strbuf *out, enum frame_type type, uint8_t stream, uint16_t session,
		      const void *data, size_t len)
{
	unsigned char header[FRAME_HEADER];

	frame_header(type, stream, session, len, header);
	strbuf_add_mem(out, header, sizeof(header));
	if (len > 0)
		strbuf_add_mem(out, data, len);
}

/* Write what fits of OUT to FD; -1 if the other end is gone. */
static int flush(int fd, struct strbuf *out)
{
	while (out->len > 0) {
		ssize_t len = send(fd, out->text, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno == EAGAIN ? 0 : -1;
		strbuf_drop_front(out, (size_t)len);
	}
	return 0;
}

static uint32_t events_for(const struct strbuf *out, bool reads)
{
	return (reads ? EPOLLIN : 0u) | (out->len > 0 ? EPOLLOUT : 0u);
}

static void to_guest(struct keeper *keeper, enum frame_type type, uint8_t stream, uint16_t session,
		     const void *data, size_t len)
{
	add_frame(&keeper->to_guest, type, stream, session, data, len);
}

static void drop_client(struct client *client)
{
	struct keeper *keeper = client->keeper;

	for (size_t i = 0; i < FRAME_SESSIONS; i++)
		if (keeper->clients[i] == client)
			keeper->clients[i] = NULL;
	if (client->session && keeper->greeted)
		to_guest(keeper, FRAME_CLOSE, 0, client->session, NULL, 0);
	loop_remove(client->source);
	(void)close(client->fd);
	strbuf_release(&client->out);
	free(client);
}

/* Send FRAME_EXIT, or FRAME_FAILED with the errno PROBLEM, and end the session. */
static void answer(struct client *client, int problem)
{
	unsigned char number[4];

	frame_put_number(number, (uint64_t)problem, sizeof(number));
	add_frame(&client->out, problem ? FRAME_FAILED : FRAME_EXIT, 0, 0, number, sizeof(number));
	client->session = 0;
	client->command = 0;
	client->waits = false;
	client->ended = true;
}

/* After anything has happened: send what there is, and wait for what can be handled. */
static int settle(struct keeper *keeper, struct error *err)
{
	bool room = keeper->to_guest.len < GUEST_MOST;
	size_t before;
	int r = 0;

	for (size_t i = 0; i < FRAME_SESSIONS; i++) {
		struct client *client = keeper->clients[i];

		if (!client)
			continue;
		if (flush(client->fd, &client->out) < 0 || client->out.len > CLIENT_MOST ||
		    (client->ended && client->out.len == 0)) {
			drop_client(client);
			continue;
		}
		r = loop_set_events(client->source,
				    events_for(&client->out, room && !client->ended), err);
		if (r < 0)
			return r;
	}
	before = keeper->to_guest.len;
	(void)flush(keeper->fds.channel, &keeper->to_guest);
	silence_note_waiting(&keeper->silence, before, keeper->to_guest.len);
	(void)flush(keeper->fds.monitor, &keeper->qmp.out);
	if (keeper->channel)
		r = loop_set_events(keeper->channel, events_for(&keeper->to_guest, true), err);
	return r < 0 ? r
		     : loop_set_events(keeper->monitor, events_for(&keeper->qmp.out, true), err);
}

static json_int_t send_command(struct keeper *keeper, const char *word)
{
	unsigned long long bytes;

	if (strcmp(word, "pause") == 0)
		return qmp_command(&keeper->qmp, "stop", NULL);
	if (strcmp(word, "resume") == 0)
		return qmp_command(&keeper->qmp, "cont", NULL);
	if (strcmp(word, "quit") == 0)
		return qmp_command(&keeper->qmp, "quit", NULL);
	if (strncmp(word, "size ", 5) == 0 &&
	    parse_number(word + 5, 1, INT64_MAX, &bytes, NULL) == 0)
		return qmp_command(
			&keeper->qmp, "block_resize",
			json_pack("{s:s, s:I}", "node-name", "disk", "size", (json_int_t)bytes));
	return -ENOSYS;
}

static void control(struct client *client, const struct frame *frame)
{
	cleanup_free char *word = xstrndup((const char *)frame->data, frame->len);
	struct keeper *keeper = client->keeper;
	json_int_t id;

	if (strcmp(word, "ready") == 0) {
		client->waits = true;
		if (keeper->greeted)
			answer(client, 0);
		return;
	}
	id = send_command(keeper, word);
	if (id < 0) {
		answer(client, (int)-id);
		return;
	}
	client->command = id;
	client->resumes = strcmp(word, "resume") == 0;
}

static void open_session(struct client *client, const struct frame *frame)
{
	struct keeper *keeper = client->keeper;

	if (!keeper->greeted || keeper->paused || keeper->silent) {
		answer(client, keeper->paused ? EBUSY : keeper->silent ? ETIMEDOUT : ENOTCONN);
		return;
	}
	/* A number is not used again before many others were. */
	if (++keeper->last_session == 0)
		keeper->last_session = 1;
	client->session = keeper->last_session;
	to_guest(keeper, FRAME_OPEN, 0, client->session, frame->data, frame->len);
	silence_ask(&keeper->silence);
}

static void handle_client_frame(struct client *client, const struct frame *frame)
{
	struct keeper *keeper = client->keeper;

	if (client->ended || client->command || client->waits)
		return;
	if (client->session) {
		to_guest(keeper, frame->type, frame->stream, client->session, frame->data,
			 frame->len);
	} else if (frame->type == FRAME_OPEN) {
		open_session(client, frame);
	} else if (frame->type == FRAME_CONTROL) {
		control(client, frame);
	} else if (frame->type == FRAME_GO || frame->type == FRAME_CLOCK ||
		   frame->type == FRAME_SHUTDOWN) {
		if (keeper->greeted)
			to_guest(keeper, frame->type, 0, 0, frame->data, frame->len);
		if (frame->type == FRAME_SHUTDOWN && keeper->greeted)
			keeper->stopping = true;
		write_state(keeper);
		answer(client, keeper->greeted ? 0 : ENOTCONN);
	} else {
		answer(client, EPROTO);
	}
}

/* Read frames from FD; -1 if the other end is gone or does not follow the protocol. */
static int read_into(int fd, struct frame_reader *reader)
{
	size_t room;
	unsigned char *at = frame_room(reader, &room);
	ssize_t len = recv(fd, at, room, MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0)
		return -1;
	frame_grown(reader, (size_t)len);
	return 0;
}

static int on_client(arg_unused int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	struct client *client = data;
	struct keeper *keeper = client->keeper;
	struct frame frame;
	int r = read_into(client->fd, &client->reader);

	while (r == 0 && (r = frame_next(&client->reader, &frame)) > 0) {
		handle_client_frame(client, &frame);
		r = 0;
	}
	if (r < 0)
		drop_client(client);
	return settle(keeper, err);
}

static int on_listener(int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	struct keeper *keeper = data;
	int socket = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client;
	size_t i = 0;

	if (socket < 0)
		return 0;
	while (i < FRAME_SESSIONS && keeper->clients[i])
		i++;
	if (i == FRAME_SESSIONS) {
		(void)close(socket);
		return 0;
	}
	client = xcalloc(1, sizeof(*client));
	client->keeper = keeper;
	client->fd = socket;
	client->out = STRBUF_INIT;
	client->reader.synced = true;
	keeper->clients[i] = client;
	return loop_add_fd(keeper->loop, socket, EPOLLIN, on_client, client, &client->source, err);
}

static struct client *find_session(struct keeper *keeper, uint16_t session)
{
	for (size_t i = 0; session && i < FRAME_SESSIONS; i++)
		if (keeper->clients[i] && keeper->clients[i]->session == session)
			return keeper->clients[i];
	return NULL;
}

static void end_sessions(struct keeper *keeper)
{
	for (size_t i = 0; i < FRAME_SESSIONS; i++)
		if (keeper->clients[i] && keeper->clients[i]->session)
			answer(keeper->clients[i], EPIPE);
}

/* The agent begins, perhaps again: then all sessions have ended. */
static void greet(struct keeper *keeper)
{
	unsigned char now[8];

	end_sessions(keeper);
	for (size_t i = 0; i < FRAME_SESSIONS; i++)
		if (keeper->clients[i] && keeper->clients[i]->waits)
			answer(keeper->clients[i], 0);
	frame_put_number(now, (uint64_t)clock_wall_seconds(), sizeof(now));
	strbuf_reset(&keeper->to_guest);
	strbuf_add_mem(&keeper->to_guest, frame_sync, sizeof(frame_sync));
	to_guest(keeper, FRAME_HELLO, 0, 0, NULL, 0);
	to_guest(keeper, FRAME_CLOCK, 0, 0, now, sizeof(now));
	keeper->greeted = true;
	keeper->silence.asked_ms = 0;
	write_state(keeper);
}

static void handle_guest_frame(struct keeper *keeper, const struct frame *frame)
{
	struct client *client = find_session(keeper, frame->session);

	switch (frame->type) {
	case FRAME_HELLO:
		greet(keeper);
		break;
	case FRAME_STATE:
		strbuf_reset(&keeper->agent_state);
		strbuf_add_mem(&keeper->agent_state, frame->data, frame->len);
		write_state(keeper);
		break;
	case FRAME_STARTED:
	case FRAME_DATA:
	case FRAME_CREDIT:
	case FRAME_FAILED:
	case FRAME_EXIT:
		/* Also for one who has stopped waiting. */
		if (frame->type == FRAME_STARTED || frame->type == FRAME_FAILED)
			keeper->silence.asked_ms = 0;
		if (!client || client->ended)
			break;
		add_frame(&client->out, frame->type, frame->stream, 0, frame->data, frame->len);
		if (frame->type == FRAME_EXIT || frame->type == FRAME_FAILED) {
			client->session = 0;
			client->ended = true;
		}
		break;
	default: /* not for hosts */
		break;
	}
}

/* Notice a guest that hangs, and end what waits for it: nobody waits in vain. */
static int on_watch(void *data, struct error *err)
{
	struct keeper *keeper = data;
	bool silent = silence_is_too_long(&keeper->silence, keeper->paused || !keeper->greeted);

	if (silent == keeper->silent)
		return 0;
	keeper->silent = silent;
	write_state(keeper);
	if (silent)
		end_sessions(keeper);
	return settle(keeper, err);
}

static int on_channel(arg_unused int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	struct keeper *keeper = data;
	struct frame frame;
	int r = read_into(keeper->fds.channel, &keeper->guest);

	if (r < 0) {
		/* QEMU is about to end, which the monitor tells. */
		loop_remove(take_ptr(keeper->channel));
		return settle(keeper, err);
	}
	keeper->silence.heard_ms = clock_now_ms();
	/* After wrong bytes, the reader waits for the agent to begin again. */
	while ((r = frame_next(&keeper->guest, &frame)) != 0)
		if (r > 0)
			handle_guest_frame(keeper, &frame);
	return settle(keeper, err);
}

static void on_event(const char *name, const json_t *event, void *data)
{
	struct keeper *keeper = data;
	const char *reason = json_string_value(json_object_get(event, "reason"));

	if (strcmp(name, "STOP") == 0)
		keeper->paused = true;
	else if (strcmp(name, "RESUME") == 0)
		keeper->paused = false;
	else if (strcmp(name, "GUEST_PANICKED") == 0)
		keeper->console.trouble = "its kernel panicked";
	else if (strcmp(name, "SHUTDOWN") == 0 && text_is(reason, "guest-reset") &&
		 !keeper->console.trouble)
		keeper->console.trouble = reset;
	else
		return;
	write_state(keeper);
}

static void on_answer(json_int_t id, const char *problem, void *data)
{
	struct keeper *keeper = data;
	unsigned char now[8];

	for (size_t i = 0; i < FRAME_SESSIONS; i++) {
		struct client *client = keeper->clients[i];

		if (!client || client->command != id)
			continue;
		/* The guest's clock stood still. */
		frame_put_number(now, (uint64_t)clock_wall_seconds(), sizeof(now));
		if (!problem && client->resumes && keeper->greeted)
			to_guest(keeper, FRAME_CLOCK, 0, 0, now, sizeof(now));
		answer(client, problem ? EIO : 0);
	}
}

static int on_monitor(int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct keeper *keeper = data;
	char bytes[16384];
	ssize_t len = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return settle(keeper, err);
	if (len > 0 && qmp_receive(&keeper->qmp, bytes, (size_t)len, &why) == 0)
		return settle(keeper, err);
	if (len > 0)
		log_warning("%s", why.text);
	keeper->ended = true;
	write_state(keeper);
	loop_stop(keeper->loop);
	return 0;
}

static int on_console(int fd, arg_unused uint32_t events, void *data, arg_unused struct error *err)
{
	struct keeper *keeper = data;
	char bytes[16384];
	ssize_t len = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (len > 0 && console_add(&keeper->console, bytes, (size_t)len))
		write_state(keeper);
	if (len == 0)
		loop_remove(take_ptr(keeper->console_source));
	return 0;
}

static int confine_keeper(uid_t uid, struct error *err)
{
	const struct process_limit limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_NPROC, 0 },
		{ RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_MSGQUEUE, 0 },
		{ RLIMIT_NOFILE, 256 },
		{ RLIMIT_FSIZE, 4 * KEEPER_CONSOLE_MOST },
		{ RLIMIT_DATA, CAGE_SANITIZED ? RLIM_INFINITY : 256u << 20 },
	};

	if (unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS) < 0 ||
	    !cage_leave_files() || process_lower_limits(limits, ARRAY_SIZE(limits)) < 0 ||
	    cage_drop_rights(uid, NULL) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_sys(err, "cannot confine the keeper of a VM");
	return 0;
}

static void release(struct keeper *keeper)
{
	/* QEMU is gone. */
	keeper->greeted = false;
	for (size_t i = 0; i < FRAME_SESSIONS; i++)
		if (keeper->clients[i])
			drop_client(keeper->clients[i]);
	qmp_release(&keeper->qmp);
	console_release(&keeper->console);
	strbuf_release(&keeper->to_guest);
	strbuf_release(&keeper->agent_state);
	loop_free(keeper->loop);
}

static int add_sources(struct keeper *keeper, struct error *err)
{
	const unsigned beat_ms = MIN((unsigned)FRAME_BEAT_MS, silence_most_ms);
	int r = loop_add_fd(keeper->loop, keeper->fds.listener, EPOLLIN, on_listener, keeper,
			    &keeper->listener, err);
	if (r == 0)
		r = loop_add_fd(keeper->loop, keeper->fds.monitor, EPOLLIN, on_monitor, keeper,
				&keeper->monitor, err);
	if (r == 0)
		r = loop_add_fd(keeper->loop, keeper->fds.channel, EPOLLIN, on_channel, keeper,
				&keeper->channel, err);
	if (r == 0)
		r = loop_add_fd(keeper->loop, keeper->fds.console, EPOLLIN, on_console, keeper,
				&keeper->console_source, err);
	if (r == 0)
		r = loop_add_timer(keeper->loop, beat_ms, beat_ms, on_watch, keeper, &keeper->watch,
				   err);
	return r;
}

int keeper_run(const struct keeper_fds *fds, uid_t uid, struct error *err)
{
	static struct keeper keeper;
	int r;

	keeper.fds = *fds;
	keeper.qmp = QMP_INIT;
	keeper.qmp.on_event = on_event;
	keeper.qmp.on_answer = on_answer;
	keeper.qmp.data = &keeper;
	keeper.console = CONSOLE_INIT;
	keeper.console.log = fds->log;
	keeper.to_guest = STRBUF_INIT;
	keeper.agent_state = STRBUF_INIT;
	r = loop_new(&keeper.loop, err);
	if (r < 0)
		return r;
	if (geteuid() == 0)
		r = confine_keeper(uid, err);
	write_state(&keeper);
	if (r == 0)
		r = add_sources(&keeper, err);
	if (r == 0)
		r = loop_run(keeper.loop, err);
	release(&keeper);
	return r;
}
