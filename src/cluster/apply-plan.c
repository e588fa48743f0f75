/* What has to be done to make a cluster what a file says it is. */

#include "cluster/apply-plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cluster/choices.h"
#include "cluster/file-fields.h"
#include "cluster/plan.h"

static const void *at(const void *base, size_t offset)
{
	return (const char *)base + offset;
}

static struct apply_step *add_step(struct apply_plan *plan, enum apply_action action,
				   const char *node)
{
	plan->steps = xrealloc(plan->steps, plan->count + 1, sizeof(*plan->steps));
	plan->steps[plan->count] = (struct apply_step){ .action = action, .node = node };
	return &plan->steps[plan->count++];
}

/* "+new -old", for the caller to free; NULL if both have the same, in whichever order. */
static char *compare_lists(const struct strlist *has, const struct strlist *wanted)
{
	struct strbuf out = STRBUF_INIT;
	const char *word;

	strlist_for_each(word, wanted)
		if (!strlist_has(has, word))
			strbuf_addf(&out, " +%s", word);
	strlist_for_each(word, has)
		if (!strlist_has(wanted, word))
			strbuf_addf(&out, " -%s", word);
	return out.len ? strbuf_take(&out) : NULL;
}

/* What differs between two members of FIELD, for the caller to free; NULL if nothing does. */
static char *compare_members(const struct file_field *field, const void *has, const void *wanted)
{
	cleanup_free char *usual = file_field_usual(field);
	cleanup_free char *before = NULL;
	cleanup_free char *after = NULL;

	if (field->type >= FILE_WORDS)
		return compare_lists(has, wanted);
	before = file_member_text(field, has);
	after = file_member_text(field, wanted);
	if (strcmp(before ? before : usual, after ? after : usual) == 0)
		return NULL;
	return xasprintf(" %s -> %s", before ? before : usual, after ? after : usual);
}

/* What stays as it is unless the file says otherwise. */
static bool is_left_open(const struct file_field *field, const void *wanted)
{
	cleanup_free char *text = NULL;

	if (!field->chosen_for_you && field->type != FILE_VERSION)
		return false;
	text = file_member_text(field, wanted);
	return !text;
}

static bool is_said(const struct file_field *field, const struct cluster_file *file)
{
	return !field->option || strlist_has(&file->given, field->option);
}

static void compare_cluster(const struct profile *profile, const struct cluster_file *file,
			    bool unsaid_stays, struct apply_plan *plan)
{
	const struct file_field *field;

	file_for_each_field(field) {
		const void *wanted = at(&file->options, field->wanted);
		bool is_default = field->places & FILE_OF_DEFAULTS;
		cleanup_free char *difference = NULL;
		struct apply_step *step;

		if (!(field->places & (FILE_OF_CLUSTER | FILE_OF_DEFAULTS)) || !field->has_member ||
		    is_left_open(field, wanted) || (unsaid_stays && !is_said(field, file)))
			continue;
		difference = compare_members(field, at(profile, field->kept), wanted);
		if (!difference)
			continue;
		step = add_step(plan,
				is_default || field->type == FILE_FLAG ||
						choices_may_change(field->option ?: "")
					? APPLY_SET
					: APPLY_REFUSED,
				NULL);
		strlist_addf(&step->changes, "%s%s%s", is_default ? "defaults." : "", field->name,
			     difference);
	}
}

/* The settings that all nodes are to have, to plan nodes with; only lists are its own. */
static void take_defaults(const struct profile *profile, const struct cluster_file *file,
			  bool unsaid_stays, struct profile *ret)
{
	const struct file_field *field;

	*ret = PROFILE_INIT;
	file_for_each_field(field) {
		bool stays = unsaid_stays && !is_said(field, file);

		if (field->places & FILE_OF_DEFAULTS ||
		    (field->type == FILE_FLAG && field->places & FILE_OF_CLUSTER))
			file_copy_member(field,
					 stays ? at(profile, field->kept)
					       : at(&file->options, field->wanted),
					 (char *)ret + field->kept);
	}
}

static void release_defaults(struct profile *defaults)
{
	const struct file_field *field;

	/* Words are the file's, or the profile's. */
	file_for_each_field(field)
		if (field->places & FILE_OF_DEFAULTS &&
		    (field->type == FILE_WORD || field->type == FILE_PATH))
			*(char **)((char *)defaults + field->kept) = NULL;
	profile_release(defaults);
}

