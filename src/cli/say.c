/* Lines for people on stderr. */

#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"

/* Begin a line with a sign: a letter, or on a terminal something to look at. */
static void begin_line(const char *plain, const char *emoji, const char *colour)
{
	bool coloured = text_has_colour(STDERR_FILENO);

	fprintf(stderr, "%s%s%s ", coloured ? colour : "",
		text_has_emoji(STDERR_FILENO) ? emoji : plain, coloured ? "\033[0m" : "");
}

int say_error(const struct error *err, int code)
{
	const char *advice = err->hint;

	if (!advice && err->reason)
		advice = err->reason->advice;
	begin_line("X", "❌ ", "\033[1;31m");
	fprintf(stderr, "Exiting due to %s: %s\n", err->reason ? err->reason->word : "MK_FAILURE",
		err->text ? err->text : strerror(-code));
	if (advice) {
		begin_line("*", "💡 ", "\033[1;33m");
		fprintf(stderr, "Suggestion: %s\n", advice);
	}
	return err->reason ? err->reason->exit_status : EXIT_FAILURE;
}

void say_warning(const char *text)
{
	begin_line("!", "❗ ", "\033[1;33m");
	fprintf(stderr, "%s\n", text);
}
