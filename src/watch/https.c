/* Requests to the API over HTTPS. */

#include "watch/https.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "data/inet.h"
#include "watch/answer.h"

#define READ_SIZE 16384

/* How many bytes are read before others in the loop get their turn. */
#define READ_MOST (64 * READ_SIZE)

struct https {
	struct loop *loop;
	const struct https_target *target;
	const struct https_events *events;
	void *to;
	int fd;
	SSL *ssl;
	struct loop_source *source;
	struct loop_source *failing; /* until a failure is reported */
	struct loop_source *limit;   /* until the request is given up */
	bool connected;              /* the handshake is done */
	bool busy;                   /* a request is under way */
	struct strbuf out;
	struct answer answer;
};

static void drop_connection(struct https *https)
{
	if (https->source)
		loop_remove(take_ptr(https->source));
	if (https->failing)
		loop_remove(take_ptr(https->failing));
	if (https->limit)
		loop_remove(take_ptr(https->limit));
	if (https->ssl)
		SSL_free(take_ptr(https->ssl));
	if (https->fd >= 0)
		(void)close(take_fd(https->fd));
	https->connected = false;
	https->busy = false;
	strbuf_reset(&https->out);
	answer_release(&https->answer);
	ERR_clear_error();
}

static void fail(struct https *https, const char *why)
{
	bool was_busy = https->busy;

	drop_connection(https);
	if (was_busy)
		https->events->done(0, why, https->to);
}

static bool wants_more(struct https *https, int result, uint32_t *ret_events)
{
	int code = SSL_get_error(https->ssl, result);

	*ret_events = EPOLLIN | (code == SSL_ERROR_WANT_WRITE ? EPOLLOUT : 0);
	return code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE;
}

/* Write what waits; false if the connection has failed. */
static bool flush(struct https *https)
{
	uint32_t events = EPOLLIN;

	while (https->out.len > 0) {
		int n = SSL_write(https->ssl, https->out.text, (int)https->out.len);

		if (n <= 0 && wants_more(https, n, &events))
			break;
		if (n <= 0)
			return false;
		strbuf_drop_front(&https->out, (size_t)n);
	}
	return loop_set_events(https->source, events, NULL) == 0;
}

static void on_body(const char *data, size_t len, void *to)
{
	struct https *https = to;

	https->events->body(data, len, https->to);
}

/* The answer is complete. */
static void finish(struct https *https)
{
	int status = https->answer.status;

	https->busy = false;
	if (https->limit)
		loop_remove(take_ptr(https->limit));
	if (https->answer.closes)
		drop_connection(https);
	answer_release(&https->answer);
	https->events->done(status, NULL, https->to);
}

static void receive(struct https *https)
{
	char data[READ_SIZE];
	uint32_t events;

	for (size_t total = 0; total < READ_MOST || SSL_pending(https->ssl) > 0;) {
		int n = SSL_read(https->ssl, data, sizeof(data));
		long taken;

		if (n <= 0) {
			if (wants_more(https, n, &events))
				(void)loop_set_events(https->source, events, NULL);
			else
				fail(https, "the connection was closed");
			return;
		}
		total += (size_t)n;
		taken = https->busy ? answer_feed(&https->answer, data, (size_t)n, on_body, https)
				    : -EBADMSG;
		if (taken != n) {
			fail(https, "the answer is not HTTP");
			return;
		}
		if (https->answer.state == ANSWER_DONE) {
			finish(https);
			return;
		}
	}
}

static int on_ready(arg_unused int fd, arg_unused uint32_t ready, void *data,
		    arg_unused struct error *err)
{
	struct https *https = data;
	uint32_t events;

	ERR_clear_error();
	if (!https->connected) {
		int r = SSL_connect(https->ssl);

		if (r <= 0) {
			if (wants_more(https, r, &events))
				(void)loop_set_events(https->source, events, NULL);
			else
				fail(https, "cannot make a TLS connection");
			return 0;
		}
		https->connected = true;
	}
	if (https->out.len > 0 && !flush(https))
		fail(https, "the connection was closed");
	else
		receive(https);
	return 0;
}

static bool open_connection(struct https *https)
{
	const struct https_target *target = https->target;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	https->fd = fd;
	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&target->address, sizeof(target->address)) < 0 &&
	    errno != EINPROGRESS)
		return false;
	https->ssl = SSL_new(target->tls);
	if (!https->ssl || !SSL_set_fd(https->ssl, fd) ||
	    !X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(https->ssl), target->host))
		return false;
	SSL_set_connect_state(https->ssl);
	return loop_add_fd(https->loop, fd, EPOLLOUT, on_ready, https, &https->source, NULL) == 0;
}

