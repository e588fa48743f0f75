/* A small HTTP server for tests. */

#include "http-server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"

static void note(const char *dir, int status, const char *path, size_t first)
{
	cleanup_free char *log = xasprintf("%s/requests", dir);
	cleanup_free char *line = xasprintf("%d %s %zu\n", status, path, first);
	cleanup_fd int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	(void)file_write_all(fd, line, strlen(line));
}

/* Read the head of a request: its path and the first byte of its range. */
static bool read_request(int fd, char **ret_path, size_t *ret_first)
{
	char head[8192] = "";
	size_t len = 0;
	char *range;
	char *end;

	while (len < sizeof(head) - 1 && !strstr(head, "\r\n\r\n")) {
		ssize_t got = read(fd, head + len, sizeof(head) - 1 - len);

		if (got <= 0)
			return false;
		len += (size_t)got;
		head[len] = '\0';
	}
	range = strcasestr(head, "\r\nRange: bytes=");
	if (range)
		(void)sscanf(range, "\r\n%*[^=]=%zu", ret_first);
	if (strncmp(head, "GET /", 5) != 0)
		return false;
	end = strchr(head + 5, ' ');
	if (!end)
		return false;
	*ret_path = xstrndup(head + 5, (size_t)(end - head - 5));
	return true;
}

static void answer_head(int fd, int status, size_t first, size_t size, const char *location)
{
	cleanup_with(strbuf_release) struct strbuf head = STRBUF_INIT;
	size_t length = status == 200 || status == 403 ? size : status == 206 ? size - first : 0;

	strbuf_addf(&head, "HTTP/1.1 %d Whatever\r\nContent-Length: %zu\r\nConnection: close\r\n",
		    status, length);
	if (status == 206)
		strbuf_addf(&head, "Content-Range: bytes %zu-%zu/%zu\r\n", first, size - 1, size);
	if (status == 302)
		strbuf_addf(&head, "Location: %s\r\n", location);
	strbuf_add(&head, "\r\n");
	(void)file_write_all(fd, head.text, head.len);
}

static void serve(int fd, const char *dir)
{
	cleanup_with(strbuf_release) struct strbuf body = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf cut = STRBUF_INIT;
	cleanup_free char *path = NULL;
	cleanup_free char *file = NULL;
	cleanup_free char *broken = NULL;
	cleanup_free char *no_range = NULL;
	cleanup_free char *redirect = NULL;
	cleanup_free char *refused = NULL;
	cleanup_with(strbuf_release) struct strbuf location = STRBUF_INIT;
	size_t first = 0;
	size_t last;
	int status;

	if (!read_request(fd, &path, &first))
		return;
	file = xasprintf("%s/%s", dir, path);
	broken = xasprintf("%s.break", file);
	no_range = xasprintf("%s.norange", file);
	redirect = xasprintf("%s.redirect", file);
	refused = xasprintf("%s.refused", file);
	if (file_exists(no_range))
		first = 0;
	if (file_read(redirect, 4096, &location, NULL) == 0)
		status = 302;
	else if (file_read(file, 64 << 20, &body, NULL) < 0)
		status = 404;
	else if (file_exists(refused))
		status = 403;
	else if (first > 0 && first >= body.len)
		status = 416;
	else
		status = first ? 206 : 200;
	note(dir, status, path, first);
	answer_head(fd, status, first, body.len, location.text);
	if (status >= 300 && status != 403)
		return;
	last = body.len;
	if (file_read(broken, 4096, &cut, NULL) == 0) {
		last = MIN(last, first + strtoull(cut.text, NULL, 10));
		(void)unlink(broken);
	}
	(void)file_write_all(fd, body.text + first, last - first);
}

static _Noreturn void run(int listener, const char *dir)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_IGN);
	for (;;) {
		cleanup_fd int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0) {
			serve(fd, dir);
			(void)shutdown(fd, SHUT_WR);
		}
	}
}

void fake_http_start(const char *dir, struct fake_http *ret)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	cleanup_fd int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) < 0 ||
	    listen(listener, 16) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) < 0) {
		perror("fake HTTP server");
		abort();
	}
	/* A proxy of the environment cannot reach our loopback. */
	(void)setenv("no_proxy", "127.0.0.1", 1);
	ret->pid = fork();
	if (ret->pid == 0)
		run(listener, dir);
	ret->url = xasprintf("http://127.0.0.1:%u", ntohs(address.sin_port));
}

void fake_http_stop(struct fake_http *server)
{
	if (server->pid > 0) {
		(void)kill(server->pid, SIGKILL);
		(void)waitpid(server->pid, NULL, 0);
	}
	free(server->url);
	*server = FAKE_HTTP_INIT;
}
