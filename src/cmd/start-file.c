/* `start --file`: apply the values of the file to the options of `start`. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cmd/command.h"
#include "cmd/node-change.h"
#include "cmd/start-options.h"
#include "describe/file.h"
#include "plan/apply-plan.h"
#include "record/options.h"

/* Counts on the command line can only make the cluster larger than in the file. */
static int check_counts(const struct cluster_file *file, const struct cluster_options *wanted,
			struct error *err)
{
	unsigned control_planes = 0;

	for (size_t i = 0; i < wanted->add_count; i++)
		control_planes += wanted->add[i].control_plane;
	if (wanted->nodes && wanted->nodes < wanted->add_count)
		return error_because(err, &reason_usage, -EINVAL,
				     "--nodes=%u is less than the %zu nodes in '%s'", wanted->nodes,
				     wanted->add_count, file->source);
	if (wanted->control_planes && wanted->control_planes < control_planes)
		return error_because(err, &reason_usage, -EINVAL,
				     "--control-planes=%u is less than the %u in '%s'",
				     wanted->control_planes, control_planes, file->source);
	return 0;
}

/* Warn of differences between the nodes of PROFILE and the file at PATH. */
static void tell_differences(const struct command_context *ctx, const char *path,
			     const struct profile *profile)
{
	cleanup_with(apply_plan_release) struct apply_plan plan = APPLY_PLAN_INIT;
	struct strlist said = STRLIST_INIT;
	const struct cluster_file *file = ctx->file;
	struct cluster_file compared = *file;
	bool differs = false;
	const char *option;

	strlist_for_each(option, &file->given)
		if (!strlist_has(&ctx->overridden, option))
			strlist_add(&said, option);
	compared.given = said;
	apply_plan_make(profile, &compared, true, &plan);
	for (size_t i = 0; i < plan.count; i++) {
		const struct apply_step *step = &plan.steps[i];
		cleanup_free char *changes = apply_step_changes(step);

		if (step->action == APPLY_DELETE)
			log_warning("node '%s' is not in '%s' and is kept", step->node,
				    file->source);
		else if (step->node && step->action != APPLY_ADD)
			log_warning("node '%s' differs from '%s' and is not changed: %s",
				    step->node, file->source, changes);
		differs |= step->node && step->action != APPLY_ADD;
	}
	if (differs)
		log_warning("'manykube apply -f %s' changes the cluster to match the file", path);
	strlist_release(&said);
}

int start_settle_file(const struct command_context *ctx, struct start_arguments *arguments,
		      struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct cluster_options *wanted = &arguments->wanted;
	const struct cluster_file *file = ctx->file;
	static struct node_options *missing;
	int r;

	if (!file)
		return 0;
	r = check_counts(file, wanted, err);
	if (r == 0)
		r = node_check_size(wanted, err);
	/* Read errors are reported where the file is needed. */
	if (r < 0 || wanted->add_count == 0 || profile_load(ctx->profile_name, &profile, NULL) < 0)
		return r;
	tell_differences(ctx, arguments->file, &profile);
	missing = xcalloc(wanted->add_count, sizeof(*missing));
	wanted->add_count = 0;
	for (size_t i = 0; i < file->node_count; i++)
		if (!profile_find_node(&profile, file->nodes[i].name))
			missing[wanted->add_count++] = file->nodes[i];
	wanted->add = missing;
	return 0;
}
