/* `status`: show the state of a cluster and its nodes. */

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
	const char *output; /* NULL: depends on stdout */
	const char *layout;
	const char *format;
	const char *node;
	unsigned watch_seconds;
} arg = {
	.layout = "nodes",
};

/* For workers, too. */
#define OPTIONS                                                                     \
	OPT_CHOICE('o', "output", &arg.output, "table|text|json",                   \
		   "output format (default: table on a terminal, otherwise text)"), \
		OPT_STRING('f', "format", &arg.format, "TEMPLATE",                  \
			   "fields to print for each node: '{{.Name}} {{.Host}}'"), \
		OPT_STRING('n', "node", &arg.node, "NODE", "only this node",        \
			   .complete = COMPLETE_NODE),                              \
		OPT_SECONDS_MAYBE('w', "watch", &arg.watch_seconds,                 \
				  "repeat every second, or at this interval, until Ctrl-C")

static const struct opt options[] = {
	OPTIONS,
	OPT_CHOICE('l', "layout", &arg.layout, "nodes|cluster",
		   "show each node, or the cluster "
		   "as a whole"),
	OPT_END,
};

static const struct opt worker_options[] = { OPTIONS, OPT_END };

/* Restart the front door if possible; a cluster that is down stays down. */
static void mend(const struct profile *profile)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = geteuid() == 0 ? cluster_open_front_door(profile, &why) : 0;

	if (r < 0 && r != -ESRCH)
		log_warning("nothing listens on the API's port: %s", why.text);
}

static bool output_is(const char *word)
{
	return arg.output && strcmp(arg.output, word) == 0;
}

static bool wants_table(void)
{
	return output_is("table") || (!arg.output && isatty(STDOUT_FILENO));
}

/* Print the table, for which the API is asked for more, or blocks of text. */
static void print_nodes(const struct status_report *report, const struct cluster_status *all)
{
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;
	struct cluster_detail shown;

	if (wants_table())
		cluster_detail_collect(report->profile, all, &detail);
	else
		cluster_detail_read(all, NULL, &detail);
	shown = (struct cluster_detail){
		.nodes = detail.nodes + (report->nodes.nodes - all->nodes),
		.count = report->nodes.count,
	};
	if (wants_table())
		status_print_table(report, &shown);
	else
		status_print_text(report, &shown);
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
	else
		print_nodes(report, all);
	if (all->kubeconfig_damage && !output_is("json") && !wants_table())
		log_warning("kubectl cannot use this cluster: %s", all->kubeconfig_damage);
	return 0;
}

/* Get and print the state once; returns the exit status. */
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
	report.health = health_if_finished(profile, health_of_cluster(&all, activity.busy_with));
	report.front_door = all.front_door;
	if (shown == all.count)
		report.quorum = health_quorum(&all, activity.busy_with);
	report.nodes = all;
	report.nodes.count = shown;
	if (arg.node) {
		report.nodes.nodes += node - profile->nodes;
		report.nodes.count = 1;
		/* The exit status is that of the selected node. */
		report.nodes.front_door = NULL;
	}
	r = print_report(&report, &all, err);
	return r < 0 ? r : cluster_status_code(&report.nodes);
}

static void end_watch(arg_unused int signal)
{
	_exit(EXIT_SUCCESS);
}

/* Print the state repeatedly; Ctrl-C is the normal way to end this. */
static int watch(const struct command_context *ctx, struct error *err)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	bool redraw = text_has_cursor(STDOUT_FILENO) && !output_is("json") && !arg.format;

	/* Print each state in one write, even if interrupted. */
	(void)setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	(void)signal(SIGINT, end_watch);
	for (;;) {
		/* Nodes may be added and deleted meanwhile. */
		cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
		int r = profile_load(ctx->profile_name, &profile, err);

		if (r < 0)
			return r;
		if (redraw)
			printf("\033[H\033[2J");
		r = show_cluster(ctx, &profile, err);
		if (r < 0)
			return r;
		/* The wait ends when the reader is gone. */
		if (fflush(stdout) != 0 ||
		    poll(&out, 1, (int)MIN(arg.watch_seconds, 86400u) * 1000) != 0)
			return EXIT_FAILURE;
	}
}

static int run(struct command_context *ctx, struct error *err)
{
	if (arg.format && (arg.output || strcmp(arg.layout, "nodes") != 0)) {
		error_because(err, &reason_usage, -EINVAL,
			      "--format conflicts with --output and --layout");
		return error_hint(err, -EINVAL, "omit one or the other");
	}
	if (ctx->argc > 0)
		arg.node = ctx->argv[0];
	return arg.watch_seconds ? watch(ctx, err) : show_cluster(ctx, ctx->profile, err);
}

const struct command cmd_status = {
	.name = "status",
	.elsewhere = "info|describe|ps",
	.summary = "show the state of a cluster and its nodes",
	.description =
		"The exit status is 0 if the cluster is healthy, otherwise the sum of 1 (a node "
		"is down), 2 (a kubelet, an API server, another service or the front door is down "
		"or hangs), 4 (the "
		"kubeconfig does not point to this cluster) and 8 (a node whose services run is "
		"not Ready, or it reports MemoryPressure, DiskPressure or PIDPressure). A running "
		"cluster with 1, 2 or 8 is Degraded, even if nodes were stopped or paused on "
		"purpose. So a stopped node gives 3, a paused node 2, and a stopped cluster 7, "
		"because 'stop' removes it from the kubeconfig, or 3 after 'stop "
		"--keep-context-active'. Templates can use the fields .Name, .Host, .Kubelet, "
		".APIServer, .Kubeconfig, .Node, .Pressure, .IP, .Role, .Primary, .Worker and "
		".Version.",
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
	.summary = "show the state of the workers of a cluster",
	.description = "The exit status is that of 'manykube status', for workers only.",
	.examples = "manykube worker status\n"
		    "manykube worker status node-2\n",
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_WORKERS,
	.options = worker_options,
	.run = run,
};
