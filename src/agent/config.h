/*
 * The agent's configuration file.
 *
 * One statement per line; indentation is ignored; a line that begins with '#' is a comment.
 * Words are separated by blanks.  A word may be in double quotes; \" and \\ are escapes there.
 * Defaults are in parentheses.
 *
 *	grace SECONDS             how long pods may take to end at shutdown (5)
 *	service NAME              begins a service, to which the following statements belong:
 *	command PROGRAM WORD...   the command to run; required
 *	log FILE                  the log file for its output (the agent's own log)
 *	when FILE                 run it only while this file exists
 *	needs SOCKET              start it only once this Unix socket accepts connections
 *	arguments-from FILE NAME  add the words of the line NAME="..." in FILE to the command
 *	environment NAME=VALUE... additional environment variables
 *	environment-from FILE     add the lines NAME=VALUE of FILE, if it exists, to the environment
 *	stop-seconds SECONDS      how long it may take to end before it is killed (5; first service:
 *3)
 *
 * Services are stopped in reverse order.  The pods are stopped just before the first service, which
 * is their runtime.
 *
 * The agent uses only the C library.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define AGENT_SERVICES_MAX  8
#define AGENT_ARGUMENTS_MAX 256
#define AGENT_CONFIG_MAX    (256 * 1024) /* bytes of a configuration or arguments file */

struct agent_service {
	char *name;
	char *log;
	char *when;
	char *needs;
	char *arguments_file;
	char *arguments_name;
	char *environment_file;
	unsigned stop_seconds;
	unsigned argc;
	char *argv[AGENT_ARGUMENTS_MAX + 1]; /* ended by NULL */
	unsigned variable_count;
	char *variables[AGENT_ARGUMENTS_MAX];
};

struct agent_config {
	char *text; /* all words point into it */
	unsigned grace_seconds;
	unsigned count;
	struct agent_service services[AGENT_SERVICES_MAX];
};

/*
 * Parse TEXT.  On failure, returns a negative errno and leaves RET empty; *RET_PROBLEM is a
 * constant message about line *RET_LINE.  RET must be released with agent_config_release().
 */
int agent_config_parse(const char *text, size_t len, struct agent_config *ret,
		       const char **ret_problem, unsigned *ret_line);
void agent_config_release(struct agent_config *config);

/*
 * Find the line NAME="words" in TEXT (quotes are optional) and store at most MAX of its words in
 * WORDS, followed by NULL.  They point into TEXT, which is modified.  Returns their number.
 */
unsigned agent_arguments_parse(char *text, const char *name, char **words, unsigned max);

/* Store at most MAX lines of TEXT that have the form NAME=VALUE in VARIABLES.  They point into
 * TEXT, which is modified.  Returns their number. */
unsigned agent_environment_parse(char *text, char **variables, unsigned max);
