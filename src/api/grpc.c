#include "api/grpc.h"

#include <ctype.h>
#include <string.h>

#include "api/hpack.h"
#include "api/http2.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/parse.h"

#define FRAME_HEAD   5
#define ANSWER_LIMIT (16 << 20)
#define WORDS_LIMIT  ((size_t)1024)
#define CALL_MS      60000

struct grpc {
	struct http2 *http2; /* NULL before the first call */
	char *socket;
};

/* What the server says to a call. */
struct answer {
	struct strbuf body;
	char status[16]; /* as the server wrote it; empty if it did not */
	char *words;     /* percent-encoded, or NULL */
};

static void release_answer(struct answer *answer)
{
	strbuf_release(&answer->body);
	free(answer->words);
}

struct grpc *grpc_new(const char *socket)
{
	struct grpc *grpc = xcalloc(1, sizeof(*grpc));

	grpc->socket = xstrdup(socket);
	return grpc;
}

void grpc_free(struct grpc *grpc)
{
	http2_freep(&grpc->http2);
	free(grpc->socket);
	free(grpc);
}

void grpc_add_frame(struct strbuf *buf, const struct strbuf *message)
{
	strbuf_add_char(buf, 0); /* not compressed */
	for (int shift = 24; shift >= 0; shift -= 8)
		strbuf_add_char(buf, (char)(message->len >> shift));
	strbuf_add_mem(buf, message->text, message->len);
}

int grpc_find_message(const char *data, size_t len, const char **ret_data, size_t *ret_len)
{
	const char *found = NULL;
	size_t found_len = 0;

	while (len > 0) {
		size_t said = 0;

		if (len < FRAME_HEAD || data[0] != 0)
			return -EBADMSG;
		for (int i = 1; i < FRAME_HEAD; i++)
			said = said << 8 | (unsigned char)data[i];
		if (said > len - FRAME_HEAD)
			return -EBADMSG;
		found = data + FRAME_HEAD;
		found_len = said;
		data = found + said;
		len -= FRAME_HEAD + said;
	}
	if (!found)
		return -EBADMSG;
	*ret_data = found;
	*ret_len = found_len;
	return 0;
}

int grpc_errno(unsigned status)
{
	static const int codes[] = {
		[0] = 0,        [1] = -ECANCELED, [3] = -EINVAL,  [4] = -ETIMEDOUT, [5] = -ENOENT,
		[6] = -EEXIST,  [7] = -EPERM,     [8] = -ENOSPC,  [9] = -EBUSY,     [10] = -EAGAIN,
		[11] = -ERANGE, [12] = -ENOSYS,   [14] = -EAGAIN,
	};

	if (status == 0)
		return 0;
	return status < ARRAY_SIZE(codes) && codes[status] ? codes[status] : -EIO;
}

/* Called for headers and trailers. */
static void keep_header(const struct strbuf *name, const struct strbuf *value, void *to)
{
	struct answer *answer = to;

	if (strcmp(name->text, "grpc-status") == 0) {
		(void)snprintf(answer->status, sizeof(answer->status), "%s", value->text);
	} else if (strcmp(name->text, "grpc-message") == 0) {
		free(answer->words);
		answer->words = xstrndup(value->text, MIN(value->len, WORDS_LIMIT));
	}
}

/* Append METADATA, "NAME: VALUE"; names are in lower case in HTTP/2. */
static void add_metadata(struct strbuf *block, const struct strlist *metadata)
{
	const char *header;

	strlist_for_each(header, metadata) {
		const char *colon = strchr(header, ':');
		cleanup_free char *name = colon ? xstrndup(header, (size_t)(colon - header)) : NULL;

		if (!name)
			continue;
		for (char *c = name; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		hpack_add(block, name, colon + 1 + strspn(colon + 1, " "));
	}
}

/* Connect unless the last call has left a connection that is still good. */
static int have_connection(struct grpc *grpc, struct error *err)
{
	if (grpc->http2 && !http2_is_over(grpc->http2))
		return 0;
	http2_freep(&grpc->http2);
	grpc->http2 = NULL;
	return http2_connect(grpc->socket, &grpc->http2, err);
}

static int perform_call(struct grpc *grpc, const char *method, const struct strlist *metadata,
			const struct strbuf *body, struct answer *answer, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf headers = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/%s", method);
	const struct http2_request request = {
		.headers = &headers,
		.body = body,
		.deadline_ms = clock_now_ms() + CALL_MS,
		.answer = &answer->body,
		.limit = ANSWER_LIMIT,
		.take_header = keep_header,
		.arg = answer,
	};
	int r;

	hpack_add(&headers, ":method", "POST");
	hpack_add(&headers, ":scheme", "http");
	hpack_add(&headers, ":path", path);
	hpack_add(&headers, ":authority", "localhost");
	hpack_add(&headers, "content-type", "application/grpc");
	hpack_add(&headers, "te", "trailers");
	add_metadata(&headers, metadata);
	r = have_connection(grpc, err);
	return r < 0 ? r : http2_send(grpc->http2, &request, err);
}

/* Judge the status in ANSWER to a call of METHOD. */
static int check_status(const struct answer *answer, const char *method, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;
	unsigned long long status;
	int r;

	if (parse_number(answer->status, 0, 16, &status, NULL) < 0)
		return error_set(err, -EIO, "'%s' got no status from the server", method);
	r = grpc_errno((unsigned)status);
	if (r == 0)
		return 0;
	if (answer->words)
		strbuf_add_printable_line(&words, answer->words, strlen(answer->words));
	return error_set(err, r, "%s failed: %s", method, words.len ? words.text : strerror(-r));
}

int grpc_call(struct grpc *grpc, const char *method, const struct strlist *metadata,
	      const struct strbuf *request, struct strbuf *ret_answer, struct error *err)
{
	cleanup_with(release_answer) struct answer answer = { .body = STRBUF_INIT };
	cleanup_with(strbuf_release) struct strbuf body = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const char *data;
	size_t len;
	int r;

	grpc_add_frame(&body, request);
	r = perform_call(grpc, method, metadata, &body, &answer, &why);
	if (r < 0)
		return error_set(err,
				 r == -ECONNREFUSED || r == -ECONNRESET || r == -ETIMEDOUT ||
						 r == -EAGAIN
					 ? r
					 : -EIO,
				 "cannot call '%s': %s", grpc->socket, why.text);
	r = check_status(&answer, method, err);
	if (r < 0)
		return r;
	if (grpc_find_message(answer.body.text, answer.body.len, &data, &len) < 0)
		return error_set(err, -EIO, "%s was answered with a damaged message", method);
	if (ret_answer)
		strbuf_add_mem(ret_answer, data, len);
	return 0;
}
