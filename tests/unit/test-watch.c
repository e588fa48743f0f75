/* What the watcher and the keeper say to each other, and answers of the API. */

#include "test.h"
#include "watch/answer.h"
#include "watch/frame.h"

static void collect(const char *data, size_t len, void *to)
{
	strbuf_add_mem(to, data, len);
}

/* Feed TEXT in parts of STEP bytes; returns the number of bytes that belong to the answer. */
static long feed(struct answer *answer, const char *text, size_t step, struct strbuf *body)
{
	size_t len = strlen(text);
	size_t done = 0;

	while (done < len && answer->state != ANSWER_DONE) {
		size_t part = len - done < step ? len - done : step;
		long taken = answer_feed(answer, text + done, part, collect, body);

		if (taken < 0)
			return taken;
		done += (size_t)taken;
	}
	return (long)done;
}

TEST(an_answer_is_read_in_parts_of_any_size)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				   "5\r\nhello\r\n1;x=y\r\n!\r\n0\r\nTrailer: 1\r\n\r\nHTTP/1.1";

	for (size_t step = 1; step < sizeof(text); step++) {
		struct answer answer = ANSWER_INIT;
		struct strbuf body = STRBUF_INIT;

		ASSERT_INT(feed(&answer, text, step, &body), sizeof(text) - 1 - strlen("HTTP/1.1"));
		ASSERT_INT(answer.state, ANSWER_DONE);
		ASSERT_INT(answer.status, 200);
		ASSERT_STR(body.text, "hello!");
		answer_release(&answer);
		strbuf_release(&body);
	}
}

TEST(an_answer_with_a_length_ends_after_it)
{
	struct answer answer = ANSWER_INIT;
	struct strbuf body = STRBUF_INIT;

	ASSERT(feed(&answer,
		    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 409 Conflict\r\nContent-Length: "
		    "2\r\nConnection: close\r\n\r\n{}",
		    7, &body) > 0);
	ASSERT_INT(answer.state, ANSWER_DONE);
	ASSERT_INT(answer.status, 409);
	ASSERT(answer.closes);
	ASSERT_STR(body.text, "{}");
	answer_release(&answer);
	strbuf_release(&body);
}

TEST(what_is_no_answer_is_refused)
{
	static const char *const bad[] = {
		"SSH-2.0-x\r\n",
		"HTTP/1.1 abc\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct answer answer = ANSWER_INIT;
		struct strbuf body = STRBUF_INIT;

		ASSERT_INT(feed(&answer, bad[i], 3, &body), -EBADMSG);
		answer_release(&answer);
		strbuf_release(&body);
	}
}

TEST(frames_are_taken_one_after_the_other)
{
	struct strbuf in = STRBUF_INIT;
	char name[FRAME_NAME_MOST + 1];
	const char *text;
	size_t len;
	size_t used;

	strbuf_add(&in, "routes 4\nabcdpolicy node-1 0\nroutes 9\nabc");
	ASSERT_INT(frame_take(&in, name, &text, &len, &used), 1);
	ASSERT_STR(name, "routes");
	ASSERT_INT(len, 4);
	ASSERT(memcmp(text, "abcd", 4) == 0);
	strbuf_drop_front(&in, used);
	ASSERT_INT(frame_take(&in, name, &text, &len, &used), 1);
	ASSERT_STR(name, "policy node-1");
	strbuf_drop_front(&in, used);
	ASSERT_INT(frame_take(&in, name, &text, &len, &used), 0);
	strbuf_reset(&in);
	strbuf_add(&in, "routes 99999999999\n");
	ASSERT_INT(frame_take(&in, name, &text, &len, &used), -EBADMSG);
	strbuf_reset(&in);
	for (int i = 0; i < 50; i++)
		strbuf_add(&in, "abc");
	ASSERT_INT(frame_take(&in, name, &text, &len, &used), -EBADMSG);
	strbuf_release(&in);
}

TEST(routes_are_addresses_and_nothing_else)
{
	static const char *const bad[] = { "10.0.0.1\n", "10.0.0.1 10.0.0.2 3\n", "a b\n",
					   "10.0.0.1 10.0.0.2;\n" };
	cleanup_free struct frame_route *routes = NULL;
	static const char good[] = "10.0.0.9 10.0.0.2\n10.0.0.8 10.0.0.3\n";
	size_t count;

	ASSERT_OK(frame_parse_routes(good, strlen(good), &routes, &count, &err));
	ASSERT_INT(count, 2);
	ASSERT_INT(ntohl(routes[1].via.s_addr), 0x0a000003);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct frame_route *none = NULL;

		ASSERT_INT(frame_parse_routes(bad[i], strlen(bad[i]), &none, &count, NULL),
			   -EBADMSG);
		ASSERT(!none);
	}
}
