/* `profile list`: list the clusters. */

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cmd/command.h"
#include "kubeconfig/kubeconfig.h"
#include "look/health.h"
#include "record/ports.h"

enum column {
	PROFILE_COLUMN,
	DRIVER_COLUMN,
	RUNTIME_COLUMN,
	IP_COLUMN,
	VERSION_COLUMN,
	STATUS_COLUMN,
	NODES_COLUMN,
	ACTIVE_COLUMN,
	CONTEXT_COLUMN,
	COLUMNS,
};

static struct {
	const char *output;
	bool light;
	bool detailed;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format"),
	OPT_FLAG('l', "light", &arg.light, "do not check the state of the clusters"),
	OPT_FLAG('d', "detailed", &arg.detailed, "show the API's port, too"),
	OPT_END,
};

/* The clusters marked with a star. */
struct active {
	const char *profile; /* the one that commands use */
	const char *context; /* the one that kubectl uses, or NULL */
};

/* One word; errors are printed beside the list. */
static const char *status_of(const struct profile *profile)
{
	cleanup_with(cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *busy_with = NULL;

	if (arg.light)
		return "Skipped";
	busy_with = profile_lock_holder(profile->name);
	if (cluster_status_collect(profile, busy_with, &status, &err) < 0) {
		log_warning("cluster '%s': %s", profile->name, err.text);
		return "Unknown";
	}
	return health_name(health_if_finished(profile, health_of_cluster(&status, busy_with)));
}

static const char *mark(bool marked)
{
	return marked ? "*" : "";
}

/* Add a row, with PORT after the address if it is to be shown. */
static void add_cells(struct table *table, const char *const *cells, const char *port)
{
	const char *row[COLUMNS + 1];
	size_t count = 0;

	for (size_t i = 0; i < COLUMNS; i++) {
		row[count++] = cells[i];
		if (i == IP_COLUMN && arg.detailed)
			row[count++] = port;
	}
	table_add_row(table, row, count);
}

static void add_heading(struct table *table)
{
	static const char *const cells[COLUMNS] = {
		"PROFILE", "DRIVER",         "RUNTIME",           "IP", "VERSION", "STATUS",
		"NODES",   "ACTIVE PROFILE", "ACTIVE KUBECONTEXT"
	};

	add_cells(table, cells, "PORT");
}

static void add_profile(struct table *table, const char *name, const struct active *active)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *nodes = NULL;
	cleanup_free char *port = xasprintf("%d", API_SERVER_PORT);
	const char *cells[COLUMNS] = {
		[PROFILE_COLUMN] = name,
		[STATUS_COLUMN] = "Damaged",
		[ACTIVE_COLUMN] = mark(text_is(active->profile, name)),
		[CONTEXT_COLUMN] = mark(text_is(active->context, name)),
	};
	const struct node *primary;

	if (profile_load(name, &profile, &err) < 0) {
		log_warning("%s", err.text);
		add_cells(table, cells, NULL);
		return;
	}
	primary = profile_primary(&profile);
	nodes = xasprintf("%zu", profile.node_count);
	cells[DRIVER_COLUMN] = primary ? primary->driver : NULL;
	cells[RUNTIME_COLUMN] = "containerd";
	cells[IP_COLUMN] = primary ? primary->address : NULL;
	cells[VERSION_COLUMN] = profile.kubernetes_version;
	cells[STATUS_COLUMN] = status_of(&profile);
	cells[NODES_COLUMN] = nodes;
	add_cells(table, cells, port);
}

static json_t *describe_profile(const char *name, const struct active *active, bool *ret_valid)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *text = NULL;

	*ret_valid = profile_load(name, &profile, &err) == 0;
	if (!*ret_valid)
		return json_pack("{s:s, s:s, s:s}", "Error", err.text, "Name", name, "Status",
				 "Damaged");
	text = profile_print(&profile);
	return json_pack("{s:b, s:b, s:o, s:s, s:s}", "Active", text_is(active->profile, name),
			 "ActiveKubeContext", text_is(active->context, name), "Config",
			 json_loads(text, 0, NULL), "Name", name, "Status", status_of(&profile));
}

static void print_json(const struct strlist *names, const struct active *active)
{
	json_t *valid = json_array();
	json_t *invalid = json_array();
	json_auto_t *all = json_pack("{s:o, s:o}", "invalid", invalid, "valid", valid);
	const char *name;

	strlist_for_each(name, names) {
		bool is_valid;
		json_t *entry = describe_profile(name, active, &is_valid);

		json_array_append_new(is_valid ? valid : invalid, entry);
	}
	(void)json_dumpf(all, stdout, JSON_COMPACT);
	printf("\n");
}

/* The box would be garbled on a terminal that is too narrow. */
static void print_table(const struct strlist *names, const struct active *active)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	unsigned columns = text_columns(STDOUT_FILENO, 0);
	const char *name;

	add_heading(&table);
	strlist_for_each(name, names)
		add_profile(&table, name, active);
	if (columns == 0 || table_box_width(&table) <= columns)
		table_print_box(&table, stdout);
	else
		table_print_records(&table, stdout);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *kubeconfig = NULL;
	cleanup_free char *context = NULL;
	struct active active = { .profile = ctx->profile_name };
	int r;

	r = profile_list(&names, err);
	if (r < 0)
		return r;
	if (kubeconfig_path(&kubeconfig, NULL) == 0)
		context = kubeconfig_current(kubeconfig);
	active.context = context;
	if (strcmp(arg.output, "json") == 0) {
		print_json(&names, &active);
		return 0;
	}
	if (names.count == 0) {
		cleanup_free char *start = advice_command("manykube start");

		/* Nothing on standard output, which programs read line by line. */
		if (!ctx->quiet)
			fprintf(stderr, "There are no clusters; '%s' creates one.\n", start);
		return 0;
	}
	print_table(&names, &active);
	return 0;
}

const struct command cmd_profile_list = {
	.name = "list",
	.elsewhere = "ls|get|show|ps",
	.summary = "list all clusters",
	.options = options,
	.examples = "manykube profile list\n"
		    "manykube profile list --light\n"
		    "manykube profile list -o json\n",
	.run = run,
};
