/* `config init`: print a template of a cluster file. */

#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/text.h"
#include "cmd/command.h"
#include "describe/file-fields.h"
#include "record/limits.h"

#define COLUMNS 90

static struct {
	unsigned nodes;
	unsigned control_planes;
} arg = {
	.nodes = 3,
	.control_planes = 1,
};

static const struct opt options[] = {
	OPT_POSITIVE('n', "nodes", &arg.nodes, "number of nodes"),
	OPT_POSITIVE(0, "control-planes", &arg.control_planes,
		     "number of control planes among them"),
	OPT_END,
};

/* Explanations start with "# ", fields that are not set with "#": removing that sets them. */
static void print_field(const struct setting *field, unsigned indent)
{
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;
	cleanup_free char *summary = file_field_summary(field);

	text_wrap(&words, summary, 2, 0, COLUMNS - 2);
	printf("# ");
	for (const char *p = words.text; *p; p++)
		printf("%c%s", *p, *p == '\n' ? "# " : "");
	printf("\n#%*s%s:%s%s\n", (int)indent, "", file_field_key(field), field->example ? " " : "",
	       field->example ? field->example : "");
}

static bool has_place_of_its_own(const struct setting *field)
{
	static const char *const names[] = { "apiVersion", "kind", "nodes", "role", "count" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], field->name) == 0)
			return true;
	return false;
}

static void print_part(enum setting_place place, const char *in, unsigned indent)
{
	const struct setting *field;

	setting_for_each(field) {
		bool is_defaults = strcmp(field->name, "defaults") == 0;

		/* A field that can be in several places is shown once. */
		if (!file_field_is_in(field, place, in) || has_place_of_its_own(field) ||
		    (place != SETTING_OF_DEFAULTS && field->places & SETTING_OF_DEFAULTS) ||
		    (place == SETTING_OF_CLUSTER && strcmp(field->name, "name") == 0))
			continue;
		print_field(field, indent);
		if (field->type == SETTING_MAP)
			print_part(is_defaults ? SETTING_OF_DEFAULTS : SETTING_OF_CLUSTER,
				   is_defaults ? "" : field->name, indent + 2);
	}
}

static void print_nodes(const char *role, unsigned count)
{
	if (count == 0)
		return;
	printf("- role: %s\n", role);
	if (count > 1)
		printf("  count: %u\n", count);
}

static int run(struct command_context *ctx, struct error *err)
{
	if (arg.nodes > NODES_MOST)
		return error_because(err, &reason_usage, -ERANGE,
				     "--nodes: a cluster has at most %d nodes", NODES_MOST);
	if (arg.control_planes > arg.nodes)
		arg.nodes = arg.control_planes;
	printf("# A cluster: 'manykube start -f FILE' creates it.  Lines that start with # "
	       "are\n# comments; remove the # before a field to set it.\napiVersion: " FILE_API_VERSION
	       "\n"
	       "kind: " FILE_KIND "\n"
	       "name: %s\n",
	       ctx->profile_name);
	print_part(SETTING_OF_CLUSTER, "", 0);
	printf("nodes:\n");
	print_nodes("control-plane", arg.control_planes);
	print_nodes("worker", arg.nodes - arg.control_planes);
	printf("# Other fields of a node: all fields of 'defaults', and\n");
	print_part(SETTING_OF_NODE, "", 2);
	return 0;
}

const struct command cmd_config_init = {
	.name = "init",
	.summary = "print a template of a cluster file",
	.description = "The template has all fields with their descriptions; fields that are not "
		       "set are commented out.",
	.options = options,
	.examples = "manykube config init >cluster.yaml\n"
		    "manykube config init -p dev --nodes=5 --control-planes=3 >dev.yaml\n",
	.run = run,
};
