#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "api/grpc.h"
#include "api/hpack.h"
#include "test.h"

static int find(const char *data, size_t len, const char **ret, size_t *ret_len)
{
	return grpc_find_message(data, len, ret, ret_len);
}

TEST(frames_a_message)
{
	cleanup_with(strbuf_release) struct strbuf message = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf frame = STRBUF_INIT;
	const char *data;
	size_t len;

	for (int i = 0; i < 300; i++)
		strbuf_add_char(&message, 'x');
	grpc_add_frame(&frame, &message);
	ASSERT_INT(frame.len, 305);
	ASSERT(memcmp(frame.text, "\0\0\0\x01\x2c", 5) == 0);
	ASSERT_INT(find(frame.text, frame.len, &data, &len), 0);
	ASSERT_INT(len, 300);
	ASSERT(memcmp(data, message.text, len) == 0);
}

TEST(finds_the_last_message_of_a_stream)
{
	const char *data;
	size_t len;

	ASSERT_INT(find("\0\0\0\0\1a\0\0\0\0\2bc", 13, &data, &len), 0);
	ASSERT_INT(len, 2);
	ASSERT(memcmp(data, "bc", 2) == 0);
}

TEST(refuses_damaged_frames)
{
	const char *data;
	size_t len;

	ASSERT_INT(find("", 0, &data, &len), -EBADMSG);
	ASSERT_INT(find("\0\0\0\0", 4, &data, &len), -EBADMSG);
	ASSERT_INT(find("\0\0\0\0\2a", 6, &data, &len), -EBADMSG);
	ASSERT_INT(find("\0\0\0\0\1ab", 7, &data, &len), -EBADMSG);
	ASSERT_INT(find("\0\377\377\377\377a", 6, &data, &len), -EBADMSG);
	/* Compressed, which we do not offer to understand. */
	ASSERT_INT(find("\1\0\0\0\1a", 6, &data, &len), -EBADMSG);
}

TEST(statuses_have_numbers)
{
	ASSERT_INT(grpc_errno(0), 0);
	ASSERT_INT(grpc_errno(5), -ENOENT);
	ASSERT_INT(grpc_errno(6), -EEXIST);
	ASSERT_INT(grpc_errno(2), -EIO);
	ASSERT_INT(grpc_errno(4000000000u), -EIO);
}

/* Read a request with an empty message, whose frame is five zeros. */
static void read_request(int peer)
{
	char buf[4096];
	size_t len = 0;
	ssize_t n;

	while (len < 100 || memcmp(buf + len - 5, "\0\0\0\0\0", 5) != 0) {
		n = read(peer, buf + len, sizeof(buf) - len);
		if (n <= 0)
			return;
		len += (size_t)n;
	}
}

/* A server that answers REPLY to the first request. */
static void serve(const char *path, const char *reply, size_t len)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ASSERT(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	ASSERT(listen(fd, 1) == 0);
	if (fork() == 0) {
		int peer = accept(fd, NULL, NULL);
		char buf[4096];

		read_request(peer);
		(void)!write(peer, reply, len);
		while (read(peer, buf, sizeof(buf)) > 0)
			;
		_exit(0);
	}
	(void)close(fd);
}

/* A call with the open connection of GRPC, if any. */
static int call_again(struct grpc *grpc, size_t bytes)
{
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist metadata = STRLIST_INIT;

	for (size_t i = 0; i < bytes; i++)
		strbuf_add_char(&request, 'x');
	return grpc_call(grpc, "a.B/C", &metadata, &request, NULL, NULL);
}

static int call(const char *path)
{
	cleanup_with(grpc_freep) struct grpc *grpc = grpc_new(path);
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist metadata = STRLIST_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	int r;

	r = grpc_call(grpc, "a.B/C", &metadata, &request, NULL, &err);
	ASSERT(r == 0 || (err.text && *err.text));
	return r;
}

TEST(nobody_listening_is_an_error_of_its_own)
{
	cleanup_free char *path = xasprintf("%s/socket", test_dir());

	ASSERT_INT(call(path), -ECONNREFUSED);
}

