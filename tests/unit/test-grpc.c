#include <sys/socket.h>
#include <sys/un.h>

#include "api/grpc.h"
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

static int call(const char *path)
{
	cleanup_with(grpc_freep) struct grpc *grpc = NULL;
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist metadata = STRLIST_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	int r;

	ASSERT_INT(grpc_open(path, &grpc, &err), 0);
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
