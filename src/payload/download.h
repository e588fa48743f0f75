/* Files fetched over HTTP: resumed when broken off, limited in size, given up when stalled. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* Called now and then: DONE of TOTAL bytes (0: unknown). */
typedef void (*download_progress_fn)(uint64_t done, uint64_t total, void *data);

struct download {
	const char *url;
	uint64_t limit_bytes;
	bool plain_http;               /* the URL may be http://; redirections may not, ever */
	download_progress_fn progress; /* may be NULL */
	void *data;
};

/*
 * Fetch a file to PATH, which appears only when it is complete; what is there of it before is in
 * PATH.partial, and the next call goes on from that.  RET_RESUMED (may be NULL) says whether it
 * did.
 *
 * -ENOENT: the server has no such file; -EHOSTUNREACH: the server can't be reached (name,
 * connection, TLS); -EPROTO: it, or what it redirects to, is not HTTPS, or it redirects too often;
 * -EFBIG: more than the limit; -EIO: it broke off again and again; or what the disk said.
 */
int download_file(const struct download *download, const char *path, bool *ret_resumed,
		  struct error *err);

/* The same for a small one, into BUF. */
int download_text(const struct download *download, struct strbuf *buf, struct error *err);
