/* Readiness probes of API servers. */

#include "balancer/probe.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <strings.h>

#include "balancer/pool.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/strbuf.h"

static const unsigned period_ms = 1000;
static const unsigned unhealthy_period_ms = 200;
static const unsigned answer_limit_ms = 2000;
static const size_t answer_limit_bytes = 65536;

enum phase {
	PHASE_IDLE, /* between probes, perhaps with an open connection */
	PHASE_CONNECT,
	PHASE_HANDSHAKE,
	PHASE_ANSWER,
};

struct prober {
	struct loop *loop;
	SSL_CTX *context;
};

struct probe {
	struct prober *prober;
	struct backend *backend;
	enum phase phase;
	int fd;
	struct loop_source *source;
	struct loop_source *timer; /* for the next probe, or for the timeout of this one */
	SSL *ssl;
	bool used; /* the connection has worked before, so a failure may only mean that it is old */
	struct strbuf answer;
};

static int on_time(void *data, struct error *err);

int prober_new(struct loop *loop, struct prober **ret_prober, struct error *err)
{
	cleanup_with(prober_freep) struct prober *prober = xcalloc(1, sizeof(*prober));

	(void)OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	prober->loop = loop;
	prober->context = SSL_CTX_new(TLS_client_method());
	if (!prober->context)
		return error_set(err, -ENOMEM, "cannot prepare TLS");
	/* Probes send no secrets, and clients verify certificates themselves. */
	SSL_CTX_set_verify(prober->context, SSL_VERIFY_NONE, NULL);
	(void)SSL_CTX_set_mode(prober->context, SSL_MODE_RELEASE_BUFFERS);
	(void)SSL_CTX_set_session_cache_mode(prober->context, SSL_SESS_CACHE_OFF);
	*ret_prober = take_ptr(prober);
	return 0;
}

void prober_free(struct prober *prober)
{
	SSL_CTX_free(prober->context);
	free(prober);
}

static void disconnect(struct probe *probe)
{
	if (probe->source)
		loop_remove(take_ptr(probe->source));
	SSL_free(probe->ssl);
	probe->ssl = NULL;
	if (probe->fd >= 0)
		(void)close(take_fd(probe->fd));
	probe->used = false;
}

/* Without a timer there would be no more probes, so callers end the loop on failure. */
static int set_timer(struct probe *probe, unsigned delay_ms, struct error *err)
{
	if (probe->timer)
		loop_remove(take_ptr(probe->timer));
	return loop_add_timer(probe->prober->loop, delay_ms, 0, on_time, probe, &probe->timer, err);
}

/* Report the result of a probe and schedule the next one. */
static int finish_probe(struct probe *probe, enum probe_finding finding, const char *detail,
			bool keep, struct error *err)
{
	if (keep)
		probe->used = true;
	else
		disconnect(probe);
	strbuf_release(&probe->answer);
	probe->phase = PHASE_IDLE;
	pool_probed(probe->backend, finding, detail);
	return set_timer(probe, finding == PROBE_READY ? period_ms : unhealthy_period_ms, err);
}

static int fail(struct probe *probe, const char *detail, struct error *err)
{
	return finish_probe(probe, PROBE_SILENT, detail, false, err);
}

static int fail_to_connect(struct probe *probe, int problem, struct error *err)
{
	return finish_probe(probe, problem == ECONNREFUSED ? PROBE_REFUSED : PROBE_SILENT,
			    strerror(problem), false, err);
}

/* Find the value of the header NAME in the lines between TEXT and END. */
static bool find_header(const char *text, const char *end, const char *name, const char **ret_value,
			size_t *ret_len)
{
	size_t len = strlen(name);
	const char *line = text;

	while (line < end) {
		const char *next = memmem(line, (size_t)(end - line), "\r\n", 2);

		if (!next)
			next = end;
		if ((size_t)(next - line) > len && strncasecmp(line, name, len) == 0) {
			*ret_value = line + len;
			while (*ret_value < next && **ret_value == ' ')
				++*ret_value;
			*ret_len = (size_t)(next - *ret_value);
			return true;
		}
		line = next + 2;
	}
	return false;
}

int probe_parse_answer(const char *text, size_t len, bool *ret_close)
{
	const char *end = memmem(text, len, "\r\n\r\n", 4);
	unsigned long long body = 0;
	const char *value;
	size_t value_len;
	int status;

	if (len >= 5 && memcmp(text, "HTTP/", 5) != 0)
		return -EINVAL;
	if (!end)
		return 0;
	if (end - text < 12 || text[8] != ' ')
		return -EINVAL;
	for (int i = 9; i < 12; i++)
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
	status = (text[9] - '0') * 100 + (text[10] - '0') * 10 + (text[11] - '0');
	if (status < 100)
		return -EINVAL;
	*ret_close = find_header(text, end, "connection:", &value, &value_len) && value_len == 5 &&
		     strncasecmp(value, "close", 5) == 0;
	if (!find_header(text, end, "content-length:", &value, &value_len)) {
		/* Without a length, the end of the body and the start of the next answer are
		 * unknown. */
		*ret_close = true;
		return status;
	}
	{
		cleanup_free char *number = xstrndup(value, value_len);

		if (parse_number(number, 0, answer_limit_bytes, &body, NULL) < 0)
			return -EINVAL;
	}
	return len - (size_t)(end + 4 - text) >= body ? status : 0;
}

static int judge_status(struct probe *probe, int status, bool must_close, struct error *err)
{
	cleanup_free char *detail = xasprintf("HTTP status %d", status);

	/* 401: anonymous requests are disabled; the API server works but does not say more. */
	if (status == 200 || status == 401)
		return finish_probe(probe, PROBE_READY, status == 200 ? "ready" : detail,
				    !must_close, err);
	return finish_probe(probe, PROBE_UNREADY, detail, !must_close, err);
}

