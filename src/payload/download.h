/* Downloads over HTTPS: resumed when interrupted, limited in size, aborted when stalled. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* Called repeatedly with DONE of TOTAL bytes (0: unknown). */
typedef void (*download_progress_fn)(uint64_t done, uint64_t total, void *data);

struct download {
	const char *url;
	uint64_t limit_bytes;
	bool plain_http;               /* the URL may be http://, but redirections never */
	download_progress_fn progress; /* may be NULL */
	void *data;
};

/*
 * Download a file to PATH, which appears only when it is complete.  An incomplete file is kept in
 * PATH.partial, and the next call resumes there.  RET_RESUMED (may be NULL) tells whether this call
 * resumed.
 *
 * -ENOENT: the server has no such file; -EHOSTUNREACH: the server cannot be reached (name,
 * connection, TLS); -EPROTO: the URL or a redirection is not HTTPS, or there are too many
 * redirections; -EFBIG: the file exceeds the limit; -EIO: the transfer failed repeatedly; other
 * codes come from writing the file.
 */
int download_file(const struct download *download, const char *path, bool *ret_resumed,
		  struct error *err);

/* Download a small file into BUF. */
int download_text(const struct download *download, struct strbuf *buf, struct error *err);
