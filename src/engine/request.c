/* Requests to a daemon with Docker's API. */

#include "engine/request.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "api/curl.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"

#define CONNECT_MS   10000L
#define BUFFER_BYTES (512L << 10)
#define REFUSAL_MOST 4096u

/* A request under way. */
struct exchange {
	const struct engine_place *place;
	const struct engine_request *request;
	const struct curl *curl;
	CURL *handle;
	struct strbuf refusal; /* the answer, if it is an error */
	struct error *err;
	int failed;      /* what a function of the request returned */
	int64_t news_ms; /* when a byte of a body came or went */
	bool was_silent;
};

void engine_add_encoded(struct strbuf *query, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if ((*c < 0x80 && isalnum(*c)) || strchr("-._~", *c))
			strbuf_add_char(query, (char)*c);
		else
			strbuf_addf(query, "%%%02X", *c);
}

static size_t send_body(char *to, size_t size, size_t count, void *data)
{
	struct exchange *exchange = data;
	ssize_t len = exchange->request->read(exchange->request->data, to, size * count,
					      exchange->err);

	exchange->news_ms = clock_now_ms();
	if (len >= 0)
		return (size_t)len;
	exchange->failed = (int)len;
	return CURL_READFUNC_ABORT;
}

static long status_of(const struct exchange *exchange)
{
	long status = 0;

	(void)exchange->curl->easy_getinfo(exchange->handle, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static size_t take_answer(char *bytes, size_t size, size_t count, void *data)
{
	struct exchange *exchange = data;
	size_t len = size * count;
	size_t room = REFUSAL_MOST - exchange->refusal.len;
	int r;

	exchange->news_ms = clock_now_ms();
	if (status_of(exchange) >= 300) {
		strbuf_add_mem(&exchange->refusal, bytes, MIN(len, room));
		return len <= room ? len : 0;
	}
	if (!exchange->request->take)
		return len;
	r = exchange->request->take(exchange->request->data, bytes, len, exchange->err);
	if (r == 0)
		return len;
	exchange->failed = r;
	return 0;
}

/* Called about once a second, and with whatever comes: extensions of chunks are not of the body. */
static int look_for_news(void *data, arg_unused curl_off_t down_total, arg_unused curl_off_t down,
			 arg_unused curl_off_t up_total, arg_unused curl_off_t up)
{
	struct exchange *exchange = data;
	int64_t most_ms = (int64_t)exchange->request->silent_seconds * 1000;

	exchange->was_silent = most_ms > 0 && clock_now_ms() - exchange->news_ms > most_ms;
	return exchange->was_silent;
}

static void set_pem(const struct exchange *exchange, CURLoption option, const struct strbuf *pem)
{
	struct curl_blob blob = { .data = pem->text, .len = pem->len, .flags = CURL_BLOB_COPY };

	(void)exchange->curl->easy_setopt(exchange->handle, option, &blob);
}

static void set_place(const struct exchange *exchange)
{
	const struct engine_place *place = exchange->place;
	cleanup_free char *url = xasprintf("%s%s", place->url ?: "http://engine",
					   exchange->request->path);

	(void)exchange->curl->easy_setopt(exchange->handle, CURLOPT_URL, url);
	if (place->socket)
		(void)exchange->curl->easy_setopt(exchange->handle, CURLOPT_UNIX_SOCKET_PATH,
						  place->socket);
	if (!place->ca)
		return;
	set_pem(exchange, CURLOPT_CAINFO_BLOB, place->ca);
	set_pem(exchange, CURLOPT_SSLCERT_BLOB, place->cert);
	set_pem(exchange, CURLOPT_SSLKEY_BLOB, place->key);
}

static void set_body(struct exchange *exchange, struct curl_slist **headers)
{
	const struct engine_request *request = exchange->request;
	const struct curl *curl = exchange->curl;
	CURL *handle = exchange->handle;

	if (request->read) {
		cleanup_free char *type = xasprintf("Content-Type: %s", request->type);

		*headers = curl->slist_append(*headers, type);
		*headers = curl->slist_append(*headers, "Transfer-Encoding: chunked");
		*headers = curl->slist_append(*headers, "Expect:");
		(void)curl->easy_setopt(handle, CURLOPT_POST, 1L);
		(void)curl->easy_setopt(handle, CURLOPT_READFUNCTION, send_body);
		(void)curl->easy_setopt(handle, CURLOPT_READDATA, exchange);
		(void)curl->easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_BYTES);
	} else if (request->json || request->method) {
		/* Without a body, its length is 0: some calls refuse any other. */
		const char *body = request->json ?: "";

		*headers = curl->slist_append(*headers, "Content-Type: application/json");
		(void)curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
		(void)curl->easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, body);
	}
	if (request->method)
		(void)curl->easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_functions(struct exchange *exchange, struct curl_slist **headers)
{
	const struct curl *curl = exchange->curl;
	CURL *handle = exchange->handle;

	(void)curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	(void)curl->easy_setopt(handle, CURLOPT_PROXY, "");
	(void)curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	(void)curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS,
				exchange->request->timeout_seconds * 1000L);
	(void)curl->easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
	(void)curl->easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	(void)curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_answer);
	(void)curl->easy_setopt(handle, CURLOPT_WRITEDATA, exchange);
	(void)curl->easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1024L);
	(void)curl->easy_setopt(handle, CURLOPT_LOW_SPEED_TIME,
				(long)exchange->request->slow_seconds);
	(void)curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
	(void)curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, look_for_news);
	(void)curl->easy_setopt(handle, CURLOPT_XFERINFODATA, exchange);
	set_body(exchange, headers);
	(void)curl->easy_setopt(handle, CURLOPT_HTTPHEADER, *headers);
}

