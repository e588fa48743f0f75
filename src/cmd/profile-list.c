/* `profile list`: the clusters there are. */

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/table.h"
#include "cluster/kubeconfig.h"
#include "cluster/status.h"
#include "cmd/command.h"

static struct {
	const char *output;
	bool light;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "how to print it"),
	OPT_FLAG('l', "light", &arg.light, "don't look at how the clusters are"),
	OPT_END,
};

static size_t count_control_planes(const struct profile *profile)
{
	const struct node *node;
	size_t count = 0;

	profile_for_each_node(node, profile)
		count += node->control_plane;
	return count;
}

/* One word; what keeps us from finding it is said beside the list. */
static const char *status_of(const struct profile *profile)
{
	cleanup_with(cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	if (arg.light)
		return "Skipped";
	if (cluster_status_collect(profile, &status, &err) < 0) {
		log_warning("cluster '%s': %s", profile->name, err.text);
		return "Unknown";
	}
	return cluster_status_word(&status);
}

/* Where the API is: the front door's address if there are several control planes behind it. */
static const char *address_of(const struct profile *profile)
{
	const struct node *primary = profile_primary(profile);
	const char *address = primary ? primary->address : NULL;

	if (count_control_planes(profile) > 1)
		address = profile->gateway;
	return address ? address : "";
}

static bool is(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

static void add_row(struct table *table, const char *name, const char *active_profile,
		    const char *active_context)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *nodes = NULL;
	const struct node *primary;
	const char *profile_mark = is(active_profile, name) ? "*" : "";
	const char *context_mark = is(active_context, name) ? "*" : "";

	if (profile_load(name, &profile, &err) < 0) {
		log_warning("%s", err.text);
		TABLE_ROW(table, name, "", "", "", "", "Damaged", "", profile_mark, context_mark);
		return;
	}
	primary = profile_primary(&profile);
	nodes = xasprintf("%zu", profile.node_count);
	TABLE_ROW(table, name, primary ? primary->driver : "", "containerd", address_of(&profile),
		  profile.kubernetes_version, status_of(&profile), nodes, profile_mark,
		  context_mark);
}

static json_t *describe(const char *name, const char *active_profile, const char *active_context,
			bool *ret_valid)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *text = NULL;

	*ret_valid = profile_load(name, &profile, &err) == 0;
	if (!*ret_valid)
		return json_pack("{s:s, s:s, s:s}", "Error", err.text, "Name", name, "Status",
				 "Damaged");
	text = profile_print(&profile);
	return json_pack("{s:b, s:b, s:o, s:s, s:s}", "Active", is(active_profile, name),
			 "ActiveKubeContext", is(active_context, name), "Config",
			 json_loads(text, 0, NULL), "Name", name, "Status", status_of(&profile));
}

static void print_json(const struct strlist *names, const char *active_profile,
		       const char *active_context)
{
	json_t *valid = json_array();
	json_t *invalid = json_array();
	json_auto_t *all = json_pack("{s:o, s:o}", "invalid", invalid, "valid", valid);
	const char *name;

	strlist_for_each(name, names) {
		bool is_valid;
		json_t *entry = describe(name, active_profile, active_context, &is_valid);

		json_array_append_new(is_valid ? valid : invalid, entry);
	}
	(void)json_dumpf(all, stdout, JSON_COMPACT);
	printf("\n");
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(table_release) struct table table = TABLE_INIT;
	cleanup_free char *kubeconfig = NULL;
	cleanup_free char *context = NULL;
	const char *name;
	int r;

	r = profile_list(&names, err);
	if (r < 0)
		return r;
	if (kubeconfig_path(&kubeconfig, NULL) == 0)
		context = kubeconfig_current(kubeconfig);
	if (strcmp(arg.output, "json") == 0) {
		print_json(&names, ctx->profile_name, context);
		return 0;
	}
	if (names.count == 0) {
		error_because(err, &reason_usage, -ENOENT, "there is no cluster yet");
		return error_hint(err, -ENOENT, "'manykube start' makes one");
	}
	TABLE_ROW(&table, "PROFILE", "DRIVER", "RUNTIME", "IP", "VERSION", "STATUS", "NODES",
		  "ACTIVE PROFILE", "ACTIVE KUBECONTEXT");
	strlist_for_each(name, &names)
		add_row(&table, name, ctx->profile_name, context);
	table_print_box(&table, stdout);
	return 0;
}

const struct command cmd_profile_list = {
	.name = "list",
	.summary = "list the clusters there are",
	.options = options,
	.examples = "manykube profile list\n"
		    "manykube profile list -o json\n",
	.run = run,
};
