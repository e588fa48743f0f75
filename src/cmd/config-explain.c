/* `config explain`: the fields of the file that describes a cluster. */

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/suggest.h"
#include "cli/text.h"
#include "cmd/command.h"
#include "describe/file-fields.h"

#define WIDEST 100

/* Column where the help of a field starts. */
#define HELP_AT 28

static void print_line(const char *name, const char *help)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;
	unsigned columns = MIN(text_columns(STDOUT_FILENO, 80), (unsigned)WIDEST);

	strbuf_addf(&line, "  %-*s", HELP_AT - 3, name);
	strbuf_add(&line, strlen(name) > HELP_AT - 3 ? "\n" : " ");
	if (strlen(name) > HELP_AT - 3)
		strbuf_addf(&line, "%*s", HELP_AT, "");
	text_wrap(&line, help, HELP_AT, HELP_AT, MAX(columns, HELP_AT + 20u));
	printf("%s\n", line.text);
}

/* All fields at PLACE whose names begin with IN and a dot, or all of them. */
static void print_fields(enum setting_place place, const char *in)
{
	const struct setting *field;
	size_t len = in ? strlen(in) : 0;

	setting_for_each(field) {
		cleanup_free char *summary = file_field_summary(field);

		if (field->places & place &&
		    (!in || (strncmp(field->name, in, len) == 0 && field->name[len] == '.')))
			print_line(field->name, summary);
	}
}

static void print_all(void)
{
	printf("Fields of a file for 'manykube start -f':\n\n");
	print_fields(SETTING_OF_CLUSTER, NULL);
	printf("\nFields of each node in 'nodes':\n\n");
	print_fields(SETTING_OF_NODE, NULL);
	printf("\nFields of 'defaults', for all nodes: ");
	for (const struct setting *field = setting_table, *before = NULL; field->name; field++)
		if (field->places & SETTING_OF_DEFAULTS) {
			printf("%s%s", before ? ", " : "", field->name);
			before = field;
		}
	printf(".\n\n'manykube config explain FIELD' describes one field; 'manykube config init' "
	       "prints a template.\n");
}

/* FIELD as it is at PLACE. */
static void print_one(const struct setting *field, enum setting_place place)
{
	cleanup_free char *path = file_field_path(field, place);
	cleanup_free char *type = file_field_type_words(field);
	cleanup_free char *usual = file_field_usual(field);

	printf("%s: %s\n\n", path, field->help);
	printf("  Type:     %s\n", type);
	if (*usual)
		printf("  Default:  %s\n", usual);
	if (field->option && place != SETTING_OF_NODE)
		printf("  Option:   --%s\n", field->option);
	else if (field->option)
		printf("  Option:   --%s of 'manykube node add'\n", field->option);
	if (field->example)
		printf("  Example:  %s: %s\n", file_field_key(field), field->example);
	if (field->type == SETTING_MAP || field->type == SETTING_NODES)
		printf("\nFields:\n\n");
	if (field->type == SETTING_NODES)
		print_fields(SETTING_OF_NODE, NULL);
	else if (field->type == SETTING_MAP && strcmp(field->name, "defaults") == 0)
		print_fields(SETTING_OF_DEFAULTS, NULL);
	else if (field->type == SETTING_MAP)
		print_fields(SETTING_OF_CLUSTER, field->name);
}

/* Whether NAME, as typed by the user, is FIELD at PLACE. */
static bool is_meant(const struct setting *field, enum setting_place place, const char *name)
{
	cleanup_free char *path = file_field_path(field, place);
	cleanup_free char *short_path = place == SETTING_OF_NODE
						? xasprintf("nodes.%s", field->name)
						: xstrdup(path);

	return field->places & place &&
	       (strcmp(path, name) == 0 || strcmp(short_path, name) == 0 ||
		strcmp(field->name, name) == 0 || strcmp(file_field_key(field), name) == 0);
}

static int run(struct command_context *ctx, struct error *err)
{
	static const enum setting_place places[] = { SETTING_OF_CLUSTER, SETTING_OF_DEFAULTS,
						     SETTING_OF_NODE };
	struct suggest suggest = SUGGEST_INIT(ctx->argv[0]);
	const struct setting *field;
	bool found = false;

	if (ctx->argc == 0) {
		print_all();
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		setting_for_each(field) {
			suggest_offer(&suggest, field->name);
			suggest_offer(&suggest, file_field_key(field));
			if (!is_meant(field, places[i], ctx->argv[0]))
				continue;
			if (found)
				printf("\n");
			print_one(field, places[i]);
			found = true;
		}
	if (found)
		return 0;
	(void)error_because(err, &reason_usage, -EINVAL, "unknown field '%s'", ctx->argv[0]);
	if (suggest.nearest)
		return error_hint(err, -EINVAL, "did you mean '%s'?", suggest.nearest);
	return error_hint(err, -EINVAL, "'manykube config explain' lists the fields");
}

const struct command cmd_config_explain = {
	.name = "explain",
	.operands = "[FIELD]",
	.summary = "describe the fields of a cluster file",
	.description =
		"Lists the fields of the file that 'manykube start -f' reads, with their types, "
		"defaults and meanings.",
	.examples = "manykube config explain\n"
		    "manykube config explain network.subnet\n"
		    "manykube config explain nodes\n",
	.max_operands = 1,
	.complete = COMPLETE_FIELD,
	.flags = COMMAND_NO_SETTINGS,
	.run = run,
};
