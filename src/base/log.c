/* Debug messages and warnings. */

#include "base/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"

int log_verbosity;

/* The most bytes kept in memory until the log file is opened. */
#define PENDING_BYTES 65536

/* How many of the last lines log_debug_look() remembers. */
#define RECENT_LOOKS 4

static int log_fd = -1;
static struct strbuf pending = STRBUF_INIT;
static int64_t begun_ms;

static void show_on_stderr(const char *text)
{
	fprintf(stderr, "manykube: warning: %s\n", text);
}

static log_warning_fn show_warning = show_on_stderr;

void log_show_warnings_with(log_warning_fn show)
{
	show_warning = show ? show : show_on_stderr;
}

int log_open(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_sys(err, "cannot open the log '%s'", path);
	if (log_fd >= 0)
		(void)close(log_fd);
	log_fd = fd;
	(void)file_write_all(log_fd, pending.text, pending.len);
	strbuf_release(&pending);
	return 0;
}

int64_t log_elapsed_ms(void)
{
	if (!begun_ms)
		begun_ms = clock_now_ms();
	return clock_now_ms() - begun_ms;
}

static void keep(const char *level, const char *text)
{
	cleanup_free char *line = xasprintf("%9.3f %-7s %s\n", (double)log_elapsed_ms() / 1000,
					    level, text);

	if (log_fd >= 0)
		(void)file_write_all(log_fd, line, strlen(line));
	else if (pending.len + strlen(line) <= PENDING_BYTES)
		strbuf_add(&pending, line);
}

static void show_debug(const char *text)
{
	keep("debug", text);
	if (log_verbosity >= 2)
		fprintf(stderr, "%9.3f %s\n", (double)log_elapsed_ms() / 1000, text);
}

void log_debug(const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	show_debug(text);
}

void log_debug_look(const char *fmt, ...)
{
	static char *recent[RECENT_LOOKS];
	static size_t oldest;
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < RECENT_LOOKS; i++)
		if (recent[i] && strcmp(recent[i], text) == 0)
			return;
	show_debug(text);
	free(recent[oldest]);
	recent[oldest] = take_ptr(text);
	oldest = (oldest + 1) % RECENT_LOOKS;
}

void log_keep(const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	keep("info", text);
}

void log_last_words(const char *text, size_t len)
{
	if (log_fd >= 0)
		(void)!write(log_fd, text, len);
}

void log_warning(const char *fmt, ...)
{
	cleanup_with(strbuf_release) struct strbuf shown = STRBUF_INIT;
	cleanup_free char *complete = NULL;
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	complete = advice_complete(text);
	strbuf_add_printable(&shown, complete, strlen(complete));
	keep("warning", shown.text);
	show_warning(shown.text);
}
