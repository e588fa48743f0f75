/* Downloads over HTTPS. */

#include "payload/download.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/curl.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

#define TRIES               5
#define CONNECT_SECONDS     15L
#define STALL_SECONDS       30L
#define STALL_BYTES_PER_SEC 1024L
#define REDIRECTS           5L

/* A transfer: its destination and its result. */
struct transfer {
	const struct download *download;
	const struct curl *curl;
	CURL *handle;
	int fd;             /* the partial file, or -1 */
	struct strbuf *buf; /* the destination if there is no file */
	uint64_t begun_at;  /* bytes in the file before this attempt */
	uint64_t got;       /* bytes in the destination now */
	bool too_big;
	int disk_problem; /* a negative errno */
	long status;
	char text[CURL_ERROR_SIZE];
};

/* What to do after an attempt. */
enum verdict {
	VERDICT_DONE,
	VERDICT_AGAIN,
	VERDICT_AFRESH, /* again, from the beginning of the file */
	VERDICT_FAILED,
};

static size_t on_data(char *data, size_t size, size_t count, void *user)
{
	struct transfer *transfer = user;
	size_t len = size * count;

	if (transfer->got + len > transfer->download->limit_bytes) {
		transfer->too_big = true;
		return 0;
	}
	if (transfer->buf) {
		strbuf_add_mem(transfer->buf, data, len);
	} else {
		transfer->disk_problem = file_write_all(transfer->fd, data, len);
		if (transfer->disk_problem < 0)
			return 0;
	}
	transfer->got += len;
	return len;
}

static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total arg_unused,
		       curl_off_t up_now arg_unused)
{
	struct transfer *transfer = user;

	if (transfer->download->progress)
		transfer->download->progress(transfer->begun_at + (uint64_t)now,
					     total ? transfer->begun_at + (uint64_t)total : 0,
					     transfer->download->data);
	return 0;
}

static int open_handle(struct transfer *transfer, struct error *err)
{
	const struct curl *curl;
	CURL *handle;
	int r = curl_load(&curl, err);

	if (r < 0)
		return r;
	handle = curl->easy_init();
	if (!handle)
		return error_set(err, -ENOMEM, "cannot set up libcurl");
	transfer->curl = curl;
	transfer->handle = handle;
	(void)curl->easy_setopt(handle, CURLOPT_URL, transfer->download->url);
	/* Plain HTTP is allowed for a mirror whose URL says so, but never for redirections. */
	if (curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR,
			      transfer->download->plain_http ? "http,https" : "https") !=
		    CURLE_OK ||
	    curl->easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "https") != CURLE_OK)
		return error_because(
			err, &reason_host_missing_tool, -ENOTSUP,
			"this libcurl cannot limit protocols: 7.85 or later is needed");
	(void)curl->easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
	(void)curl->easy_setopt(handle, CURLOPT_MAXREDIRS, REDIRECTS);
	(void)curl->easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
	(void)curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	(void)curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	(void)curl->easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
	(void)curl->easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES_PER_SEC);
	(void)curl->easy_setopt(handle, CURLOPT_USERAGENT, "manykube/" MANYKUBE_VERSION);
	(void)curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_data);
	(void)curl->easy_setopt(handle, CURLOPT_WRITEDATA, transfer);
	(void)curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
	(void)curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
	(void)curl->easy_setopt(handle, CURLOPT_XFERINFODATA, transfer);
	(void)curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, transfer->text);
	return 0;
}

/* Whether RESULT means that the server could not be reached. */
static bool is_unreachable(struct transfer *transfer, CURLcode result)
{
	long proxy_status = 0;
	double connected = 0;

	(void)transfer->curl->easy_getinfo(transfer->handle, CURLINFO_HTTP_CONNECTCODE,
					   &proxy_status);
	(void)transfer->curl->easy_getinfo(transfer->handle, CURLINFO_PRETRANSFER_TIME, &connected);
	switch (result) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return true;
	default:
		/* A proxy that refuses, or a timeout before the connection was established. */
		return proxy_status >= 400 || (transfer->status == 0 && connected == 0);
	}
}

/* Report that the URL, or one that the server redirected to, is not HTTPS. */
static int refuse_protocol(struct transfer *transfer, struct error *err)
{
	const char *url = transfer->download->url;
	const char *target = NULL;
	int r;

	(void)transfer->curl->easy_getinfo(transfer->handle, CURLINFO_REDIRECT_URL, &target);
	if (!target)
		(void)transfer->curl->easy_getinfo(transfer->handle, CURLINFO_EFFECTIVE_URL,
						   &target);
	if (transfer->status >= 300 && transfer->status < 400)
		r = error_because(err, &reason_download, -EPROTO,
				  "'%s' redirects to '%s', which is not HTTPS", url,
				  target ? target : "another URL");
	else
		r = error_because(err, &reason_download, -EPROTO, "'%s' is not HTTPS", url);
	return error_hint(err, r,
			  "plain HTTP is allowed only if the URL of --binary-mirror begins with "
			  "http://, and never for redirections");
}

