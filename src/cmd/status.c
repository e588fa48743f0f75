/* `status`: how the cluster and each of its nodes are. */

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/text.h"
#include "cmd/node-change.h"
#include "cmd/status-print.h"
#include "network/front-door.h"

static struct {
	const char *output; /* NULL: what fits stdout */
	const char *layout;
	const char *format;
	const char *node;
	unsigned watch_seconds;
} arg = {
	.layout = "nodes",
};

/* Of workers, too. */
#define OPTIONS                                                                          \
	OPT_CHOICE('o', "output", &arg.output, "table|text|json",                        \
		   "how to print it; by default a table on a terminal, text elsewhere"), \
		OPT_STRING('f', "format", &arg.format, "TEMPLATE",                       \
			   "fields to print for each node: '{{.Name}} {{.Host}}'"),      \
		OPT_STRING('n', "node", &arg.node, "NODE", "only this node",             \
			   .complete = COMPLETE_NODE),                                   \
		OPT_SECONDS_MAYBE(                                                       \
			'w', "watch", &arg.watch_seconds,                                \
			"look again every second, or as often as this says, until Ctrl-C")

static const struct opt options[] = {
	OPTIONS,
	OPT_CHOICE('l', "layout", &arg.layout, "nodes|cluster", "node by node, or as a whole"),
	OPT_END,
};

static const struct opt worker_options[] = { OPTIONS, OPT_END };

/* Whoever looks whether all is well is glad if it becomes so; a cluster that is down stays down. */
static void mend(const struct profile *profile)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = geteuid() == 0 ? cluster_open_front_door(profile, &why) : 0;

	if (r < 0 && r != -ESRCH)
		log_warning("nothing listens at the API's address: %s", why.text);
}

static bool output_is(const char *word)
{
	return arg.output && strcmp(arg.output, word) == 0;
}

static bool wants_table(void)
{
	return output_is("table") || (!arg.output && isatty(STDOUT_FILENO));
}

/* The table asks the API for more than the other forms need. */
static void print_table(const struct status_report *report, const struct cluster_status *all)
{
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;
	struct cluster_detail shown;

	cluster_detail_collect(report->profile, all, &detail);
	shown = (struct cluster_detail){
		.nodes = detail.nodes + (report->nodes.nodes - all->nodes),
		.count = report->nodes.count,
	};
	status_print_table(report, &shown);
}

static int print_report(const struct status_report *report, const struct cluster_status *all,
			struct error *err)
{
	if (arg.format)
		return status_print_template(report, arg.format, err);
	if (strcmp(arg.layout, "cluster") == 0 && output_is("json"))
		status_print_layout_json(report);
	else if (strcmp(arg.layout, "cluster") == 0)
		status_print_layout_text(report);
	else if (output_is("json"))
		status_print_json(report);
	else if (wants_table())
		print_table(report, all);
	else
		status_print_text(report);
	if (all->kubeconfig_damage && !output_is("json") && !wants_table())
		log_warning("kubectl can't use this cluster: %s", all->kubeconfig_damage);
	return 0;
}

/* Look once and print it; returns the exit status. */
static int show_cluster(const struct command_context *ctx, struct profile *profile,
			struct error *err)
{
	cleanup_with(cluster_status_release) struct cluster_status all = CLUSTER_STATUS_INIT;
	cleanup_with(activity_release) struct activity activity = ACTIVITY_INIT;
	struct status_report report = { .profile = profile, .activity = &activity };
	size_t shown = node_sort(ctx, profile);
	struct node *node;
	int r = 0;

	if (arg.node)
		r = node_need(ctx, profile, arg.node, &node, err);
	if (r < 0)
		return r;
	mend(profile);
	activity_read(profile, &activity);
	r = cluster_status_collect(profile, activity.busy_with, &all, err);
	if (r < 0)
		return r;
	activity_settle(&activity, &all);
	report.health = health_of_cluster(&all, activity.busy_with);
	report.front_door = all.front_door;
	if (shown == all.count)
		report.quorum = health_quorum(&all, activity.busy_with);
	report.nodes = all;
	report.nodes.count = shown;
	if (arg.node) {
		report.nodes.nodes += node - profile->nodes;
		report.nodes.count = 1;
		/* The exit status is about that node alone. */
		report.nodes.front_door = NULL;
	}
	r = print_report(&report, &all, err);
	return r < 0 ? r : cluster_status_code(&report.nodes);
}

static void end_watch(arg_unused int signal)
{
	_exit(EXIT_SUCCESS);
}

/* Show it again and again: Ctrl-C is how one ends this, nothing that went wrong. */
static int watch(const struct command_context *ctx, struct error *err)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	bool redraw = text_has_cursor(STDOUT_FILENO) && !output_is("json") && !arg.format;

	/* Every look in one piece, also for whoever interrupts us. */
	(void)setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	(void)signal(SIGINT, end_watch);
	for (;;) {
		/* Nodes may come and go. */
		cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
		int r = profile_load(ctx->profile_name, &profile, err);

		if (r < 0)
			return r;
		if (redraw)
			printf("\033[H\033[2J");
		r = show_cluster(ctx, &profile, err);
		if (r < 0)
			return r;
		/* A reader that has gone ends the wait. */
		if (fflush(stdout) != 0 ||
		    poll(&out, 1, (int)MIN(arg.watch_seconds, 86400u) * 1000) != 0)
			return EXIT_FAILURE;
	}
}

static int run(struct command_context *ctx, struct error *err)
{
	if (arg.format && (arg.output || strcmp(arg.layout, "nodes") != 0)) {
		error_because(err, &reason_usage, -EINVAL,
			      "--format says by itself how to print it");
		return error_hint(err, -EINVAL, "leave out --output and --layout, or --format");
	}
	if (ctx->argc > 0)
		arg.node = ctx->argv[0];
	return arg.watch_seconds ? watch(ctx, err) : show_cluster(ctx, ctx->profile, err);
}

const struct command cmd_status = {
	.name = "status",
	.elsewhere = "info|describe|ps",
	.summary = "show how the cluster and its nodes are",
	.description =
		"The exit status says it for scripts: 0 all is well; else the sum of 1 (a node "
		"does not run), 2 (a kubelet, an API server or the front door does not), 4 (the "
		"kubeconfig does not point here) and 8 (Kubernetes does not call a node Ready "
		"whose parts run, or such a node reports MemoryPressure, DiskPressure or "
		"PIDPressure). Any of 1, 2 and 8 makes a running cluster Degraded; nodes that were "
		"stopped or paused on purpose count, too. So a stopped node, worker or control "
		"plane, makes it 3, and a paused one 2; a stopped cluster has 7, since 'stop' "
		"removes it from the kubeconfig, or 3 with --keep-context-active. A template has the fields .Name, .Host, .Kubelet, .APIServer, "
		".Kubeconfig, .Node, .Pressure, .IP, .Role, .Primary, .Worker and .Version.",
	.examples = "manykube status\n"
		    "manykube status --watch\n"
		    "manykube status -n node-2 --format='{{.Host}}'\n"
		    "manykube status -o json --layout=cluster\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = options,
	.run = run,
};

const struct command cmd_worker_status = {
	.name = "status",
	.operands = "[NAME]",
	.summary = "show how the workers of a cluster are",
	.description =
		"The exit status says it for scripts, as that of 'manykube status', but of workers only.",
	.examples = "manykube worker status\n"
		    "manykube worker status node-2\n",
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_WORKERS,
	.options = worker_options,
	.run = run,
};
