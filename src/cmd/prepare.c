/* Do what a command's flags ask for: load and lock its cluster, and check for root. */

#include "cmd/prepare.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd/interrupt.h"
#include "driver/driver.h"
#include "home/migrate.h"
#include "record/old-home.h"

/* Suggest COMMAND with sudo; ARGS are its arguments as the audit may show them. */
static int hint_root(const struct command *command, const char *path, const char *args,
		     struct error *err)
{
	/* Redacted or quoted arguments cannot be retyped as shown. */
	if (command->flags & COMMAND_PASSES_REST || strstr(args, "=REDACTED") ||
	    strpbrk(args, "'\"\\$`"))
		return error_hint(err, -EPERM, "run the command as root, for instance with sudo");
	return error_hint(err, -EPERM, "run 'sudo %s%s%s'", path, *args ? " " : "", args);
}

/* Whether a driver of the nodes of PROFILE (NULL: not known yet) needs root. */
static bool nodes_need_root(const struct profile *profile)
{
	const struct node *node;

	if (!profile || profile->node_count == 0)
		return node_driver_default()->needs_root;
	profile_for_each_node(node, profile) {
		const struct node_driver *driver = node->driver ? node_driver_find(node->driver)
								: NULL;

		if (!driver || driver->needs_root)
			return true;
	}
	return false;
}

static int check_root(const struct command_context *ctx, const char *path,
		      const struct record *record, struct error *err)
{
	if (geteuid() == 0 || !nodes_need_root(ctx->profile))
		return 0;
	error_because(err, &reason_not_root, -EPERM,
		      "'%s' needs root: only root can create, enter or remove nodes", path);
	return hint_root(ctx->command, path, record->audit.args, err);
}

int command_take_lock(const struct command_context *ctx, const char *path, int *ret_lock,
		      struct error *err)
{
	bool told = false;
	int r;

	while ((r = profile_lock(ctx->profile_name, path, ret_lock, err)) == -EWOULDBLOCK &&
	       ctx->command->flags & COMMAND_WAITS) {
		if (!told)
			log_warning("%s; waiting for it to finish", err->text);
		told = true;
		error_clear(err);
		clock_rest_ms(200);
	}
	return r;
}

/* Operands that are names of nodes can be wrong without anybody waiting for that. */
static int check_names(const struct command_context *ctx, struct error *err)
{
	int r = 0;

	if (ctx->command->complete != COMPLETE_NODE || !ctx->profile)
		return 0;
	for (int i = 0; r == 0 && i < ctx->argc; i++) {
		struct node *node;

		r = profile_need_node(ctx->profile, ctx->argv[i], &node, err);
	}
	return r;
}

int command_run_prepared(struct command_context *ctx, const char *path, struct record *record,
			 struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_fd int lock = -1;
	const struct command *command = ctx->command;
	bool needs_cluster = command->flags & COMMAND_NEEDS_CLUSTER;
	bool needs_lock = command->flags & COMMAND_LOCKS_CLUSTER &&
			  !(command->no_lock && *command->no_lock);
	int r;

	/* Nodes and front doors run for days and must not inherit anything of the caller. */
	if (!(command->flags & COMMAND_KEEPS_FILES))
		(void)close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
	if (command->flags & COMMAND_LOCKS_CLUSTER)
		interrupt_explain(command->interrupted);
	if (needs_cluster) {
		r = profile_load(ctx->profile_name, &profile, err);
		if (r < 0)
			return r;
		ctx->profile = &profile;
	}
	if (command->flags & COMMAND_NEEDS_ROOT) {
		r = check_root(ctx, path, record, err);
		if (r < 0)
			return r;
	}
	if (needs_lock) {
		r = check_names(ctx, err);
		if (r == 0)
			r = command_take_lock(ctx, path, &lock, err);
		if (r < 0)
			return r;
	}
	if (lock >= 0 && geteuid() == 0) {
		r = migrate_cluster(ctx->profile_name, err);
		if (r < 0)
			return r;
	}
	if (needs_cluster && lock >= 0) {
		/* The previous holder of the lock may have changed or deleted it. */
		profile_release(&profile);
		r = profile_load(ctx->profile_name, &profile, err);
		if (r < 0)
			return r;
	}
	record_go(record);
	r = command->run(ctx, err);
	if (lock >= 0)
		profile_remove_lock(ctx->profile_name);
	return r;
}
