/* Help generated from command tables. */

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/text.h"
#include "cmd/command.h"

/* With fewer columns than this beside the names, summaries go below them. */
#define NARROWEST 24

/* Help is easier to read in lines of at most this length. */
#define WIDEST 100

static unsigned columns_of(FILE *out)
{
	unsigned columns = text_columns(fileno(out), 80);

	return MIN(columns, (unsigned)WIDEST);
}

/* Names and summaries in two columns. */
static void print_summaries(const struct command *const *list, unsigned columns, FILE *out)
{
	unsigned width = 0;
	bool below;

	for (size_t i = 0; list[i]; i++)
		if (!(list[i]->flags & COMMAND_HIDDEN))
			width = MAX(width, text_width(list[i]->name));
	below = columns < width + 4 + NARROWEST;
	if (below)
		width = 0;
	for (size_t i = 0; list[i]; i++) {
		cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;

		if (list[i]->flags & COMMAND_HIDDEN)
			continue;
		strbuf_addf(&line, "  %-*s%s", (int)width, list[i]->name, below ? "\n    " : "  ");
		text_wrap(&line, list[i]->summary, width + 4, width + 4, columns);
		fprintf(out, "%s\n", line.text);
	}
}

static void add_subcommands(struct strbuf *out, const struct command *const *list)
{
	const char *separator = "[";

	for (; *list; list++) {
		if ((*list)->flags & COMMAND_HIDDEN)
			continue;
		strbuf_addf(out, "%s%s", separator, (*list)->name);
		separator = "|";
	}
	strbuf_add(out, "]");
}

char *command_usage(const struct command *command, const char *path)
{
	struct strbuf out = STRBUF_INIT;

	if (command->subcommands) {
		strbuf_addf(&out, "%s ", path);
		add_subcommands(&out, command->subcommands);
		strbuf_add(&out, "\n");
		if (command->run)
			strbuf_addf(&out, "%s %s\n", path, command->operands);
	} else {
		strbuf_addf(&out, "%s [OPTION]...%s%s\n", path, command->operands ? " " : "",
			    command->operands ? command->operands : "");
	}
	return strbuf_take(&out);
}

char *command_sentence(const struct command *command)
{
	char *sentence = xasprintf("%s.", command->summary);

	if (sentence[0] >= 'a' && sentence[0] <= 'z')
		sentence[0] = (char)(sentence[0] - 'a' + 'A');
	return sentence;
}

/* Print the lines of USAGE. */
static void print_usage(const char *usage, FILE *out)
{
	const char *before = "Usage: ";

	for (; *usage; usage += strcspn(usage, "\n") + 1) {
		fprintf(out, "%s%.*s\n", before, (int)strcspn(usage, "\n"), usage);
		before = "       ";
	}
}

static void print_paragraph(const char *text, unsigned columns, FILE *out)
{
	cleanup_with(strbuf_release) struct strbuf lines = STRBUF_INIT;

	text_wrap(&lines, text, 0, 0, columns);
	fprintf(out, "\n%s\n", lines.text);
}

/* Print the lines of TEXT, indented. */
static void print_examples(const char *text, FILE *out)
{
	fprintf(out, "\nExamples:\n");
	while (*text) {
		size_t len = strcspn(text, "\n");

		fprintf(out, "  %.*s\n", (int)len, text);
		text += len;
		if (*text)
			text++;
	}
}

static void print_aliases(const char *alias, FILE *out)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	strlist_split(&names, alias, '|');
	joined = strlist_join(&names, ", ");
	fprintf(out, "\nThe same command: %s\n", joined);
}

void command_print_help(const struct command *command, const char *path, FILE *out)
{
	unsigned columns = columns_of(out);
	cleanup_free char *summary = command_sentence(command);
	cleanup_free char *usage = command_usage(command, path);

	print_usage(usage, out);
	print_paragraph(summary, columns, out);
	if (command->description)
		print_paragraph(command->description, columns, out);
	if (command->alias)
		print_aliases(command->alias, out);
	if (command->subcommands) {
		fprintf(out, "\nCommands:\n");
		print_summaries(command->subcommands, columns, out);
	}
	if (command_options(command) && command_options(command)->type != OPT_TYPE_END) {
		fprintf(out, "\nOptions:\n");
		opt_print_help(command_options(command), columns, out);
	}
	fprintf(out, "\n");
	command_print_options(out);
	if (command->examples)
		print_examples(command->examples, out);
}

void command_print_options(FILE *out)
{
	unsigned columns = columns_of(out);

	fprintf(out, "Options of every command:\n");
	opt_print_help(command_global_options, columns, out);
}

void command_print_list(const struct command *const *list, FILE *out)
{
	unsigned columns = columns_of(out);

	fprintf(out, "Usage: manykube [OPTION]... COMMAND [ARGUMENT]...\n");
	print_paragraph(COMMAND_PROGRAM_SUMMARY ".", columns, out);
	fprintf(out, "\nCommands:\n");
	print_summaries(list, columns, out);
	fprintf(out, "\n");
	command_print_options(out);
	print_paragraph(
		"Every option can also be set in the environment: MANYKUBE_PROFILE=dev is "
		"--profile=dev. MANYKUBE_HOME is a directory for clusters, settings and the cache "
		"of Kubernetes versions, instead of " MANYKUBE_STATE_DIR
		", ~/.manykube and " MANYKUBE_CACHE_DIR
		"; MANYKUBE_CACHE is one for that cache only. "
		"'manykube COMMAND --help' describes a command.",
		columns, out);
}