static int begin_probe(struct probe *probe, struct error *err);

/* The connection is lost.  If it worked before, it is replaced. */
static int lost(struct probe *probe, const char *detail, struct error *err)
{
	bool again = probe->used;

	disconnect(probe);
	if (again) {
		probe->phase = PHASE_IDLE;
		return begin_probe(probe, err);
	}
	return fail(probe, detail, err);
}

/* Wait for the event that OpenSSL needs, or fail with DETAIL. */
static int wait_or_fail(struct probe *probe, int result, const char *detail, struct error *err)
{
	switch (SSL_get_error(probe->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		return loop_set_events(probe->source, EPOLLIN, err);
	case SSL_ERROR_WANT_WRITE:
		return loop_set_events(probe->source, EPOLLOUT, err);
	default:
		return lost(probe, detail, err);
	}
}

static int read_answer(struct probe *probe, struct error *err)
{
	for (;;) {
		bool must_close = false;
		int len = SSL_read(probe->ssl, strbuf_grow(&probe->answer, 4096), 4096);
		int status;

		if (len <= 0)
			return wait_or_fail(probe, len, "the connection was closed", err);
		strbuf_grown(&probe->answer, (size_t)len);
		status = probe_parse_answer(probe->answer.text, probe->answer.len, &must_close);
		if (status < 0 || probe->answer.len > answer_limit_bytes)
			return fail(probe, "the answer is not HTTP", err);
		if (status > 0)
			return judge_status(probe, status, must_close, err);
	}
}

static int send_probe(struct probe *probe, struct error *err)
{
	static const char format[] = "GET /readyz HTTP/1.1\r\nHost: %s\r\n"
				     "User-Agent: manykube-front-door\r\n\r\n";
	cleanup_free char *request = xasprintf(format, probe->backend->address);
	int r;

	probe->phase = PHASE_ANSWER;
	strbuf_reset(&probe->answer);
	r = SSL_write(probe->ssl, request, (int)strlen(request));
	/* A socket with an empty buffer accepts such a short text at once. */
	if (r <= 0)
		return lost(probe, "the question could not be sent", err);
	return read_answer(probe, err);
}

static int shake_hands(struct probe *probe, struct error *err)
{
	int r = SSL_connect(probe->ssl);

	if (r == 1)
		return send_probe(probe, err);
	return wait_or_fail(probe, r, "the TLS handshake failed", err);
}

static int check_connected(struct probe *probe, struct error *err)
{
	int problem = 0;
	socklen_t len = sizeof(problem);

	(void)getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &problem, &len);
	if (problem)
		return fail_to_connect(probe, problem, err);
	probe->phase = PHASE_HANDSHAKE;
	probe->ssl = SSL_new(probe->prober->context);
	if (!probe->ssl || SSL_set_fd(probe->ssl, probe->fd) != 1)
		return fail(probe, "cannot prepare TLS", err);
	return shake_hands(probe, err);
}

/* Handle data between probes: the end of the connection, or a TLS message. */
static int look_at_idle(struct probe *probe, struct error *err)
{
	char byte;
	int r = SSL_read(probe->ssl, &byte, 1);

	if (r <= 0 && SSL_get_error(probe->ssl, r) == SSL_ERROR_WANT_READ)
		return 0;
	disconnect(probe);
	return begin_probe(probe, err);
}

static int on_ready(arg_unused int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	struct probe *probe = data;

	ERR_clear_error();
	switch (probe->phase) {
	case PHASE_IDLE:
		return look_at_idle(probe, err);
	case PHASE_CONNECT:
		return check_connected(probe, err);
	case PHASE_HANDSHAKE:
		return shake_hands(probe, err);
	case PHASE_ANSWER:
		return read_answer(probe, err);
	}
	return 0;
}

/* Start a probe, on the open connection or on a new one. */
static int begin_probe(struct probe *probe, struct error *err)
{
	int r = set_timer(probe, answer_limit_ms, err);

	if (r < 0)
		return r;
	ERR_clear_error();
	if (probe->ssl)
		return send_probe(probe, err);
	probe->phase = PHASE_CONNECT;
	r = endpoint_connect(&probe->backend->endpoint, SOCK_STREAM, &probe->fd);
	if (r < 0)
		return fail_to_connect(probe, -r, err);
	return loop_add_fd(probe->prober->loop, probe->fd, EPOLLOUT, on_ready, probe,
			   &probe->source, err);
}

static int on_time(void *data, struct error *err)
{
	struct probe *probe = data;

	if (probe->phase == PHASE_IDLE)
		return begin_probe(probe, err);
	return fail(probe, "no answer in time", err);
}

int probe_new(struct prober *prober, struct backend *backend, struct probe **ret_probe,
	      struct error *err)
{
	struct probe *probe = xcalloc(1, sizeof(*probe));
	int r;

	*probe = (struct probe){
		.prober = prober, .backend = backend, .fd = -1, .answer = STRBUF_INIT
	};
	r = set_timer(probe, 0, err);
	if (r < 0) {
		probe_free(probe);
		return r;
	}
	*ret_probe = probe;
	return 0;
}

void probe_free(struct probe *probe)
{
	disconnect(probe);
	if (probe->timer)
		loop_remove(probe->timer);
	strbuf_release(&probe->answer);
	free(probe);
}

void probe_hurry(struct probe *probe)
{
	if (probe->phase == PHASE_IDLE)
		(void)set_timer(probe, 0, NULL);
}