static int on_failing(void *data, arg_unused struct error *err)
{
	fail(data, "cannot connect");
	return 0;
}

static int on_limit(void *data, arg_unused struct error *err)
{
	fail(data, "the API did not answer in time");
	return 0;
}

void https_request(struct https *https, const char *method, const char *path, const char *type,
		   const char *body, unsigned limit_ms)
{
	if (https->busy)
		drop_connection(https);
	if (https->fd < 0 && !open_connection(https)) {
		/* Reported later, since the caller may be about to free what the report is for. */
		https->busy = true;
		(void)loop_add_timer(https->loop, 1, 0, on_failing, https, &https->failing, NULL);
		return;
	}
	https->busy = true;
	if (limit_ms > 0)
		(void)loop_add_timer(https->loop, limit_ms, 0, on_limit, https, &https->limit,
				     NULL);
	strbuf_addf(&https->out,
		    "%s %s HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\n"
		    "User-Agent: manykube\r\n",
		    method, path, https->target->host);
	if (body)
		strbuf_addf(&https->out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type,
			    strlen(body));
	strbuf_addf(&https->out, "\r\n%s", body ? body : "");
	(void)loop_set_events(https->source, EPOLLIN | EPOLLOUT, NULL);
}

int https_status(const struct https *https)
{
	return https->answer.status;
}

struct https *https_new(struct loop *loop, const struct https_target *target,
			const struct https_events *events, void *to)
{
	struct https *https = xcalloc(1, sizeof(*https));

	*https = (struct https){ .loop = loop,
				 .target = target,
				 .events = events,
				 .to = to,
				 .fd = -1,
				 .out = STRBUF_INIT,
				 .answer = ANSWER_INIT };
	return https;
}

void https_free(struct https *https)
{
	drop_connection(https);
	strbuf_release(&https->out);
	free(https);
}

/* Trust the last certificate in PEM, and present the first one. */
static bool take_identity(SSL_CTX *tls, const char *pem)
{
	BIO *in = BIO_new_mem_buf(pem, -1);
	X509 *own = PEM_read_bio_X509(in, NULL, NULL, NULL);
	X509 *authority = PEM_read_bio_X509(in, NULL, NULL, NULL);
	BIO *again = BIO_new_mem_buf(pem, -1);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(again, NULL, NULL, NULL);
	bool ok = own && authority && key && SSL_CTX_use_certificate(tls, own) == 1 &&
		  SSL_CTX_use_PrivateKey(tls, key) == 1 &&
		  X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), authority) == 1;

	X509_free(own);
	X509_free(authority);
	EVP_PKEY_free(key);
	BIO_free(in);
	BIO_free(again);
	ERR_clear_error();
	return ok;
}

static int parse_address(const char *text, struct https_target *ret, struct error *err)
{
	const char *colon = strrchr(text, ':');
	unsigned long long port;
	int r;

	if (!colon || parse_number(colon + 1, 1, 65535, &port, NULL) < 0)
		return error_set(err, -EINVAL, "'%s' is not an address with a port", text);
	ret->host = xstrndup(text, (size_t)(colon - text));
	ret->address = (struct sockaddr_in){ .sin_family = AF_INET,
					     .sin_port = htons((uint16_t)port) };
	r = inet_parse_address(ret->host, &ret->address.sin_addr, err);
	return r;
}

int https_target_init(const char *address, const char *pem, struct https_target *ret,
		      struct error *err)
{
	struct https_target target = HTTPS_TARGET_INIT;
	int r = parse_address(address, &target, err);

	if (r == 0) {
		target.tls = SSL_CTX_new(TLS_client_method());
		if (!target.tls || !take_identity(target.tls, pem))
			r = error_set(err, -EBADMSG, "the watcher's certificate cannot be read");
	}
	if (r < 0) {
		https_target_release(&target);
		return r;
	}
	SSL_CTX_set_verify(target.tls, SSL_VERIFY_PEER, NULL);
	(void)SSL_CTX_set_min_proto_version(target.tls, TLS1_2_VERSION);
	/* Buffers exist only while they are in use: most connections wait for hours. */
	(void)SSL_CTX_set_mode(target.tls, SSL_MODE_RELEASE_BUFFERS |
						   SSL_MODE_ENABLE_PARTIAL_WRITE |
						   SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	(void)SSL_CTX_set_session_cache_mode(target.tls, SSL_SESS_CACHE_OFF);
	*ret = target;
	return 0;
}

void https_target_release(struct https_target *target)
{
	SSL_CTX_free(target->tls);
	free(target->host);
	*target = HTTPS_TARGET_INIT;
}
