/*
 * Requests to the API over HTTPS, in an event loop: one at a time over one connection, which is
 * kept for the next request.
 */
#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>

#include "base/loop.h"

/* The server, and our identity. */
struct https_target {
	SSL_CTX *tls;
	struct sockaddr_in address;
	char *host; /* "127.0.0.1", which its certificate must name */
};

#define HTTPS_TARGET_INIT ((struct https_target){ NULL })

/*
 * Fill RET for the API at ADDRESS, "127.0.0.1:6443".  PEM is our certificate, our key, and the
 * certificate of the authority that we trust.  After this, requests open no files.
 */
int https_target_init(const char *address, const char *pem, struct https_target *ret,
		      struct error *err);
void https_target_release(struct https_target *target);

struct https;

struct https_events {
	/* A part of the body of an answer. */
	void (*body)(const char *data, size_t len, void *to);
	/* The end of an answer with STATUS; 0 if the connection ended before it, because of WHY.
	 * Another request may be sent. */
	void (*done)(int status, const char *why, void *to);
};

struct https *https_new(struct loop *loop, const struct https_target *target,
			const struct https_events *events, void *to);
void https_free(struct https *https);

/* Send a request; TYPE and BODY may be NULL.  A request that is under way is given up.  The answer
 * must be complete after LIMIT_MS (0: no limit). */
void https_request(struct https *https, const char *method, const char *path, const char *type,
		   const char *body, unsigned limit_ms);

/* The status of the answer whose body is being received. */
int https_status(const struct https *https);
