/*
 * The agent's configuration file.
 *
 * One statement per line; indentation means nothing; a line that begins with '#' is a
 * comment.  Words are separated by blanks; a word may be put in double quotes, in which
 * \" and \\ stand for the character itself.
 *
 *	grace SECONDS             how long pods may take to end at a shutdown (5)
 *	service NAME              begins a service; what follows belongs to it:
 *	command PROGRAM WORD...   what to run; needed
 *	log FILE                  where its output goes (the agent's own log)
 *	when FILE                 run it only while this file is there
 *	needs SOCKET              start it only once this unix socket accepts connections
 *	arguments-from FILE NAME  add the words of the line NAME="..." of FILE to the command
 *	environment NAME=VALUE... further variables for it
 *	stop-seconds SECONDS      how long it may take to end before it is killed (5; first: 3)
 *
 * Services are stopped in reverse order, the pods just before the first one, which
 * is their runtime.
 *
 * This module and the whole agent use nothing but the C library.
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
 * Read TEXT.  On failure returns a negative errno, *RET_PROBLEM is a constant sentence about
 * line *RET_LINE and RET is empty.  RET needs agent_config_release() afterwards.
 */
int agent_config_parse(const char *text, size_t len, struct agent_config *ret,
		       const char **ret_problem, unsigned *ret_line);
void agent_config_release(struct agent_config *config);

/*
 * Find the line NAME="words" (the quotes may be missing) in TEXT and put its words into WORDS,
 * ended by NULL, at most MAX of them; they point into TEXT, which is cut up.  Returns how many.
 */
unsigned agent_arguments_parse(char *text, const char *name, char **words, unsigned max);
