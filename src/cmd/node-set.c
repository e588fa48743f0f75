/* `node set`: change an existing node. */

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/say.h"
#include "cluster/change-node.h"
#include "cmd/node-change.h"
#include "record/limits.h"

static struct node_settings changes;

static const struct opt options[] = {
	OPT_NODE_CHANGES(&changes, "label taint cpus memory disk-size"),
	OPT_NODE_CHANGES(&changes, NULL),
	OPT_END,
};

static bool has_changes(void)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (setting->set_help &&
		    setting_is_set(setting, setting_in_node(setting, &changes)))
			return true;
	return false;
}

static void tell_restart(const char *name)
{
	cleanup_free char *text = xasprintf(
		"%s after 'manykube node stop %s' and 'manykube node start %s'.",
		changes.disk_bytes ? "Its disk grows"
				   : "The new limits apply now; Kubernetes sees them",
		name, name);
	cleanup_free char *complete = advice_complete(text);

	fprintf(stderr, "%s\n", complete);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist about = STRLIST_INIT;
	const char *name = ctx->argv[0];
	bool needs_restart = false;
	int r;

	if (!has_changes()) {
		(void)error_because(err, &reason_usage, -EINVAL, "nothing to change");
		return error_hint(err, -EINVAL,
				  "use --label, --taint, --cpus, --memory or --disk-size; "
				  "'manykube node set --help' lists all options");
	}
	if (changes.memory_bytes && changes.memory_bytes < WORKER_LEAST_BYTES) {
		(void)error_because(err, &reason_resources, -ERANGE,
				    "--memory: a node needs at least 512 MiB");
		return error_hint(err, -ERANGE, "use more; the default unit is MiB");
	}
	r = cluster_change_node(ctx->profile, name, &changes, &needs_restart, err);
	if (r < 0 || ctx->quiet)
		return r;
	say_done("Changed node %s.", name);
	strlist_add(&about, name);
	node_mention_unready(ctx->profile, &about);
	if (needs_restart)
		tell_restart(name);
	return 0;
}

const struct command cmd_node_set = {
	.name = "set",
	.operands = "NAME",
	.summary = "change labels, taints, CPUs, memory, registries and the disk of a node",
	.description =
		"Labels, taints, CPUs and memory change immediately: the kubelet is restarted to report "
		"the new limits, and pods keep running. So do registries and what is set for the Docker "
		"daemon, which is restarted if it runs. The disk changes at the next start of the node; "
		"it can only grow, and only nodes created with --disk-size have one. KEY-, NAME-, "
		"REGISTRY- and the like remove what was set for this node.",
	.examples = "manykube node set node-2 --label=tier=db --taint=dedicated=db:NoSchedule\n"
		    "manykube node set node-2 --label=tier- --memory=4g\n"
		    "manykube node set node-2 --cpus=max\n"
		    "manykube node set node-2 --registry-mirror=https://mirror.example\n",
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.run = run,
};
