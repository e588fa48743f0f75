/* What `start` can be told: its option table, and what the options leave behind. */
#pragma once

#include "cli/opt.h"
#include "cmd/command.h"
#include "describe/file.h"
#include "record/options.h"

struct start_arguments {
	struct cluster_options wanted;
	const char *wait;
	bool wait_given;
	const char *output;
	const char *file;
	bool ha;
	bool download_only;
	bool dry_run;
	bool delete_on_failure;
};

/* What the options of `start` set: for `start` itself. */
extern struct start_arguments start_arguments;
extern const struct opt start_options[];

/* Turn words into what cluster/ understands: versions, what to wait for, paths. */
int start_arguments_finish(struct start_arguments *arguments, struct error *err);

/* See that the nodes of CTX's file, if there is one, go together with ARGUMENTS, and have those
 * added that the cluster does not have yet; the caller holds its lock. */
int start_settle_file(const struct command_context *ctx, struct start_arguments *arguments,
		      struct error *err);

/* See that what ARGUMENTS say goes together, and make it what cluster/ understands. */
int start_settle(struct command_context *ctx, struct start_arguments *arguments, struct error *err);

/* Make the cluster, or bring it up, with progress, and say so. */
int start_go(struct command_context *ctx, const struct start_arguments *arguments,
	     struct error *err);

/* Print what `start` would make of the cluster NAME. */
int start_print_plan(const char *name, const struct cluster_options *options, struct error *err);