static int explain(struct transfer *transfer, CURLcode result, struct error *err)
{
	const char *url = transfer->download->url;
	const char *why = transfer->text[0] ? transfer->text
					    : transfer->curl->easy_strerror(result);
	int r;

	if (transfer->too_big)
		return error_because(err, &reason_download, -EFBIG,
				     "'%s' is bigger than %llu bytes", url,
				     (unsigned long long)transfer->download->limit_bytes);
	if (transfer->disk_problem < 0)
		return error_set(err, transfer->disk_problem, "cannot store '%s': %s", url,
				 strerror(-transfer->disk_problem));
	if (result == CURLE_UNSUPPORTED_PROTOCOL)
		return refuse_protocol(transfer, err);
	if (result == CURLE_TOO_MANY_REDIRECTS)
		return error_because(err, &reason_download, -EPROTO,
				     "'%s' redirects more than %ld times", url, REDIRECTS);
	if (transfer->status == 403 || transfer->status == 404 || transfer->status == 410)
		r = -ENOENT;
	else
		r = is_unreachable(transfer, result) ? -EHOSTUNREACH : -EIO;
	return error_because(err, &reason_download, r, "cannot download '%s': %s", url, why);
}

/* Judge an attempt; R and ERR are set for VERDICT_AGAIN and VERDICT_FAILED. */
static enum verdict judge_transfer(struct transfer *transfer, CURLcode result, int *r,
				   struct error *err)
{
	if (result == CURLE_OK && transfer->status != 416)
		return VERDICT_DONE;
	/* 416: the partial file is complete, or longer than the file on the server.  The checksum
	 * will show which. */
	if (transfer->status == 416)
		return VERDICT_DONE;
	if (result == CURLE_RANGE_ERROR || result == CURLE_BAD_DOWNLOAD_RESUME)
		return VERDICT_AFRESH;
	*r = explain(transfer, result, err);
	if (*r != -EIO || (transfer->status >= 400 && transfer->status < 500 &&
			   transfer->status != 408 && transfer->status != 429))
		return VERDICT_FAILED;
	return VERDICT_AGAIN;
}

static int open_partial(struct transfer *transfer, const char *partial, bool afresh,
			struct error *err)
{
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (afresh ? O_TRUNC : 0);
	struct stat st;

	if (transfer->fd >= 0)
		(void)close(take_fd(transfer->fd));
	transfer->fd = open(partial, flags, 0644);
	if (transfer->fd < 0 || fstat(transfer->fd, &st) < 0)
		return error_sys(err, "cannot open '%s'", partial);
	transfer->begun_at = (uint64_t)st.st_size;
	transfer->got = transfer->begun_at;
	(void)transfer->curl->easy_setopt(transfer->handle, CURLOPT_RESUME_FROM_LARGE,
					  (curl_off_t)st.st_size);
	return 0;
}

static CURLcode try_once(struct transfer *transfer)
{
	CURLcode result;

	transfer->text[0] = '\0';
	transfer->status = 0;
	result = transfer->curl->easy_perform(transfer->handle);
	(void)transfer->curl->easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE,
					   &transfer->status);
	return result;
}

/* Try until the transfer is complete.  Attempts that made progress do not count. */
static int run(struct transfer *transfer, const char *partial, struct error *err)
{
	bool afresh = false;

	for (unsigned tries = 0; tries < TRIES;) {
		enum verdict verdict;
		uint64_t before;
		CURLcode result;
		int r = 0;

		if (partial)
			r = open_partial(transfer, partial, afresh, err);
		else
			strbuf_reset(transfer->buf);
		if (r < 0)
			return r;
		if (!partial)
			transfer->got = 0;
		before = transfer->got;
		error_clear(err);
		result = try_once(transfer);
		verdict = judge_transfer(transfer, result, &r, err);
		if (verdict == VERDICT_DONE)
			return 0;
		if (verdict == VERDICT_FAILED)
			return r;
		log_debug("'%s': %s; trying again", transfer->download->url,
			  transfer->curl->easy_strerror(result));
		afresh = verdict == VERDICT_AFRESH;
		tries = partial && transfer->got > before ? 0 : tries + 1;
		if (tries > 0)
			clock_rest_ms(100U << tries);
	}
	if (afresh)
		return error_because(err, &reason_download, -EIO, "cannot download '%s'",
				     transfer->download->url);
	return -EIO;
}

static void transfer_release(struct transfer *transfer)
{
	if (transfer->handle)
		transfer->curl->easy_cleanup(transfer->handle);
	if (transfer->fd >= 0)
		(void)close(transfer->fd);
}

static int pass_on(const struct error *problem, int r, struct error *err)
{
	(void)error_because(err, problem->reason, r, "%s", problem->text);
	return problem->hint ? error_hint(err, r, "%s", problem->hint) : r;
}

int download_file(const struct download *download, const char *path, bool *ret_resumed,
		  struct error *err)
{
	cleanup_with(transfer_release) struct transfer transfer = { .download = download,
								    .fd = -1 };
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_free char *partial = xasprintf("%s.partial", path);
	bool resumed = file_exists(partial);
	int r = open_handle(&transfer, err);

	if (r < 0)
		return r;
	r = run(&transfer, partial, &problem);
	if (r < 0)
		return pass_on(&problem, r, err);
	if (rename(partial, path) < 0)
		return error_sys(err, "cannot rename to '%s'", path);
	if (ret_resumed)
		*ret_resumed = resumed;
	return 0;
}

int download_text(const struct download *download, struct strbuf *buf, struct error *err)
{
	cleanup_with(transfer_release) struct transfer transfer = { .download = download,
								    .fd = -1,
								    .buf = buf };
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	int r = open_handle(&transfer, err);

	if (r < 0)
		return r;
	r = run(&transfer, NULL, &problem);
	return r < 0 ? pass_on(&problem, r, err) : 0;
}
