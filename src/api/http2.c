#include "api/http2.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/hpack.h"
#include "base/alloc.h"
#include "base/clock.h"

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

#define HEAD_BYTES  9
#define FRAME_BYTES ((size_t)16384)    /* the most in a frame, for both sides */
#define BLOCK_BYTES ((size_t)64 << 10) /* the most of headers that we read */
#define WINDOW      65535              /* what either side may send before it hears more */
#define WINDOW_MOST INT32_MAX

enum frame_type {
	FRAME_DATA = 0,
	FRAME_HEADERS = 1,
	FRAME_RST_STREAM = 3,
	FRAME_SETTINGS = 4,
	FRAME_PUSH_PROMISE = 5,
	FRAME_PING = 6,
	FRAME_GOAWAY = 7,
	FRAME_WINDOW_UPDATE = 8,
	FRAME_CONTINUATION = 9,
};

#define FLAG_ACK         0x1
#define FLAG_END_STREAM  0x1
#define FLAG_END_HEADERS 0x4
#define FLAG_PADDED      0x8
#define FLAG_PRIORITY    0x20

#define SETTING_TABLE_BYTES 1
#define SETTING_PUSH        2
#define SETTING_WINDOW      4

#define CODE_REFUSED 7

#define STREAM_MOST 0x7fffffffu

struct http2 {
	int fd;
	struct strbuf input;   /* received, not read yet */
	struct strbuf block;   /* headers that CONTINUATION goes on with */
	uint32_t block_stream; /* the stream of that; 0: none */
	bool block_ends;       /* the stream ends with it */
	bool settled;          /* the server's first settings have come */
	bool over;
	uint32_t stream; /* of the request, 0 before the first */
	bool answered;   /* the answer is complete */

	/* What we may send. */
	int64_t window;
	int64_t stream_window;
	int64_t first_window; /* of a new stream */
};

struct frame {
	enum frame_type type;
	unsigned flags;
	uint32_t stream;
	const unsigned char *data; /* in the input */
	size_t len;
};

static int refuse_bytes(struct error *err)
{
	return error_set(err, -EBADMSG, "the server does not speak HTTP/2 correctly");
}

static int refuse_late(struct error *err)
{
	return error_set(err, -ETIMEDOUT, "the server did not answer in time");
}

static uint32_t read_u32(const unsigned char *data)
{
	return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static void add_u32(struct strbuf *buf, uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		strbuf_add_char(buf, (char)(value >> shift));
}

static void add_frame(struct strbuf *buf, enum frame_type type, unsigned flags, uint32_t stream,
		      const void *data, size_t len)
{
	strbuf_add_char(buf, (char)(len >> 16));
	strbuf_add_char(buf, (char)(len >> 8));
	strbuf_add_char(buf, (char)len);
	strbuf_add_char(buf, (char)type);
	strbuf_add_char(buf, (char)flags);
	add_u32(buf, stream);
	strbuf_add_mem(buf, data, len);
}

/* Let the server send BYTES more in STREAM, 0 for the whole connection. */
static void add_window(struct strbuf *buf, uint32_t stream, size_t bytes)
{
	cleanup_with(strbuf_release) struct strbuf data = STRBUF_INIT;

	add_u32(&data, (uint32_t)bytes);
	add_frame(buf, FRAME_WINDOW_UPDATE, 0, stream, data.text, data.len);
}

static int wait_for(const struct http2 *http2, short events, int64_t deadline_ms, struct error *err)
{
	for (;;) {
		struct pollfd wait = { .fd = http2->fd, .events = events };
		int left_ms = clock_left_ms(deadline_ms);
		int n = left_ms > 0 ? poll(&wait, 1, left_ms) : 0;

		if (n > 0)
			return 0;
		if (n == 0)
			return refuse_late(err);
		if (errno != EINTR)
			return error_sys(err, "cannot wait for the server");
	}
}

static int send_all(const struct http2 *http2, const struct strbuf *buf, int64_t deadline_ms,
		    struct error *err)
{
	size_t done = 0;

	while (done < buf->len) {
		ssize_t n = send(http2->fd, buf->text + done, buf->len - done, MSG_NOSIGNAL);
		int r = 0;

		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN)
			r = wait_for(http2, POLLOUT, deadline_ms, err);
		else if (errno != EINTR)
			r = error_sys(err, "cannot send to the server");
		if (r < 0)
			return r;
	}
	return 0;
}

