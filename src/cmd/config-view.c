/* `config view`: print a cluster as a cluster file. */

#include <string.h>

#include "base/cleanup.h"
#include "cmd/config.h"
#include "describe/file.h"

static struct {
	const char *output;
} arg = {
	.output = "yaml",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "yaml|json", "output format", .once = true),
	OPT_END,
};

static int run(struct command_context *ctx, arg_unused struct error *err)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(strlist_release) struct strlist chosen = STRLIST_INIT;
	cleanup_free char *text = NULL;
	json_auto_t *json = NULL;
	const char *item;

	cluster_file_describe(ctx->profile, &file, &chosen);
	json = cluster_file_to_json(&file);
	if (strcmp(arg.output, "json") == 0) {
		text = json_dumps(json, JSON_INDENT(2));
		printf("%s\n", text);
		return 0;
	}
	text = yaml_print(json);
	printf("# Cluster \"%s\"; 'manykube start -f FILE' creates one like it.\n",
	       ctx->profile_name);
	if (chosen.count)
		printf("# Chosen automatically, so not part of the description:\n");
	strlist_for_each(item, &chosen)
		printf("#   %s\n", item);
	printf("%s", text);
	return 0;
}

const struct command cmd_config_view = {
	.name = "view",
	.elsewhere = "export|dump",
	.summary = "print a cluster as a cluster file",
	.description =
		"'manykube start -f' creates the same cluster elsewhere or, under another name, "
		"on this host. To list your settings, use 'manykube config get'.",
	.options = options,
	.examples = "manykube config view >cluster.yaml\n"
		    "manykube config view -p dev -o json\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.run = run,
};
