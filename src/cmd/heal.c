/* `heal`: end failures; and `fail-timer`, the process that does it after a time. */

#include <limits.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cmd/command.h"
#include "fail/timer.h"

/* How long the timer rests when it has to wait for another command, or could not end a failure. */
#define BUSY_MS  200
#define WATCH_MS 1000
#define RETRY_MS 5000

static struct {
	bool all;
	const char *output;
} arg = { .output = "text" };

static const struct opt options[] = {
	OPT_FLAG(0, "all", &arg.all, "end all failures, as without names", .once = true),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct fail_selection selection = { NULL };
	int r;

	if (arg.all && ctx->argc > 0)
		return error_because(err, &reason_usage, -EINVAL, "--all conflicts with '%s'",
				     ctx->argv[0]);
	strlist_add_all(&names, ctx->argv);
	if (ctx->argc > 0)
		selection.nodes = &names;
	progress = progress_new(ctx->quiet, log_verbosity);
	r = cluster_heal(ctx->profile, &selection, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	if (r < 0)
		return r;
	if (r == 0 && (!ctx->quiet || events_on_stdout()))
		say_done("Cluster \"%s\" has no failures.", ctx->profile_name);
	if (r > 0 && (!ctx->quiet || events_on_stdout()))
		say_done("Ended %d %s.", r, r == 1 ? "failure" : "failures");
	return 0;
}

const struct command cmd_heal = {
	.name = "heal",
	.operands = "[NODE...]",
	.summary = "end failures that 'fail' has caused",
	.description = "Without names, all failures end. Nodes that were killed are started. Of a "
		       "partition of several nodes, only the named ones are taken.",
	.examples = "manykube heal node-2\n"
		    "manykube heal --all\n",
	.max_operands = UINT_MAX,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.events = &arg.output,
	.run = run,
};

/* End what is over, under the lock of the cluster NAME; -EWOULDBLOCK if another command has it. */
static int end_expired(const char *name, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct fail_selection selection = { .expired = true };
	cleanup_fd int lock = -1;
	int r = profile_lock(name, "manykube heal", &lock, err);

	if (r == 0)
		r = profile_load(name, &profile, err);
	return r < 0 ? r : cluster_heal(&profile, &selection, NULL, err);
}

/* The next time at which the cluster NAME has to be healed; 0: never again. */
static int64_t next_end(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	if (profile_load(name, &profile, NULL) < 0 || profile.deleting)
		return 0;
	return fail_timer_next(&profile);
}

static int run_timer(struct command_context *ctx, struct error *err)
{
	cleanup_fd int lock = -1;
	int r = fail_timer_lock(ctx->profile, &lock, err);
	int64_t next;

	if (r < 0)
		return r;
	while ((next = next_end(ctx->profile_name)) > 0) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		int64_t left_ms = next * 1000 - clock_wall_ms();

		/* The clock of the wall may be set meanwhile. */
		if (left_ms > 0) {
			clock_rest_ms((unsigned)MIN(WATCH_MS, left_ms));
			continue;
		}
		r = end_expired(ctx->profile_name, &why);
		if (r < 0 && r != -EWOULDBLOCK)
			log_warning("cannot end a failure whose time is over: %s", why.text);
		if (r < 0)
			clock_rest_ms(r == -EWOULDBLOCK ? BUSY_MS : RETRY_MS);
	}
	return 0;
}

const struct command cmd_fail_timer = {
	.name = "fail-timer",
	.summary = "end failures when their time is over",
	.flags = COMMAND_HIDDEN | COMMAND_NEEDS_CLUSTER | COMMAND_NO_SETTINGS,
	.run = run_timer,
};