/* Send FRAMES that the server asks for while it answers.  One that has answered may be gone: what
 * it sent is still there to be read. */
static int reply(struct http2 *http2, const struct strbuf *frames, int64_t deadline_ms,
		 struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = send_all(http2, frames, deadline_ms, &why);

	if (r == -EPIPE || r == -ECONNRESET) {
		http2->over = true;
		return 0;
	}
	return r < 0 ? error_move(err, r, &why) : 0;
}

int http2_connect(const char *path, struct http2 **ret_http2, struct error *err)
{
	cleanup_with(http2_freep) struct http2 *http2 = xcalloc(1, sizeof(*http2));
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*http2 = (struct http2){ .fd = -1,
				 .input = STRBUF_INIT,
				 .block = STRBUF_INIT,
				 .window = WINDOW,
				 .first_window = WINDOW };
	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, -ENAMETOOLONG, "the path '%s' is too long for a socket",
				 path);
	memcpy(address.sun_path, path, strlen(path));
	http2->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (http2->fd < 0)
		return error_sys(err, "cannot make a socket");
	if (connect(http2->fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno == ENOENT)
			errno = ECONNREFUSED;
		return error_sys(err, "cannot connect to '%s'", path);
	}
	*ret_http2 = take_ptr(http2);
	return 0;
}

void http2_free(struct http2 *http2)
{
	cleanup_fd_(&http2->fd);
	strbuf_release(&http2->input);
	strbuf_release(&http2->block);
	free(http2);
}

bool http2_is_over(const struct http2 *http2)
{
	struct pollfd wait = { .fd = http2->fd, .events = POLLRDHUP };

	return http2->over || http2->stream >= STREAM_MOST - 2 || poll(&wait, 1, 0) != 0;
}

/* Begin the connection: the server need never wait for us to make room, as answers are limited, and
 * must keep no headers of ours in mind. */
static void add_preface(struct strbuf *buf)
{
	static const unsigned char settings[] = {
		0, SETTING_TABLE_BYTES, 0,    0,    0,    0,    /* */
		0, SETTING_PUSH,        0,    0,    0,    0,    /* */
		0, SETTING_WINDOW,      0x7f, 0xff, 0xff, 0xff, /* */
	};

	strbuf_add(buf, PREFACE);
	add_frame(buf, FRAME_SETTINGS, 0, 0, settings, sizeof(settings));
	add_window(buf, 0, WINDOW_MOST - WINDOW);
}

/* Read the frame at the beginning of the input: 1 if it is complete, 0 if not. */
static int find_frame(const struct http2 *http2, struct frame *ret, struct error *err)
{
	const unsigned char *data = (const unsigned char *)http2->input.text;
	size_t len;

	if (http2->input.len < HEAD_BYTES)
		return 0;
	len = read_u32(data) >> 8;
	if (len > FRAME_BYTES)
		return refuse_bytes(err);
	*ret = (struct frame){
		.type = data[3],
		.flags = data[4],
		.stream = read_u32(data + 5) & STREAM_MOST,
		.data = data + HEAD_BYTES,
		.len = len,
	};
	return http2->input.len - HEAD_BYTES >= len;
}

static int next_frame(struct http2 *http2, int64_t deadline_ms, struct frame *ret,
		      struct error *err)
{
	for (;;) {
		int r = find_frame(http2, ret, err);
		ssize_t n;

		if (r != 0)
			return r;
		n = recv(http2->fd, strbuf_grow(&http2->input, FRAME_BYTES), FRAME_BYTES, 0);
		if (n > 0)
			strbuf_grown(&http2->input, (size_t)n);
		else if (n == 0)
			return error_set(err, -EIO, "the server closed the connection");
		else if (errno == EAGAIN)
			r = wait_for(http2, POLLIN, deadline_ms, err);
		else if (errno != EINTR)
			r = error_sys(err, "cannot receive from the server");
		if (r < 0)
			return r;
	}
}

/* Take the padding of FRAME away, and a priority. */
static bool trim_frame(struct frame *frame)
{
	size_t skip = 0;
	size_t pad = 0;

	if (frame->flags & FLAG_PADDED) {
		if (frame->len == 0)
			return false;
		pad = frame->data[0];
		skip = 1;
	}
	if (frame->type == FRAME_HEADERS && frame->flags & FLAG_PRIORITY)
		skip += 5;
	if (frame->len < skip + pad)
		return false;
	frame->data += skip;
	frame->len -= skip + pad;
	return true;
}