TEST(reads_the_status_after_the_message)
{
	/* SETTINGS; HEADERS with ":status: 200"; DATA with an empty message; HEADERS with
	 * "grpc-status: 0" and END_STREAM. */
	static const char reply[] = "\0\0\0\4\0\0\0\0\0"
				    "\0\0\1\1\4\0\0\0\1\x88"
				    "\0\0\5\0\0\0\0\0\1\0\0\0\0\0"
				    "\0\0\x0f\1\5\0\0\0\1\0\x0bgrpc-status\1"
				    "0";
	static const char missing[] = "\0\0\0\4\0\0\0\0\0"
				      "\0\0\x10\1\5\0\0\0\1\x88\0\x0bgrpc-status\1"
				      "5";
	cleanup_free char *path = xasprintf("%s/socket", test_dir());
	cleanup_free char *other = xasprintf("%s/other", test_dir());

	serve(path, reply, sizeof(reply) - 1);
	ASSERT_INT(call(path), 0);
	serve(other, missing, sizeof(missing) - 1);
	ASSERT_INT(call(other), -ENOENT);
}

TEST(refuses_what_is_not_http_2)
{
	static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	cleanup_free char *path = xasprintf("%s/socket", test_dir());

	serve(path, reply, sizeof(reply) - 1);
	ASSERT_INT(call(path), -EIO);
}

/* Read exactly LEN bytes, or end. */
static void read_exactly(int peer, char *buf, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = read(peer, buf + done, len - done);

		if (n <= 0)
			_exit(0);
		done += (size_t)n;
	}
}

/* Read one frame of the client into BUF, and return the length of its contents. */
static size_t read_frame(int peer, char buf[20000])
{
	size_t len;

	read_exactly(peer, buf, 9);
	len = (size_t)(unsigned char)buf[1] << 8 | (unsigned char)buf[2];
	if (buf[0] || len > 16384)
		_exit(1);
	read_exactly(peer, buf + 9, len);
	return len;
}

static void write_in_pieces(int peer, const char *data, size_t len, size_t piece)
{
	for (size_t done = 0; done < len; done += piece)
		if (write(peer, data + done, MIN(piece, len - done)) < 0)
			_exit(1);
}

/* Read frames up to the end of a request.  Like servers in Go, let the client send only ROOM bytes
 * in a request at first, and more when it has sent that. */
static void read_stream(int peer, size_t room, unsigned char stream)
{
	static const char more[] = "\0\0\4\x08\0\0\0\0\0\0\1\0\0";
	static char buf[20000];
	size_t got = 0;
	size_t len;

	do {
		len = read_frame(peer, buf);
		if (buf[3] != 0)
			continue;
		got += len;
		if (got > room)
			_exit(1);
		if (got == room && !(buf[4] & 1)) {
			char frame[13];

			memcpy(frame, more, sizeof(frame));
			write_in_pieces(peer, frame, sizeof(frame), sizeof(frame));
			frame[8] = (char)stream;
			write_in_pieces(peer, frame, sizeof(frame), sizeof(frame));
			room += 65536;
		}
	} while (buf[3] != 0 || !(buf[4] & 1));
}

/* Answer CALLS calls on one connection, in PIECE bytes at a time; then end.  Whoever connects again
 * gets no answer. */
