/* What `start` can be told: its option table, and what the options leave behind. */
#pragma once

#include "cli/opt.h"
#include "cluster/cluster.h"

struct start_arguments {
	struct cluster_options wanted;
	const char *kubernetes_version;
	const char *wait;
	const char *output;
	bool ha;
	bool download_only;
	bool dry_run;
	bool delete_on_failure;
};

extern struct start_arguments start_arguments;
extern const struct opt start_options[];

/* Turn words into what cluster/ understands: versions, what to wait for, paths. */
int start_arguments_finish(struct start_arguments *arguments, struct error *err);

/* Print what `start` would make of the cluster NAME. */
int start_print_plan(const char *name, const struct cluster_options *options, struct error *err);
