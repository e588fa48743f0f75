/* `fail list`: the failures that are active. */

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/node-table.h"
#include "cli/table.h"
#include "cmd/command.h"
#include "fail/failure.h"

static struct {
	const char *output;
} arg = { .output = "text" };

/* "12s ago" and "in 18s"; "-" for never.  The caller frees it. */
static char *print_time(int64_t seconds, bool past)
{
	int64_t distance = past ? clock_wall_seconds() - seconds : seconds - clock_wall_seconds();
	cleanup_free char *age = node_table_age(MAX(distance, 0));

	if (!seconds)
		return xstrdup("-");
	return past ? xasprintf("%s ago", age) : xasprintf("in %s", age);
}

static void print_table(const struct failures *all)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	const struct failure *failure;

	TABLE_ROW(&table, "FAILURE", "NODES", "OPTIONS", "BEGAN", "ENDS");
	failures_for_each(failure, all) {
		cleanup_free char *words = failure_print(failure);
		cleanup_free char *nodes = strlist_join(&failure->nodes, ",");
		cleanup_free char *began = print_time(failure->since, true);
		cleanup_free char *ends = print_time(failure->until, false);
		const char *parameters = strstr(words, " --");

		TABLE_ROW(&table, fail_kind_word(failure->kind), nodes,
			  parameters ? parameters + 1 : "-", began, ends);
	}
	table_print(&table, stdout);
}

static int run_list(struct command_context *ctx, arg_unused struct error *err)
{
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	json_auto_t *list = json_array();
	const struct failure *failure;

	failures_read(ctx->profile, &all);
	if (strcmp(arg.output, "json") == 0) {
		failures_for_each(failure, &all)
			(void)json_array_append_new(list, failure_json(failure));
		(void)json_dumpf(list, stdout, JSON_COMPACT);
		printf("\n");
	} else if (all.count > 0) {
		print_table(&all);
	} else if (!ctx->quiet) {
		fprintf(stderr, "Cluster \"%s\" has no failures.\n", ctx->profile_name);
	}
	return 0;
}

static const struct opt list_options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format", .once = true),
	OPT_END,
};

const struct command cmd_fail_list = {
	.name = "list",
	.elsewhere = "ls|get|show",
	.summary = "list the active failures",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = list_options,
	.examples = "manykube fail list\n",
	.run = run_list,
};
