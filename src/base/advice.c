/* Commands that messages suggest. */

#include "base/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"

#define PROGRAM "manykube "
#define SUDO    "sudo "

static char *profile_name;

void advice_use_profile(const char *name)
{
	char *copy = name ? xstrdup(name) : NULL;

	free(profile_name);
	profile_name = copy;
}

/* Whether WORDS occurs in the first LEN characters of COMMAND. */
static bool has_words(const char *command, size_t len, const char *words)
{
	return memmem(command, len, words, strlen(words)) != NULL;
}

/* Whether COMMAND begins with the whole word WORD. */
static bool begins_with(const char *command, const char *word)
{
	size_t len = strlen(word);

	return strncmp(command, word, len) == 0 && (command[len] == ' ' || command[len] == '\'');
}

/*
 * Whether COMMAND works on one cluster and does not name it.  COMMAND has LEN characters and does
 * not include the name of the program.
 */
static bool lacks_cluster(const char *command, size_t len)
{
	static const char *const others[] = { "completion", "doctor",  "help",
					      "options",    "profile", "version" };

	if (has_words(command, len, " -p") || has_words(command, len, " --profile") ||
	    has_words(command, len, "--help") || has_words(command, len, " --download-only"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (begins_with(command, others[i]))
			return false;
	/* Settings belong to no cluster; only 'config view' prints one. */
	return !begins_with(command, "config") || begins_with(command, "config view");
}

/* The length of the command's name, including a subcommand: "start", "node start". */
static size_t name_length(const char *command)
{
	static const char *const parents[] = { "autostart", "config", "fail",
					       "network",   "node",   "worker" };
	size_t len = strcspn(command, " '");

	for (size_t i = 0; i < ARRAY_SIZE(parents); i++)
		if (begins_with(command, parents[i]) && command[len] == ' ')
			return len + 1 + strcspn(command + len + 1, " '");
	return len;
}

/*
 * If QUOTED, the text after an opening quote, begins with "manykube " or "sudo manykube ", return
 * the text after that; else NULL.
 */
static const char *find_command(const char *quoted)
{
	if (strncmp(quoted, SUDO, strlen(SUDO)) == 0)
		quoted += strlen(SUDO);
	return strncmp(quoted, PROGRAM, strlen(PROGRAM)) == 0 ? quoted + strlen(PROGRAM) : NULL;
}

char *advice_complete(const char *text)
{
	struct strbuf out = STRBUF_INIT;
	const char *quote;

	while (profile_name && (quote = strchr(text, '\''))) {
		const char *command = find_command(quote + 1);
		const char *end = command ? strchr(command, '\'') : NULL;
		const char *until = quote + 1;

		if (end && lacks_cluster(command, (size_t)(end - command)))
			until = command + name_length(command);
		strbuf_addf(&out, "%.*s", (int)(until - text), text);
		if (until != quote + 1)
			strbuf_addf(&out, " -p %s", profile_name);
		text = until;
	}
	strbuf_add(&out, text);
	return strbuf_take(&out);
}

char *advice_command(const char *command)
{
	cleanup_free char *quoted = xasprintf("'%s'", command);
	cleanup_free char *complete = advice_complete(quoted);

	return xstrndup(complete + 1, strlen(complete) - 2);
}
