/* `__docs`: the documentation generated from the tables; for the build. */

#include <string.h>

#include "cmd/reference.h"

static const struct {
	const char *name;
	void (*write)(const struct command *const *list, FILE *out);
} documents[] = {
	{ "man", reference_man },
	{ "commands", reference_commands },
	{ "exit-codes", reference_exit_codes },
	{ "cluster-file", reference_cluster_file },
	{ "cluster-schema", reference_cluster_schema },
};

static int run(struct command_context *ctx, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
		if (strcmp(documents[i].name, ctx->argv[0]) == 0) {
			documents[i].write(commands, stdout);
			return 0;
		}
	}
	return error_because(err, &reason_usage, -EINVAL, "unknown document '%s'", ctx->argv[0]);
}

const struct command cmd_docs = {
	.name = "__docs",
	.operands = "man|commands|exit-codes|cluster-file|cluster-schema",
	.summary = "print a document about manykube itself",
	.min_operands = 1,
	.max_operands = 1,
	.flags = COMMAND_HIDDEN | COMMAND_NO_SETTINGS,
	.words = "man|commands|exit-codes|cluster-file|cluster-schema",
	.run = run,
};
