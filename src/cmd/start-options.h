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

extern struct start_arguments start_arguments;
extern const struct opt start_options[];

/* Turn words into what cluster/ understands: versions, what to wait for, paths. */
int start_arguments_finish(struct start_arguments *arguments, struct error *err);

/* The file of --file, as struct command wants it. */
int start_take_file(struct strlist *given, bool named, const char **profile_name,
		    struct error *err);

/* See that the file's nodes go together with the options, and have those added that the cluster
 * NAME does not have yet; the caller holds its lock. */
int start_settle_file(const char *name, struct error *err);

/* What --file has brought; of no use unless it was given. */
const struct cluster_file *start_file(void);

/* See that what start_arguments say goes together, and make it what cluster/ understands. */
int start_settle(struct command_context *ctx, struct error *err);

/* Make the cluster, or bring it up, with progress, and say so. */
int start_go(struct command_context *ctx, struct error *err);

/* Print what `start` would make of the cluster NAME. */
int start_print_plan(const char *name, const struct cluster_options *options, struct error *err);