static int take_data(struct http2 *http2, struct frame *frame, const struct http2_request *request,
		     struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf more = STRBUF_INIT;
	const size_t counted = frame->len;

	if (!trim_frame(frame) || frame->stream == 0)
		return refuse_bytes(err);
	if (frame->stream == http2->stream) {
		if (frame->len > request->limit - request->answer->len)
			return error_set(err, -EMSGSIZE, "the server's answer is too long");
		strbuf_add_mem(request->answer, frame->data, frame->len);
		http2->answered = frame->flags & FLAG_END_STREAM;
	}
	if (counted == 0)
		return 0;
	/* A stream's own window is larger than any answer. */
	add_window(&more, 0, counted);
	return reply(http2, &more, request->deadline_ms, err);
}

static int read_block(struct http2 *http2, const struct http2_request *request, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf name = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;
	struct hpack block = { (const unsigned char *)http2->block.text, http2->block.len };
	int r;

	while ((r = hpack_next(&block, &name, &value)) > 0)
		if (http2->block_stream == http2->stream)
			request->take_header(&name, &value, request->arg);
	if (r < 0)
		return refuse_bytes(err);
	if (http2->block_stream == http2->stream)
		http2->answered = http2->block_ends;
	http2->block_stream = 0;
	return 0;
}

static int take_headers(struct http2 *http2, struct frame *frame,
			const struct http2_request *request, struct error *err)
{
	if (frame->type == FRAME_HEADERS) {
		if (frame->stream == 0 || !trim_frame(frame))
			return refuse_bytes(err);
		strbuf_reset(&http2->block);
		http2->block_stream = frame->stream;
		http2->block_ends = frame->flags & FLAG_END_STREAM;
	} else if (http2->block_stream == 0 || http2->block_stream != frame->stream) {
		return refuse_bytes(err);
	}
	if (http2->block.len + frame->len > BLOCK_BYTES)
		return error_set(err, -EMSGSIZE, "the server's headers are too long");
	strbuf_add_mem(&http2->block, frame->data, frame->len);
	return frame->flags & FLAG_END_HEADERS ? read_block(http2, request, err) : 0;
}

static int take_settings(struct http2 *http2, const struct frame *frame, int64_t deadline_ms,
			 struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf ack = STRBUF_INIT;

	if (frame->flags & FLAG_ACK)
		return 0;
	if (frame->len % 6 != 0)
		return refuse_bytes(err);
	for (size_t i = 0; i < frame->len; i += 6) {
		const unsigned char *setting = frame->data + i;
		const uint32_t value = read_u32(setting + 2);

		if (setting[0] != 0 || setting[1] != SETTING_WINDOW)
			continue;
		if (value > WINDOW_MOST)
			return refuse_bytes(err);
		http2->stream_window += (int64_t)value - http2->first_window;
		http2->first_window = value;
	}
	http2->settled = true;
	add_frame(&ack, FRAME_SETTINGS, FLAG_ACK, 0, NULL, 0);
	return reply(http2, &ack, deadline_ms, err);
}

static int take_window(struct http2 *http2, const struct frame *frame, struct error *err)
{
	uint32_t more;

	if (frame->len != 4)
		return refuse_bytes(err);
	more = read_u32(frame->data) & WINDOW_MOST;
	if (frame->stream == 0)
		http2->window += more;
	else if (frame->stream == http2->stream)
		http2->stream_window += more;
	if (http2->window > WINDOW_MOST || http2->stream_window > WINDOW_MOST)
		return refuse_bytes(err);
	return 0;
}

static int take_reset(const struct http2 *http2, const struct frame *frame, struct error *err)
{
	uint32_t code;

	if (frame->len != 4)
		return refuse_bytes(err);
	/* Of an earlier request, whose answer the server gave before it had read all. */
	if (frame->stream != http2->stream)
		return 0;
	code = read_u32(frame->data);
	return error_set(err, code == CODE_REFUSED ? -EAGAIN : -EIO,
			 "the server gave the call up with code %u", code);
}

