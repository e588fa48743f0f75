/* A control plane for tests of the front door. */

#include "fake-backend.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "test.h"

static SSL_CTX *make_context(void)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();
	X509_NAME *name = X509_get_subject_name(certificate);

	(void)X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
	(void)X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
	(void)X509_set_pubkey(certificate, key);
	(void)X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"fake",
					 -1, -1, 0);
	(void)X509_set_issuer_name(certificate, name);
	ASSERT(X509_sign(certificate, key, EVP_sha256()) > 0);
	ASSERT(SSL_CTX_use_certificate(context, certificate) == 1);
	ASSERT(SSL_CTX_use_PrivateKey(context, key) == 1);
	X509_free(certificate);
	EVP_PKEY_free(key);
	return context;
}

/* Answer all requests of one connection. */
static void serve_tls(int fd, SSL_CTX *context, volatile int *status)
{
	SSL *ssl = SSL_new(context);
	char request[4096];
	int len;

	(void)SSL_set_fd(ssl, fd);
	if (SSL_accept(ssl) != 1)
		return;
	while ((len = SSL_read(ssl, request, sizeof(request) - 1)) > 0) {
		cleanup_free char *answer = xasprintf(
			"HTTP/1.1 %d Word\r\nContent-Length: 2\r\n\r\nok", *status);

		request[len] = '\0';
		if (strncmp(request, "GET /readyz HTTP/1.1\r\n", 22) != 0)
			return;
		if (*status != 0)
			(void)SSL_write(ssl, answer, (int)strlen(answer));
	}
}

static void serve_plain(int fd, const char *name, char command)
{
	static char buf[65536];
	ssize_t len;

	if (command == 'n')
		(void)!write(fd, name, strlen(name));
	while ((len = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < len;) {
			ssize_t written = write(fd, buf + at, (size_t)(len - at));

			if (written < 0)
				return;
			at += written;
		}
	if (command == 'e')
		(void)!write(fd, "end", 3);
}

static void serve(int fd, SSL_CTX *context, const char *name, volatile int *status)
{
	char first;

	if (recv(fd, &first, 1, MSG_PEEK) != 1)
		return;
	/* The first byte of a TLS handshake. */
	if (first == 0x16) {
		serve_tls(fd, context, status);
		return;
	}
	(void)!read(fd, &first, 1);
	serve_plain(fd, name, first);
}

static int listen_on(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ASSERT(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	ASSERT(listen(fd, 64) == 0);
	return fd;
}

struct fake_backend fake_backend_start(const char *name, int port)
{
	struct fake_backend backend;
	int fd = listen_on(port);

	backend.port = test_port(fd);
	backend.status = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			      0);
	*backend.status = 200;
	backend.pid = fork();
	ASSERT(backend.pid >= 0);
	if (backend.pid == 0) {
		SSL_CTX *context;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setpgid(0, 0);
		(void)signal(SIGCHLD, SIG_IGN);
		(void)signal(SIGPIPE, SIG_IGN);
		context = make_context();
		for (;;) {
			int client = accept(fd, NULL, NULL);

			if (fork() == 0) {
				(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
				(void)close(fd);
				serve(client, context, name, backend.status);
				_exit(0);
			}
			(void)close(client);
		}
	}
	(void)setpgid(backend.pid, backend.pid);
	(void)close(fd);
	return backend;
}

void fake_backend_signal(const struct fake_backend *backend, int signal)
{
	ASSERT(kill(-backend->pid, signal) == 0);
	if (signal == SIGKILL)
		(void)waitpid(backend->pid, NULL, 0);
}

int fake_free_port(void)
{
	int fd = listen_on(0);
	int port = test_port(fd);

	(void)close(fd);
	return port;
}

int fake_connect(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}