static enum apply_action action_of(const struct file_field *field, const void *has,
				   const void *wanted)
{
	if (field->effect == FILE_GROWING)
		return *(const uint64_t *)has && *(const uint64_t *)has < *(const uint64_t *)wanted
			       ? APPLY_RESTART
			       : APPLY_REPLACE;
	return field->effect == FILE_AT_ONCE      ? APPLY_CHANGE
	       : field->effect == FILE_ON_RESTART ? APPLY_RESTART
						  : APPLY_REPLACE;
}

/* Note in STEP what of NODE would be another by WANTED, of which OPTIONS were made. */
static void compare_settings(const struct node *node, const struct node *wanted,
			     const struct node_options *options, struct apply_step *step)
{
	const struct file_field *field;

	file_for_each_field(field) {
		cleanup_free char *difference = NULL;
		const void *has;
		const void *next;

		if (!(field->places & FILE_OF_NODE) || !field->has_member ||
		    field->type == FILE_FLAG || strcmp(field->name, "name") == 0 ||
		    is_left_open(field, at(options, field->node_wanted)))
			continue;
		has = at(node, field->node_kept);
		next = field->type == FILE_VERSION || field->chosen_for_you
			       ? at(options, field->node_wanted)
			       : at(wanted, field->node_kept);
		difference = compare_members(field, has, next);
		if (!difference)
			continue;
		strlist_addf(&step->changes, "%s%s", field->name, difference);
		step->action = MAX(step->action, action_of(field, has, next));
	}
}

static void compare_node(const struct node *node, const struct node_options *options,
			 const struct profile *defaults, struct apply_plan *plan)
{
	struct apply_step *step = add_step(plan, APPLY_CHANGE, options->name);
	struct node wanted = { .control_plane = options->control_plane };

	plan_settings(defaults, options, &wanted);
	compare_settings(node, &wanted, options, step);
	if (node->control_plane != options->control_plane) {
		strlist_addf(&step->changes, "role %s -> %s",
			     node->control_plane ? "control-plane" : "worker",
			     options->control_plane ? "control-plane" : "worker");
		step->action = APPLY_REPLACE;
	}
	node_release(&wanted);
	/* Nothing differs. */
	if (step->changes.count == 0)
		plan->count--;
}

static bool file_has(const struct cluster_file *file, const char *name)
{
	for (size_t i = 0; i < file->node_count; i++)
		if (strcmp(file->nodes[i].name, name) == 0)
			return true;
	return false;
}

void apply_plan_make(const struct profile *profile, const struct cluster_file *file,
		     bool unsaid_stays, struct apply_plan *ret)
{
	cleanup_with(release_defaults) struct profile defaults = PROFILE_INIT;
	const struct node *node;

	*ret = APPLY_PLAN_INIT;
	compare_cluster(profile, file, unsaid_stays, ret);
	take_defaults(profile, file, unsaid_stays, &defaults);
	for (size_t i = 0; i < file->node_count; i++) {
		node = profile_find_node(profile, file->nodes[i].name);
		if (node && node->phase != NODE_LEAVING)
			compare_node(node, &file->nodes[i], &defaults, ret);
		else
			strlist_addf(&add_step(ret, APPLY_ADD, file->nodes[i].name)->changes, "%s",
				     file->nodes[i].control_plane ? "a control plane" : "a worker");
	}
	/* A file that names no nodes leaves those there are alone. */
	profile_for_each_node(node, profile)
		if (file->node_count > 0 && !file_has(file, node->name))
			(void)add_step(ret, APPLY_DELETE, node->name);
}

bool apply_plan_has(const struct apply_plan *plan, enum apply_action action)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].action == action)
			return true;
	return false;
}

char *apply_step_words(const struct apply_step *step)
{
	static const char *const words[] = {
		[APPLY_SET] = "changes",          [APPLY_REFUSED] = "can't be changed",
		[APPLY_ADD] = "is added",         [APPLY_CHANGE] = "changes",
		[APPLY_RESTART] = "is restarted", [APPLY_REPLACE] = "is deleted and made anew",
		[APPLY_DELETE] = "is deleted",
	};
	cleanup_free char *changes = strlist_join(&step->changes, ", ");

	return xasprintf("%s%s%s %s%s%s", step->node ? "node '" : "the cluster",
			 step->node ? step->node : "", step->node ? "'" : "", words[step->action],
			 *changes ? ": " : "", changes);
}

void apply_plan_release(struct apply_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		strlist_release(&plan->steps[i].changes);
	free(plan->steps);
	*plan = APPLY_PLAN_INIT;
}
