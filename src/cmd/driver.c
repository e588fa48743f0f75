/* `driver`: the ways in which nodes can exist. */

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/table.h"
#include "cmd/command.h"
#include "driver/driver.h"

static struct {
	const char *output;
} arg = {
	.output = "text",
};

static json_t *describe(const struct node_driver *driver, int r, const struct error *why)
{
	cleanup_free char *caveat = r == 0 && driver->find_caveat ? driver->find_caveat() : NULL;
	const char *advice = r < 0 ? error_advice(why) : NULL;

	return json_pack("{s:s, s:s, s:b, s:b, s:s, s:s, s:s}", "name", driver->name, "summary",
			 driver->summary, "default", driver == node_driver_default(), "available",
			 r == 0, "problem", r < 0 && why->text ? why->text : "", "remedy",
			 advice ? advice : "", "caveat", caveat ? caveat : "");
}

/* Below the table: what the others lack, and what is worse than it could be. */
static void print_problems(const json_t *drivers)
{
	const json_t *driver;
	size_t i;

	json_array_foreach(drivers, i, driver) {
		const char *remedy = json_string_value(json_object_get(driver, "remedy"));
		bool available = json_is_true(json_object_get(driver, "available"));
		const char *words = json_string_value(
			json_object_get(driver, available ? "caveat" : "problem"));

		if (!*words)
			continue;
		printf("\n%s: %s\n", json_string_value(json_object_get(driver, "name")), words);
		if (*remedy)
			printf("  fix: %s\n", remedy);
	}
}

static int list_drivers(arg_unused struct command_context *ctx, arg_unused struct error *err)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	json_auto_t *drivers = json_array();
	const struct node_driver *driver;

	TABLE_ROW(&table, "DRIVER", "AVAILABLE", "DEFAULT", "NODES");
	for (size_t i = 0; (driver = node_driver_at(i)); i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		int r = driver->probe(false, &why);

		TABLE_ROW(&table, driver->name, r < 0 ? "no" : "yes",
			  driver == node_driver_default() ? "*" : "", driver->summary);
		(void)json_array_append_new(drivers, describe(driver, r, &why));
	}
	if (strcmp(arg.output, "json") == 0) {
		json_auto_t *all = json_pack("{s:O}", "drivers", drivers);

		(void)json_dumpf(all, stdout, JSON_COMPACT);
		printf("\n");
		return 0;
	}
	table_print(&table, stdout);
	print_problems(drivers);
	return 0;
}

static const struct opt list_options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format", .once = true),
	OPT_END,
};

static const struct command cmd_driver_list = {
	.name = "list",
	.elsewhere = "ls",
	.summary = "list the drivers of nodes, and what they lack on this host",
	.description = "A driver is a way in which a node exists; '--driver' of 'start' and 'node "
		       "add' names one, and a cluster can mix them. Checks of root's rights fail "
		       "without root.",
	.examples = "manykube driver list\n"
		    "sudo manykube driver list -o json\n",
	.options = list_options,
	.run = list_drivers,
};

static const struct command *const subcommands[] = {
	&cmd_driver_list,
	NULL,
};

const struct command cmd_driver = {
	.name = "driver",
	.summary = "show the drivers of nodes",
	.examples = "manykube driver list\n",
	.subcommands = subcommands,
};
