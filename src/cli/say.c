/* Messages for people. */

#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/events.h"
#include "cli/text.h"

/* Start a line with a sign: a letter, or an emoji on a terminal. */
static void begin_line(struct strbuf *out, const char *plain, const char *emoji, const char *colour)
{
	bool coloured = text_has_colour(STDERR_FILENO);

	strbuf_addf(out, "%s%s%s ", coloured ? colour : "",
		    text_has_emoji(STDERR_FILENO) ? emoji : plain, coloured ? "\033[0m" : "");
}

void say_compose(const struct error *err, int code, struct strbuf *out)
{
	const char *advice = error_advice(err);

	if (events_on_stdout()) {
		events_compose_error(err, code, out);
		return;
	}
	begin_line(out, "X", "❌ ", "\033[1;31m");
	strbuf_addf(out, "Exiting due to %s: %s\n", err->reason ? err->reason->word : "MK_FAILURE",
		    err->text ? err->text : strerror(-code));
	if (advice) {
		begin_line(out, "*", "💡 ", "\033[1;33m");
		strbuf_addf(out, "Suggestion: %s\n", advice);
	}
}

int say_fd(void)
{
	return events_on_stdout() ? STDOUT_FILENO : STDERR_FILENO;
}

int say_error(const struct error *err, int code)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	events_error(err, code);
	if (!events_on_stdout()) {
		say_compose(err, code, &text);
		(void)fputs(text.text, stderr);
	}
	return error_exit_status(err);
}

void say_warning(const char *text)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;

	events_warning(text);
	if (events_on_stdout())
		return;
	begin_line(&line, "!", "❗ ", "\033[1;33m");
	strbuf_addf(&line, "%s\n", text);
	(void)fputs(line.text, stderr);
}

void say_done(const char *fmt, ...)
{
	cleanup_free char *complete = NULL;
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	complete = advice_complete(text);
	events_done(complete);
	if (!events_on_stdout())
		fprintf(stderr, "%s\n", complete);
}

bool say_go_on(void)
{
	char answer[16] = "";

	fputs("Continue? [y/N] ", stderr);
	return fgets(answer, sizeof(answer), stdin) &&
	       (strcasecmp(answer, "y\n") == 0 || strcasecmp(answer, "yes\n") == 0);
}
