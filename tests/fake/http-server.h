/*
 * A small HTTP server for tests: serves a directory on 127.0.0.1 from a child process, with ranges.
 *
 * Files beside the served ones change how FILE is served:
 *
 *	FILE.break     contains a number of bytes after which the connection is closed; this file
 *	               is removed, so that it happens only once
 *	FILE.norange   ranges are ignored
 *	FILE.redirect  the answer is a redirection to the URL in this file
 *	FILE.refused   FILE is the body of a refusal, 403
 *
 * The file `requests` in the directory gets a line for each request: STATUS PATH FIRST-BYTE.
 */
#pragma once

#include <sys/types.h>

struct fake_http {
	pid_t pid;
	char *url; /* http://127.0.0.1:PORT */
};

#define FAKE_HTTP_INIT ((struct fake_http){ .pid = -1 })

/* Start the server; exits on failure. */
void fake_http_start(const char *dir, struct fake_http *ret);
void fake_http_stop(struct fake_http *server);
