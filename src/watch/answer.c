/* Answers of an HTTP/1.1 server. */

#include "watch/answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"

#define LINE_MOST   16384
#define LENGTH_MOST (UINT64_C(1) << 40)

/* Read the status line "HTTP/1.1 200 OK". */
static int read_status(struct answer *answer, const char *line)
{
	cleanup_free char *digits = NULL;
	unsigned long long status;

	if (strncmp(line, "HTTP/1.", 7) != 0 || !line[7] || line[8] != ' ')
		return -EBADMSG;
	digits = xstrndup(line + 9, 3);
	if (parse_number(digits, 100, 599, &status, NULL) < 0)
		return -EBADMSG;
	answer->status = (int)status;
	answer->state = ANSWER_HEADER;
	return 0;
}

/* The value of the header NAME if LINE is that; NULL otherwise. */
static const char *value_of(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncasecmp(line, name, len) != 0 || line[len] != ':')
		return NULL;
	line += len + 1;
	return line + strspn(line, " \t");
}

static int read_header(struct answer *answer, const char *line)
{
	const char *value;
	unsigned long long length;

	value = value_of(line, "Content-Length");
	if (value) {
		if (parse_number(value, 0, LENGTH_MOST, &length, NULL) < 0)
			return -EBADMSG;
		answer->left = length;
	}
	value = value_of(line, "Transfer-Encoding");
	if (value && strcasecmp(value, "chunked") != 0)
		return -EBADMSG;
	answer->chunked |= value != NULL;
	value = value_of(line, "Connection");
	answer->closes |= value && strcasecmp(value, "close") == 0;
	return 0;
}

static void end_headers(struct answer *answer)
{
	/* An interim answer, which another one follows. */
	if (answer->status < 200)
		answer->state = ANSWER_STATUS;
	else if (answer->chunked)
		answer->state = ANSWER_CHUNK_SIZE;
	else
		answer->state = answer->left > 0 ? ANSWER_BODY : ANSWER_DONE;
}

static int read_chunk_size(struct answer *answer, const char *line)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t size = 0;
	const char *p;

	for (p = line; *p && *p != ';' && *p != ' '; p++) {
		const char *digit = strchr(digits, *p | 0x20);

		if (!digit || !*digit || size > LENGTH_MOST)
			return -EBADMSG;
		size = size * 16 + (uint64_t)(digit - digits);
	}
	if (p == line)
		return -EBADMSG;
	answer->left = size;
	answer->state = size > 0 ? ANSWER_CHUNK : ANSWER_TRAILER;
	return 0;
}

static int read_line(struct answer *answer, const char *line)
{
	switch (answer->state) {
	case ANSWER_STATUS:
		return read_status(answer, line);
	case ANSWER_HEADER:
		if (*line)
			return read_header(answer, line);
		end_headers(answer);
		return 0;
	case ANSWER_CHUNK_SIZE:
		return read_chunk_size(answer, line);
	case ANSWER_CHUNK_END:
		answer->state = ANSWER_CHUNK_SIZE;
		return *line ? -EBADMSG : 0;
	case ANSWER_TRAILER:
		if (!*line)
			answer->state = ANSWER_DONE;
		return 0;
	default:
		return -EBADMSG;
	}
}

/* Take bytes up to the end of a line; returns their number, or -EBADMSG. */
static long take_line(struct answer *answer, const char *data, size_t len)
{
	const char *end = memchr(data, '\n', len);
	size_t taken = end ? (size_t)(end - data) : len;
	int r;

	if (answer->line.len + taken > LINE_MOST || memchr(data, '\0', taken))
		return -EBADMSG;
	strbuf_add_mem(&answer->line, data, taken);
	if (!end)
		return (long)taken;
	if (answer->line.len > 0 && answer->line.text[answer->line.len - 1] == '\r')
		answer->line.text[--answer->line.len] = '\0';
	r = read_line(answer, answer->line.text);
	strbuf_reset(&answer->line);
	return r < 0 ? r : (long)taken + 1;
}

static long take_body(struct answer *answer, const char *data, size_t len, answer_body_fn fn,
		      void *to)
{
	size_t taken = answer->left < len ? (size_t)answer->left : len;

	fn(data, taken, to);
	answer->left -= taken;
	if (answer->left == 0)
		answer->state = answer->chunked ? ANSWER_CHUNK_END : ANSWER_DONE;
	return (long)taken;
}

long answer_feed(struct answer *answer, const char *data, size_t len, answer_body_fn fn, void *to)
{
	size_t done = 0;

	while (done < len && answer->state != ANSWER_DONE) {
		bool in_body = answer->state == ANSWER_BODY || answer->state == ANSWER_CHUNK;
		long taken = in_body ? take_body(answer, data + done, len - done, fn, to)
				     : take_line(answer, data + done, len - done);

		if (taken < 0)
			return taken;
		done += (size_t)taken;
	}
	return (long)done;
}

void answer_release(struct answer *answer)
{
	strbuf_release(&answer->line);
	*answer = ANSWER_INIT;
}
