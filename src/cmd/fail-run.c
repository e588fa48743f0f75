/* `fail run`: play a scenario of failures. */

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/fail-report.h"
#include "cli/say.h"
#include "cli/text.h"
#include "cmd/command.h"
#include "cmd/interrupt.h"
#include "scenario/play.h"

#define COLUMNS 100 /* where there is no terminal */

static struct {
	const char *output;

} arg = { .output = "text" };

static volatile sig_atomic_t stop;
static struct sigaction explain;

/* The first signal ends the run, which undoes its failures; another one ends that, too. */
static void on_signal(arg_unused int signal)
{
	stop = 1;
	(void)sigaction(SIGINT, &explain, NULL);
	(void)sigaction(SIGTERM, &explain, NULL);
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	interrupt_explain(
		"failures of the scenario may be active: 'manykube fail list' shows them, "
		"and 'manykube heal --all' undoes them");
	(void)sigaction(SIGINT, NULL, &explain);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
}

static void tell_event(int64_t ms, const char *words)
{
	(void)fprintf(stderr, "%7.1fs  %s\n", (double)ms / 1000, words);
}

static void tell_nothing(arg_unused int64_t ms, arg_unused const char *words)
{
}

static void print_report(const struct report *report)
{
	json_auto_t *document = NULL;

	if (strcmp(arg.output, "json") != 0) {
		fail_report_print(report, text_columns(STDOUT_FILENO, COLUMNS), stdout);
		return;
	}
	document = report_json(report);
	(void)json_dumpf(document, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
	printf("\n");
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(scenario_release) struct scenario scenario = SCENARIO_INIT;
	cleanup_with(report_release) struct report report = REPORT_INIT;
	struct play_options options = { .stop = &stop,
					.tell = ctx->quiet ? tell_nothing : tell_event };
	int r = scenario_read(ctx->argv[0], &scenario, err);

	if (r < 0)
		return r;
	catch_signals();
	r = scenario_play(ctx->profile_name, &scenario, &options, &report, err);
	if (report.length_ms > 0)
		print_report(&report);
	return r;
}

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format of the report",
		   .once = true),
	OPT_END,
};

const struct command cmd_fail_run = {
	.name = "run",
	.operands = "FILE",
	.summary = "play a list of failures, and report what the cluster did",
	.description =
		"FILE is YAML: 'apiVersion: manykube/v1', 'kind: Scenario' and 'steps', a list. Each "
		"step has one of 'fail' (a failure, with its 'nodes' and the options of 'manykube "
		"fail' as fields: for, from, port, to, delay, jitter, loss, rate, offset), 'heal' (a "
		"list of nodes, or all) and 'wait' (not-ready, ready, pods, api or service; with "
		"'nodes' and 'timeout'). It begins 'at' a time of the run, or 'after' a time since the "
		"previous step was done. 'observe: {service: [NAMESPACE/]NAME}' names a service whose "
		"answers are watched, over HTTP unless 'protocol: tcp' is given. At the end the "
		"scenario's failures are undone, and the run waits for at most 'settle' (5m) until all "
		"nodes and pods are Ready. docs/experiments/scenarios.md has an example. Ctrl-C ends "
		"the run early and undoes its failures.",
	.examples = "manykube fail run scenario.yaml\n"
		    "manykube fail run scenario.yaml -o json\n",
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_FILE,
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.options = options,
	.run = run,
};
