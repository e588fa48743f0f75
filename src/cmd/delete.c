/* `delete`: remove a cluster and everything that was made for it. */

#include <stdio.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/progress.h"
#include "cluster/cluster.h"
#include "cmd/command.h"

static bool is_there(const char *name)
{
	cleanup_free char *folder = NULL;

	return profile_folder(name, &folder, NULL) == 0 && file_exists(folder);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);
	bool was_there = is_there(ctx->profile_name);
	int r;

	/* The name may be mistyped; but what a damaged home has forgotten is removed all the same.
	 */
	if (!was_there)
		log_warning("there is no cluster '%s'; looking for traces of it anyway",
			    ctx->profile_name);
	r = cluster_delete(ctx->profile_name, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	if (r == 0 && was_there && !ctx->quiet)
		fprintf(stderr, "Removed all traces of the \"%s\" cluster.\n", ctx->profile_name);
	return r;
}

const struct command cmd_delete = {
	.name = "delete",
	.summary = "remove a cluster, its nodes and all their data",
	.description = "Removes the cluster also when it is half made, damaged or stopped; what is "
		       "gone already is no error. The cache of Kubernetes versions stays.",
	.examples = "manykube delete\n"
		    "manykube delete -p dev\n",
	.flags = COMMAND_LOCKS_CLUSTER | COMMAND_NEEDS_ROOT,
	.run = run,
};
