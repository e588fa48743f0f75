/* The help that command tables give. */

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/text.h"
#include "cmd/command.h"

/* With less room than this beside the names, summaries are below them. */
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

static void print_usage(const struct command *command, const char *path, FILE *out)
{
	fprintf(out, "Usage: %s ", path);
	if (command->subcommands) {
		const char *separator = "[";

		for (size_t i = 0; command->subcommands[i]; i++) {
			if (command->subcommands[i]->flags & COMMAND_HIDDEN)
				continue;
			fprintf(out, "%s%s", separator, command->subcommands[i]->name);
			separator = "|";
		}
		fprintf(out, "]\n");
		if (command->run)
			fprintf(out, "       %s %s\n", path, command->operands);
		return;
	}
	fprintf(out, "[OPTION]...%s%s\n", command->operands ? " " : "",
		command->operands ? command->operands : "");
}

static void print_paragraph(const char *text, unsigned columns, FILE *out)
{
	cleanup_with(strbuf_release) struct strbuf lines = STRBUF_INIT;

	text_wrap(&lines, text, 0, 0, columns);
	fprintf(out, "\n%s\n", lines.text);
}

/* TEXT's lines, each moved to the right. */
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

void command_print_help(const struct command *command, const char *path, FILE *out)
{
	unsigned columns = columns_of(out);
	cleanup_free char *summary = xasprintf("%s.", command->summary);

	if (summary[0] >= 'a' && summary[0] <= 'z')
		summary[0] = (char)(summary[0] - 'a' + 'A');
	print_usage(command, path, out);
	print_paragraph(summary, columns, out);
	if (command->description)
		print_paragraph(command->description, columns, out);
	if (command->subcommands) {
		fprintf(out, "\nCommands:\n");
		print_summaries(command->subcommands, columns, out);
	}
	if (command->options && command->options->type != OPT_TYPE_END) {
		fprintf(out, "\nOptions:\n");
		opt_print_help(command->options, columns, out);
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
	print_paragraph("Real Kubernetes clusters of many nodes on one Linux machine.", columns,
			out);
	fprintf(out, "\nCommands:\n");
	print_summaries(list, columns, out);
	fprintf(out, "\n");
	command_print_options(out);
	print_paragraph(
		"Every option can also be given by the environment: MANYKUBE_PROFILE=dev is --profile=dev. "
		"'manykube COMMAND --help' says more about a command.",
		columns, out);
}