/* The error for STATUS, with the daemon's words. */
static int refuse(const struct exchange *exchange, long status)
{
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;
	json_auto_t *answer = json_loadb(exchange->refusal.text ?: "", exchange->refusal.len, 0,
					 NULL);
	const char *message = json_string_value(json_object_get(answer, "message"));
	int code = status == 404 ? -ENOENT : status == 409 ? -EBUSY : -EBADMSG;

	if (message)
		strbuf_add_printable_line(&words, message, strlen(message));
	return error_set(exchange->err, code, "%s refused this (%ld): %s", exchange->place->shown,
			 status, message ? words.text : "no reason given");
}

static int perform(struct exchange *exchange)
{
	CURLcode code = exchange->curl->easy_perform(exchange->handle);
	long status = status_of(exchange);

	/* The query may hold secrets. */
	log_debug("%s: %.*s: %ld", exchange->place->shown,
		  (int)strcspn(exchange->request->path, "?"), exchange->request->path, status);
	if (exchange->failed < 0)
		return exchange->failed;
	if (exchange->was_silent)
		return error_because(exchange->err, &reason_node_failed, -ETIMEDOUT,
				     "%s has said nothing for %u %s", exchange->place->shown,
				     MAX(exchange->request->silent_seconds / 60, 1u),
				     exchange->request->silent_seconds < 120 ? "minute"
									     : "minutes");
	/* A daemon that refuses a request need not read its body. */
	if (status >= 300)
		return status == 304 ? 0 : refuse(exchange, status);
	if (code == CURLE_OK)
		return 0;
	return error_because(exchange->err, &reason_node_failed,
			     code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ECONNREFUSED,
			     "the connection to %s failed: %s", exchange->place->shown,
			     exchange->curl->easy_strerror(code));
}

int engine_send(const struct engine_place *place, const struct engine_request *request,
		struct error *err)
{
	struct exchange exchange = {
		.place = place,
		.request = request,
		.refusal = STRBUF_INIT,
		.err = err,
		.news_ms = clock_now_ms(),
	};
	struct curl_slist *headers = NULL;
	int r = curl_load(&exchange.curl, err);

	if (r < 0)
		return r;
	exchange.handle = exchange.curl->easy_init();
	if (!exchange.handle)
		return error_set(err, -ENOMEM, "cannot prepare a request to %s", place->shown);
	set_place(&exchange);
	set_functions(&exchange, &headers);
	r = perform(&exchange);
	exchange.curl->slist_free_all(headers);
	exchange.curl->easy_cleanup(exchange.handle);
	strbuf_release(&exchange.refusal);
	return r;
}
