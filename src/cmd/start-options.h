/* The options of `start`: their table, and their values. */
#pragma once

#include "cli/opt.h"
#include "cluster/cluster.h"
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

/* The values of the options of `start`. */
extern struct start_arguments start_arguments;
extern const struct opt start_options[];

/* Check the numbers and sizes in ARGUMENTS, and complete those that follow from others. */
int start_arguments_check(struct start_arguments *arguments, struct error *err);

/* Convert values for cluster/: versions, what to wait for, paths. */
int start_arguments_finish(struct start_arguments *arguments, struct error *err);

/* Check that the nodes of CTX's file, if any, agree with ARGUMENTS, and add those that the cluster
 * does not have yet; the caller holds its lock. */
int start_settle_file(const struct command_context *ctx, struct start_arguments *arguments,
		      struct error *err);

/* Check that ARGUMENTS are consistent, and convert them for cluster/. */
int start_settle(struct command_context *ctx, struct start_arguments *arguments, struct error *err);

/* Create or start the cluster, showing progress and the result. */
int start_go(struct command_context *ctx, const struct start_arguments *arguments,
	     struct error *err);

/* Put what a start with WANTED needs into the cache, without making a cluster. */
int start_download(bool quiet, const struct cluster_options *wanted, struct error *err);

/* Print what `start` would do with the cluster NAME. */
int start_print_plan(const char *name, const struct cluster_options *options, struct error *err);

/* Remove what a start that failed with the code FAILURE and ERR has created, and nothing older; ERR
 * then suggests how to keep it. */
void start_undo(const char *name, const struct cluster_outcome *outcome, struct observer *observer,
		int failure, struct error *err);
