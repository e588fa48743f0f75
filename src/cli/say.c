/* Lines for people on stderr. */

#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/text.h"

/* Begin a line with a sign: a letter, or on a terminal something to look at. */
static void begin_line(struct strbuf *out, const char *plain, const char *emoji, const char *colour)
{
	bool coloured = text_has_colour(STDERR_FILENO);

	strbuf_addf(out, "%s%s%s ", coloured ? colour : "",
		    text_has_emoji(STDERR_FILENO) ? emoji : plain, coloured ? "\033[0m" : "");
}

void say_compose(const struct error *err, int code, struct strbuf *out)
{
	const char *advice = err->hint;

	if (!advice && err->reason)
		advice = err->reason->advice;
	begin_line(out, "X", "❌ ", "\033[1;31m");
	strbuf_addf(out, "Exiting due to %s: %s\n", err->reason ? err->reason->word : "MK_FAILURE",
		    err->text ? err->text : strerror(-code));
	if (advice) {
		begin_line(out, "*", "💡 ", "\033[1;33m");
		strbuf_addf(out, "Suggestion: %s\n", advice);
	}
}

int say_error(const struct error *err, int code)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	say_compose(err, code, &text);
	(void)fputs(text.text, stderr);
	return err->reason ? err->reason->exit_status : EXIT_FAILURE;
}

void say_warning(const char *text)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;

	begin_line(&line, "!", "❗ ", "\033[1;33m");
	strbuf_addf(&line, "%s\n", text);
	(void)fputs(line.text, stderr);
}
