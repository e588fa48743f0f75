/* `logs`: print or collect the logs of a cluster. */

#include "cmd/logs.h"

#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/say.h"
#include "cmd/node-change.h"
#include "look/bundle.h"
#include "look/logs.h"

static struct {
	struct logs_view view;
	const char *file;
	const char *output;
	bool audit;
	bool last_start_only;
} arg = {
	.view.length = 60,
	.output = "text",
};

/* For workers, too. */
#define VIEW_OPTIONS                                                                               \
	OPT_STRING(0, "node", &arg.view.node, "NODE", "only this node's logs",                     \
		   .complete = COMPLETE_NODE),                                                     \
		OPT_LIST(0, "service", &arg.view.services, "SERVICE",                              \
			 "only this service's log: kubelet, etcd ..."),                            \
		OPT_FLAG('f', "follow", &arg.view.follow, "keep printing new lines until Ctrl-C"), \
		OPT_COUNT('n', "length", &arg.view.length,                                         \
			  "number of lines to show of each "                                       \
			  "log",                                                                   \
			  .instead = "use a number; to select a node, use --node=NODE"),           \
		OPT_FLAG(0, "problems", &arg.view.problems, "only lines that look like problems")

static const struct opt worker_options[] = { VIEW_OPTIONS, OPT_END };

static const struct opt options[] = {
	VIEW_OPTIONS,
	OPT_FLAG(0, "last-start-only", &arg.last_start_only,
		 "only the log of the last start, in full"),
	OPT_STRING(0, "file", &arg.file, "BUNDLE",
		   "write an archive with complete logs, configuration and state of the cluster "
		   "and the host, without secrets",
		   .complete = COMPLETE_FILE),
	OPT_FLAG(0, "audit", &arg.audit, "show who ran which commands, and their results"),
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format of --audit"),
	OPT_END,
};

/* Resolve names of services, and use the operand as the node. */
static int understand(const struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	if (ctx->argc > 0 && arg.view.node)
		return error_because(err, &reason_usage, -EINVAL, "two nodes given: '%s' and '%s'",
				     arg.view.node, ctx->argv[0]);
	if (ctx->argc > 0)
		arg.view.node = ctx->argv[0];
	strlist_for_each(name, &arg.view.services) {
		const char *service;
		int r = cluster_logs_service(name, &service, err);

		if (r < 0)
			return r;
		strlist_add(&names, service);
	}
	strlist_release(&arg.view.services);
	arg.view.services = names;
	names = STRLIST_INIT;
	return 0;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct node *node;
	int r = understand(ctx, err);

	if (r < 0)
		return r;
	if (arg.audit)
		return logs_show_audit(strcmp(arg.output, "json") == 0, err);
	/* Only now: the audit log does not need a cluster. */
	r = profile_load(ctx->profile_name, &profile, err);
	if (r == 0 && arg.view.node)
		r = node_need(ctx, &profile, arg.view.node, &node, err);
	if (r < 0)
		return r;
	arg.view.workers = ctx->command->flags & COMMAND_WORKERS;
	cluster_logs_show(&profile);
	if (arg.file) {
		r = bundle_write(&profile, arg.file, err);
		if (r == 0 && !ctx->quiet)
			say_done("Wrote logs and state of cluster \"%s\", without secrets, to %s",
				 ctx->profile_name, arg.file);
		return r;
	}
	if (arg.last_start_only) {
		strlist_add(&arg.view.services, "start");
		arg.view.length = UINT_MAX;
	}
	return logs_show(&profile, &arg.view, err);
}

const struct command cmd_logs = {
	.name = "logs",
	.operands = "[NODE]",
	.summary = "show the last lines of the cluster's logs, or write all logs to a file",
	.description =
		"Shows the logs of the last start and of the front door; of the agent, "
		"containerd, the kubelet and kubeadm on every node; and of etcd, the API server, "
		"the controller manager and the scheduler on control planes. --file writes an "
		"archive (.tar.gz or .tar) that can be sent to others: private keys, tokens and "
		"passwords are removed.",
	.max_operands = 1,
	.options = options,
	.examples = "manykube logs\n"
		    "manykube logs node-2 -n 200\n"
		    "manykube logs -f --service=kubelet\n"
		    "manykube logs --problems\n"
		    "manykube logs --file=cluster.tar.gz\n"
		    "manykube logs --audit\n",
	.run = run,
};

const struct command cmd_worker_logs = {
	.name = "logs",
	.operands = "[NAME]",
	.summary = "show the last lines of the logs of workers",
	.description =
		"Shows the logs of the agent, containerd, the kubelet and kubeadm on all workers, "
		"or on one.",
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_WORKERS,
	.options = worker_options,
	.examples = "manykube worker logs\n"
		    "manykube worker logs node-2 -n 200\n",
	.run = run,
};