static void serve_many(const char *path, int calls, size_t piece)
{
	static const char settings[] = "\0\0\0\4\0\0\0\0\0"
				       "\0\0\x08\6\0\0\0\0\0pingpong";
	static const char answer[] = "\0\0\1\1\4\0\0\0\1\x88"
				     "\0\0\7\0\x08\0\0\0\1\1\0\0\0\0\0\0"
				     "\0\0\x0c\1\1\0\0\0\1\0\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\1"
				     "0"
				     "\0\0\0\x09\4\0\0\0\1";
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ASSERT(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	ASSERT(listen(fd, 8) == 0);
	if (fork() == 0) {
		int peer = accept(fd, NULL, NULL);
		char frames[sizeof(answer) - 1];
		char preface[24];

		read_exactly(peer, preface, sizeof(preface));
		write_in_pieces(peer, settings, sizeof(settings) - 1, piece);
		memcpy(frames, answer, sizeof(frames));
		for (int i = 0; i < calls; i++) {
			unsigned char stream = (unsigned char)(2 * i + 1);

			read_stream(peer, 65535, stream);
			frames[8] = frames[18] = frames[34] = frames[55] = (char)stream;
			write_in_pieces(peer, frames, sizeof(frames), piece);
		}
		_exit(0);
	}
	(void)close(fd);
}

TEST(calls_share_a_connection_and_none_waits_for_more_than_its_answer)
{
	for (size_t piece = 1; piece <= 1000; piece *= 10) {
		cleanup_free char *path = xasprintf("%s/socket-%zu", test_dir(), piece);
		cleanup_with(grpc_freep) struct grpc *grpc = grpc_new(path);

		serve_many(path, 100, piece);
		/* A client that misses a byte waits for a minute, and the test for longer. */
		for (int i = 0; i < 100; i++)
			ASSERT_INT(call_again(grpc, 0), 0);
	}
}

TEST(a_server_that_went_away_is_noticed)
{
	cleanup_free char *path = xasprintf("%s/socket", test_dir());
	cleanup_with(grpc_freep) struct grpc *grpc = grpc_new(path);

	serve_many(path, 1, 1000);
	ASSERT_INT(call_again(grpc, 0), 0);
	while (wait(NULL) > 0)
		;
	ASSERT_INT(call_again(grpc, 0), -ECONNREFUSED);
	(void)unlink(path);
	serve_many(path, 1, 1000);
	ASSERT_INT(call_again(grpc, 0), 0);
}

TEST(sends_no_more_than_the_server_has_room_for)
{
	cleanup_free char *path = xasprintf("%s/socket", test_dir());
	cleanup_with(grpc_freep) struct grpc *grpc = grpc_new(path);

	serve_many(path, 1, 1000);
	ASSERT_INT(call_again(grpc, 100000), 0);
}

/* Whether the LEN bytes of DATA are headers; the last one is returned. */
static int decode(const char *data, size_t len, struct strbuf *name, struct strbuf *value)
{
	struct hpack block = { (const unsigned char *)data, len };
	int r;

	while ((r = hpack_next(&block, name, value)) > 0)
		if (block.len == 0)
			return 1;
	return r;
}

TEST(headers_are_decoded)
{
	cleanup_with(strbuf_release) struct strbuf name = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf block = STRBUF_INIT;
	cleanup_free char *text = xasprintf("%0500d", 7);

	hpack_add(&block, "name", text);
	ASSERT_INT(decode(block.text, block.len, &name, &value), 1);
	ASSERT_STR(name.text, "name");
	ASSERT_STR(value.text, text);
	/* RFC 7541, C.4.3 and C.6.1. */
	ASSERT_INT(decode("\x20\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f"
			  "\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf",
			  21, &name, &value),
		   1);
	ASSERT_STR(name.text, "custom-key");
	ASSERT_STR(value.text, "custom-value");
	ASSERT_INT(decode("\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b"
			  "\x81\x66\xe0\x82\xa6\x2d\x1b\xff",
			  24, &name, &value),
		   1);
	ASSERT_STR(value.text, "Mon, 21 Oct 2013 20:13:21 GMT");
}

TEST(damaged_headers_are_refused)
{
	static const struct {
		const char *data;
		size_t len;
	} blocks[] = {
		{ "\x80", 1 },                       /* no index */
		{ "\xbe", 1 },                       /* the first of the dynamic table */
		{ "\x21", 1 },                       /* a table with bytes */
		{ "\0\5name", 6 },                   /* a name that is cut off */
		{ "\0\4name", 6 },                   /* no value */
		{ "\0\x7f\xff\xff\xff\xff\xff", 7 }, /* a length without end */
		{ "\x08\x84\xff\xff\xff\xff", 6 },   /* the end of a string in it */
		{ "\x08\x82\x07\xff", 4 },           /* too much padding */
		{ "\x08\x81\x00", 3 },               /* padding of zeros */
	};

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		cleanup_with(strbuf_release) struct strbuf name = STRBUF_INIT;
		cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;

		ASSERT_INT(decode(blocks[i].data, blocks[i].len, &name, &value), -EBADMSG);
	}
}

TEST(a_damaged_connection_is_an_error)
{
	static const struct {
		const char *reply;
		size_t len;
	} replies[] = {
		{ "\0\0\1\1\4\0\0\0\1\x88", 10 },                   /* no settings first */
		{ "\0\0\1\4\0\0\0\0\0\0", 10 },                     /* a setting that is cut off */
		{ "\0\0\0\4\0\0\0\0\0\0\x40\1\0\0\0\0\0\1", 18 },   /* too long */
		{ "\0\0\0\4\0\0\0\0\0\0\0\0\x09\4\0\0\0\1", 18 },   /* nothing to go on */
		{ "\0\0\0\4\0\0\0\0\0\0\0\1\0\x08\0\0\0\1\2", 19 }, /* all padding */
		{ "\0\0\0\4\0\0\0\0\0\0\0\4\3\0\0\0\0\1\0\0\0\2", 22 }, /* reset */
	};

	for (size_t i = 0; i < ARRAY_SIZE(replies); i++) {
		cleanup_free char *path = xasprintf("%s/%zu", test_dir(), i);

		serve(path, replies[i].reply, replies[i].len);
		ASSERT_INT(call(path), -EIO);
	}
}
