/* `fail`: cause failures. */

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/node-table.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cmd/command.h"
#include "fail/fail.h"

static struct {
	const char *from;
	const char *port;
	const char *to;
	const char *delay;
	const char *jitter;
	const char *loss;
	const char *rate;
	const char *offset;
	const char *for_time;
	const char *output;
} arg = { .output = "text" };

#define OPT_FOR                                         \
	OPT_STRING(0, "for", &arg.for_time, "DURATION", \
		   "end the failure after so long, such as 30s, whatever becomes of this command")

static const struct opt options[] = { OPT_FOR, OPT_EVENTS(&arg.output), OPT_END };

static const struct opt clock_options[] = {
	OPT_STRING(0, "offset", &arg.offset, "DURATION",
		   "how far the clock is ahead, or with '-' behind; default: 1h"),
	OPT_FOR,
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static const struct opt partition_options[] = {
	OPT_STRING(0, "from", &arg.from, "PEER,...",
		   "cut off from these only: nodes, 'host' or 'front-door'; default: from "
		   "everybody else",
		   .complete = COMPLETE_NODE),
	OPT_STRING(0, "port", &arg.port, "PORT",
		   "cut off only this TCP and UDP port of either side"),
	OPT_FOR,
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static const struct opt slow_options[] = {
	OPT_STRING(0, "to", &arg.to, "PEER,...",
		   "only to and from these: nodes, 'host' or 'front-door'; default: everybody "
		   "else",
		   .complete = COMPLETE_NODE),
	OPT_STRING(0, "delay", &arg.delay, "TIME",
		   "delay every packet to the nodes, such as 100ms; needs netem"),
	OPT_STRING(0, "jitter", &arg.jitter, "TIME", "by how much the delay varies"),
	OPT_STRING(0, "loss", &arg.loss, "PERCENT", "lose packets at random, such as 5%"),
	OPT_STRING(0, "rate", &arg.rate, "RATE",
		   "limit what each node sends and gets, such as 10mbit"),
	OPT_FOR,
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static int apply_options(struct failure *failure, struct error *err)
{
	const struct {
		const char *name;
		const char *word;
	} given[] = {
		{ "from", arg.from },   { "port", arg.port },     { "to", arg.to },
		{ "delay", arg.delay }, { "jitter", arg.jitter }, { "loss", arg.loss },
		{ "rate", arg.rate },   { "offset", arg.offset }, { "for", arg.for_time },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(given); i++)
		if (given[i].word)
			r = failure_set(failure, given[i].name, given[i].word, err);
	return r;
}

static void praise(const struct failure *failure)
{
	cleanup_free char *nodes = strlist_join(&failure->nodes, ", ");
	cleanup_free char *operands = strlist_join(&failure->nodes, " ");
	cleanup_free char *time = failure->for_seconds ? node_table_age(failure->for_seconds)
						       : NULL;

	if (time)
		say_done("%s: %s for %s; 'manykube heal %s' ends it earlier.", nodes,
			 fail_kind_state(failure->kind), time, operands);
	else
		say_done("%s: %s; 'manykube heal %s' ends it.", nodes,
			 fail_kind_state(failure->kind), operands);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(failure_release) struct failure failure = FAILURE_INIT;
	int r = fail_kind_parse(ctx->command->name, &failure.kind, err);

	for (int i = 0; i < ctx->argc; i++)
		if (!strlist_has(&failure.nodes, ctx->argv[i]))
			strlist_add(&failure.nodes, ctx->argv[i]);
	if (r == 0)
		r = apply_options(&failure, err);
	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	r = fail_begin(ctx->profile, &failure, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	if (r == 0 && (!ctx->quiet || events_on_stdout()))
		praise(&failure);
	return r;
}

#define NODE_FAILURE(symbol, name_, summary_, description_, options_)     \
	const struct command cmd_fail_##symbol = {                        \
		.name = name_,                                            \
		.operands = "NODE...",                                    \
		.summary = summary_,                                      \
		.description = description_,                              \
		.examples = "manykube fail " name_ " node-2 --for=30s\n", \
		.min_operands = 1,                                        \
		.max_operands = UINT_MAX,                                 \
		.complete = COMPLETE_NODE,                                \
		.flags = COMMAND_CHANGES_NODES,                           \
		.options = options_,                                      \
		.events = &arg.output,                                    \
		.run = run,                                               \
	}

NODE_FAILURE(freeze, "freeze", "freeze all processes of nodes",
	     "The nodes use no CPU time and answer nothing, like machines that hang. Unlike a "
	     "paused node, 'start' and 'unpause' leave them alone; only 'heal' resumes them.",
	     options);
NODE_FAILURE(kill, "kill", "end nodes at once, as a power cut does",
	     "All their processes are killed; their data is kept. 'start' does not start them; "
	     "'heal' does.",
	     options);
NODE_FAILURE(kubelet, "kubelet", "hold the kubelets of nodes down",
	     "Containers keep running, but Kubernetes hears nothing of them and marks the nodes "
	     "NotReady.",
	     options);
NODE_FAILURE(runtime, "runtime", "hold the container runtimes of nodes down",
	     "Containers keep running, but none can be started or stopped.", options);
NODE_FAILURE(api, "api", "hold the API servers of control planes down", NULL, options);
NODE_FAILURE(etcd, "etcd", "hold the etcd members of control planes down",
	     "While a majority of members is up, the cluster keeps working.", options);
NODE_FAILURE(disk, "disk-full", "fill the disks of nodes",
	     "Only nodes with a disk of their own (--disk-size) can have this. Their "
	     "kubelets report DiskPressure and evict pods.",
	     options);
NODE_FAILURE(memory, "memory", "use up the memory of nodes",
	     "Only nodes with a memory of their own (--memory, or a VM) can have this. Their "
	     "kubelets, which are restarted for it, report MemoryPressure and evict pods.",
	     options);
NODE_FAILURE(clock, "clock", "set the clocks of nodes wrong", "Only VMs have a clock of their own.",
	     clock_options);

const struct command cmd_fail_partition = {
	.name = "partition",
	.operands = "NODE...",
	.summary = "cut nodes off from others",
	.description =
		"No packet passes between the nodes and their peers, in either direction; existing "
		"connections are cut, too. The nodes still reach each other. Without --from, they "
		"are cut off from all other nodes, this host, and its front door, through which "
		"nodes reach the API and DNS. Processes in nodes cannot undo it.",
	.examples = "manykube fail partition node-3\n"
		    "manykube fail partition node-3 --from=node-1,node-2 --port=2380\n"
		    "manykube fail partition node-2 --from=front-door --for=1m\n",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES,
	.options = partition_options,
	.events = &arg.output,
	.run = run,
};

const struct command cmd_fail_slow = {
	.name = "slow",
	.operands = "NODE...",
	.summary = "make the network of nodes slow or lossy",
	.description =
		"What is lost or too much is dropped on this host, in both directions. A delay "
		"needs a kernel with netem (sch_netem) and concerns packets to the nodes, "
		"so each answer takes that much longer.",
	.examples = "manykube fail slow node-2 --loss=5%\n"
		    "manykube fail slow node-2 --to=node-1 --rate=10mbit --for=2m\n",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES,
	.options = slow_options,
	.events = &arg.output,
	.run = run,
};