static int take_goodbye(struct http2 *http2, const struct frame *frame, struct error *err)
{
	if (frame->len < 8)
		return refuse_bytes(err);
	http2->over = true;
	if ((read_u32(frame->data) & STREAM_MOST) < http2->stream)
		return error_set(err, -EAGAIN, "the server takes no more calls (code %u)",
				 read_u32(frame->data + 4));
	return 0;
}

static int take_ping(struct http2 *http2, const struct frame *frame, int64_t deadline_ms,
		     struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf ack = STRBUF_INIT;

	if (frame->len != 8)
		return refuse_bytes(err);
	if (frame->flags & FLAG_ACK)
		return 0;
	add_frame(&ack, FRAME_PING, FLAG_ACK, 0, frame->data, frame->len);
	return reply(http2, &ack, deadline_ms, err);
}

static int take_frame(struct http2 *http2, struct frame *frame, const struct http2_request *request,
		      struct error *err)
{
	if ((!http2->settled && frame->type != FRAME_SETTINGS) ||
	    (http2->block_stream && frame->type != FRAME_CONTINUATION))
		return refuse_bytes(err);
	switch (frame->type) {
	case FRAME_DATA:
		return take_data(http2, frame, request, err);
	case FRAME_HEADERS:
	case FRAME_CONTINUATION:
		return take_headers(http2, frame, request, err);
	case FRAME_RST_STREAM:
		return take_reset(http2, frame, err);
	case FRAME_SETTINGS:
		return take_settings(http2, frame, request->deadline_ms, err);
	case FRAME_PING:
		return take_ping(http2, frame, request->deadline_ms, err);
	case FRAME_GOAWAY:
		return take_goodbye(http2, frame, err);
	case FRAME_WINDOW_UPDATE:
		return take_window(http2, frame, err);
	case FRAME_PUSH_PROMISE:
		return refuse_bytes(err);
	default:
		return 0;
	}
}

/* Read one frame and do what it asks for. */
static int advance_answer(struct http2 *http2, const struct http2_request *request,
			  struct error *err)
{
	struct frame frame;
	size_t len;
	int r;

	/* A server that always has something to say must not keep us for ever. */
	if (clock_left_ms(request->deadline_ms) == 0)
		return refuse_late(err);
	r = next_frame(http2, request->deadline_ms, &frame, err);
	if (r < 0)
		return r;
	len = HEAD_BYTES + frame.len;
	r = take_frame(http2, &frame, request, err);
	strbuf_drop_front(&http2->input, len);
	return r;
}

/* Append as much of the body as the server lets us send now, from *DONE. */
static void add_body(struct http2 *http2, const struct strbuf *body, size_t *done,
		     struct strbuf *buf)
{
	for (;;) {
		const int64_t window = MIN(http2->window, http2->stream_window);
		const size_t left = body->len - *done;
		size_t len = window > 0 ? MIN((size_t)window, FRAME_BYTES) : 0;

		len = MIN(len, left);
		if (len == 0)
			return;
		add_frame(buf, FRAME_DATA, len == left ? FLAG_END_STREAM : 0, http2->stream,
			  body->text + *done, len);
		http2->window -= (int64_t)len;
		http2->stream_window -= (int64_t)len;
		*done += len;
	}
}

int http2_send(struct http2 *http2, const struct http2_request *request, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf buf = STRBUF_INIT;
	size_t done = 0;
	int r = 0;

	if (request->headers->len > FRAME_BYTES)
		return error_set(err, -EMSGSIZE, "the headers of the call are too long");
	if (http2->stream == 0)
		add_preface(&buf);
	http2->stream = http2->stream ? http2->stream + 2 : 1;
	http2->stream_window = http2->first_window;
	http2->answered = false;
	add_frame(&buf, FRAME_HEADERS,
		  FLAG_END_HEADERS | (request->body->len ? 0 : FLAG_END_STREAM), http2->stream,
		  request->headers->text, request->headers->len);
	while (r == 0 && !http2->answered) {
		add_body(http2, request->body, &done, &buf);
		r = send_all(http2, &buf, request->deadline_ms, err);
		strbuf_reset(&buf);
		if (r == 0)
			r = advance_answer(http2, request, err);
	}
	/* An answer before the end of the request leaves the stream open. */
	http2->over = http2->over || r < 0 || done < request->body->len;
	return r;
}
