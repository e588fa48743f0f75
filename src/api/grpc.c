/* gRPC with libcurl, which speaks HTTP/2 without TLS ("prior knowledge"). */

#include "api/grpc.h"

#include <string.h>
#include <strings.h>

#include "api/curl.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"

#define FRAME_HEAD   5
#define ANSWER_LIMIT (16 << 20)
#define WORDS_LIMIT  ((size_t)1024)
#define CALL_SECONDS 60L

struct grpc {
	const struct curl *curl;
	CURL *handle;
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

int grpc_open(const char *socket, struct grpc **ret_grpc, struct error *err)
{
	cleanup_with(grpc_freep) struct grpc *grpc = xcalloc(1, sizeof(*grpc));
	int r = curl_load(&grpc->curl, err);

	if (r < 0)
		return r;
	grpc->socket = xstrdup(socket);
	grpc->handle = grpc->curl->easy_init();
	if (!grpc->handle)
		return error_set(err, -ENOMEM, "cannot initialize libcurl");
	if (grpc->curl->easy_setopt(grpc->handle, CURLOPT_HTTP_VERSION,
				    (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) != CURLE_OK)
		return error_because(err, &reason_host_missing_tool, -EPROTONOSUPPORT,
				     "libcurl was built without HTTP/2");
	*ret_grpc = take_ptr(grpc);
	return 0;
}

void grpc_free(struct grpc *grpc)
{
	if (grpc->handle)
		grpc->curl->easy_cleanup(grpc->handle);
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

static size_t keep_body(char *data, size_t size, size_t count, void *to)
{
	struct answer *answer = to;

	if (answer->body.len + size * count > ANSWER_LIMIT)
		return 0;
	strbuf_add_mem(&answer->body, data, size * count);
	return size * count;
}

/* The value of the header LINE of LEN bytes if it is NAME, for the caller to free. */
static char *header_value(const char *line, size_t len, const char *name)
{
	size_t skip = strlen(name);

	if (len <= skip || strncasecmp(line, name, skip) != 0 || line[skip] != ':')
		return NULL;
	for (skip++; skip < len && line[skip] == ' ';)
		skip++;
	while (len > skip && (line[len - 1] == '\r' || line[len - 1] == '\n'))
		len--;
	return xstrndup(line + skip, MIN(len - skip, WORDS_LIMIT));
}

/* Called for headers and trailers. */
static size_t keep_header(char *data, size_t size, size_t count, void *to)
{
	struct answer *answer = to;
	cleanup_free char *status = header_value(data, size * count, "grpc-status");
	char *words = header_value(data, size * count, "grpc-message");

	if (status)
		(void)snprintf(answer->status, sizeof(answer->status), "%s", status);
	if (words) {
		free(answer->words);
		answer->words = words;
	}
	return size * count;
}

static CURLcode perform_call(struct grpc *grpc, const char *method, const struct strlist *metadata,
			     const struct strbuf *body, struct answer *answer)
{
	cleanup_free char *url = xasprintf("http://localhost/%s", method);
	const struct curl *curl = grpc->curl;
	struct curl_slist *headers = NULL;
	CURL *handle = grpc->handle;
	const char *header;
	CURLcode code;

	headers = curl->slist_append(headers, "Content-Type: application/grpc");
	headers = curl->slist_append(headers, "TE: trailers");
	headers = curl->slist_append(headers, "Expect:");
	strlist_for_each(header, metadata)
		headers = curl->slist_append(headers, header);
	curl->easy_reset(handle);
	/* libcurl 7.88 (Debian 12) fails on a connection without TLS that is used again:
	 * curl/curl#10634.  A new one to a Unix socket takes some 0.1 ms. */
	(void)curl->easy_setopt(handle, CURLOPT_FORBID_REUSE, 1L);
	(void)curl->easy_setopt(handle, CURLOPT_URL, url);
	(void)curl->easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, grpc->socket);
	(void)curl->easy_setopt(handle, CURLOPT_HTTP_VERSION,
				(long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	(void)curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	(void)curl->easy_setopt(handle, CURLOPT_PROXY, "");
	(void)curl->easy_setopt(handle, CURLOPT_TIMEOUT, CALL_SECONDS);
	(void)curl->easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
	(void)curl->easy_setopt(handle, CURLOPT_POSTFIELDS, body->text);
	(void)curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)body->len);
	(void)curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, keep_body);
	(void)curl->easy_setopt(handle, CURLOPT_WRITEDATA, answer);
	(void)curl->easy_setopt(handle, CURLOPT_HEADERFUNCTION, keep_header);
	(void)curl->easy_setopt(handle, CURLOPT_HEADERDATA, answer);
	code = curl->easy_perform(handle);
	curl->slist_free_all(headers);
	return code;
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
	const char *data;
	CURLcode code;
	size_t len;
	int r;

	grpc_add_frame(&body, request);
	code = perform_call(grpc, method, metadata, &body, &answer);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return error_set(err, -ETIMEDOUT, "'%s' did not answer in time", grpc->socket);
	if (code != CURLE_OK)
		return error_set(err, code == CURLE_COULDNT_CONNECT ? -ECONNREFUSED : -EIO,
				 "cannot call '%s': %s", grpc->socket,
				 grpc->curl->easy_strerror(code));
	r = check_status(&answer, method, err);
	if (r < 0)
		return r;
	if (grpc_find_message(answer.body.text, answer.body.len, &data, &len) < 0)
		return error_set(err, -EIO, "%s was answered with a damaged message", method);
	if (ret_answer)
		strbuf_add_mem(ret_answer, data, len);
	return 0;
}
