/* What has to be done to make a cluster what a file says it is. */

#include "plan/apply-plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "describe/choices.h"
#include "describe/file-fields.h"
#include "plan/plan.h"
#include "record/options.h"

static const void *at(const void *base, size_t offset)
{
	return (const char *)base + offset;
}

struct apply_step *apply_plan_add(struct apply_plan *plan, enum apply_action action,
				  const char *node)
{
	plan->steps = xrealloc(plan->steps, plan->count + 1, sizeof(*plan->steps));
	plan->steps[plan->count] = (struct apply_step){ .action = action, .node = node };
	return &plan->steps[plan->count++];
}

static struct apply_change *add_change(struct apply_step *step, const char *prefix,
				       const char *field)
{
	step->changes = xrealloc(step->changes, step->change_count + 1, sizeof(*step->changes));
	step->changes[step->change_count] = (struct apply_change){
		.field = xasprintf("%s%s", prefix, field),
	};
	return &step->changes[step->change_count++];
}

static void release_change(struct apply_change *change)
{
	free(change->field);
	free(change->before);
	free(change->after);
	strlist_release(&change->gained);
	strlist_release(&change->lost);
}

static void release_step(struct apply_step *step)
{
	for (size_t i = 0; i < step->change_count; i++)
		release_change(&step->changes[i]);
	free(step->changes);
}

/* What of WANTED the list HAS not; the order does not matter. */
static void subtract(const struct strlist *wanted, const struct strlist *has, struct strlist *ret)
{
	const char *word;

	strlist_for_each(word, wanted)
		if (!strlist_has(has, word))
			strlist_add(ret, word);
}

/* Note in STEP what differs between two members of FIELD; returns whether something does. */
static bool compare_members(const struct file_field *field, const void *has, const void *wanted,
			    const char *prefix, struct apply_step *step)
{
	struct apply_change *change = add_change(step, prefix, field->name);
	cleanup_free char *usual = file_field_usual(field);

	if (field->type >= FILE_WORDS) {
		subtract(wanted, has, &change->gained);
		subtract(has, wanted, &change->lost);
		if (change->gained.count > 0 || change->lost.count > 0)
			return true;
	} else {
		change->before = file_member_text(field, has) ?: xstrdup(usual);
		change->after = file_member_text(field, wanted) ?: xstrdup(usual);
		if (strcmp(change->before, change->after) != 0)
			return true;
	}
	release_change(&step->changes[--step->change_count]);
	return false;
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

/* What a file of kind's says even if that is nothing. */
static bool kind_says(const char *option)
{
	static const char *const options[] = { "cni",
					       "service-cluster-ip-range",
					       "ports",
					       "feature-gates",
					       "extra-config",
					       "registry-mirror",
					       "insecure-registry" };

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (strcmp(options[i], option) == 0)
			return true;
	return false;
}

static bool is_said(const struct file_field *field, const struct cluster_file *file)
{
	return !field->option || strlist_has(&file->given, field->option) ||
	       (file->foreign && kind_says(field->option));
}

/* Whether FIELD is about the cluster, and FILE says what it is to be. */
static bool is_of_cluster(const struct file_field *field, const struct cluster_file *file)
{
	return field->places & (FILE_OF_CLUSTER | FILE_OF_DEFAULTS) && field->has_member &&
	       !is_left_open(field, at(&file->options, field->wanted));
}

bool apply_may_change(const struct file_field *field)
{
	return field->places & FILE_OF_DEFAULTS || field->type == FILE_FLAG ||
	       choices_may_change(field->option ?: "");
}

static void compare_cluster(const struct profile *profile, const struct cluster_file *file,
			    bool unsaid_stays, struct apply_plan *plan)
{
	const struct file_field *field;

	file_for_each_field(field) {
		struct apply_step *step;

		if (!is_of_cluster(field, file) || (unsaid_stays && !is_said(field, file)))
			continue;
		step = apply_plan_add(plan, apply_may_change(field) ? APPLY_SET : APPLY_REFUSED,
				      NULL);
		if (!compare_members(field, at(profile, field->kept),
				     at(&file->options, field->wanted),
				     field->places & FILE_OF_DEFAULTS ? "defaults." : "", step))
			release_step(&plan->steps[--plan->count]);
	}
}

void apply_plan_take(const struct cluster_file *file, struct profile *profile)
{
	const struct file_field *field;

	file_for_each_field(field) {
		if (!is_of_cluster(field, file) || !apply_may_change(field) ||
		    (file->foreign && !is_said(field, file)))
			continue;
		file_own_member(field, at(&file->options, field->wanted),
				(char *)profile + field->kept);
		if (field->chosen_for_you && !strlist_has(&profile->asked, field->name))
			strlist_add(&profile->asked, field->name);
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
	if (field->effect == FILE_AT_ONCE || field->effect == FILE_HELD_TO)
		return APPLY_CHANGE;
	return field->effect == FILE_ON_RESTART ? APPLY_RESTART : APPLY_REPLACE;
}

/* Note in STEP what of NODE would be another by WANTED, of which OPTIONS were made. */
static void compare_settings(const struct node *node, const struct node *wanted,
			     const struct node_options *options, struct apply_step *step)
{
	const struct file_field *field;

	file_for_each_field(field) {
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
		if (compare_members(field, has, next, "", step))
			step->action = MAX(step->action, action_of(field, has, next));
	}
}

static const char *role_word(bool control_plane)
{
	return control_plane ? "control-plane" : "worker";
}

static void compare_node(const struct node *node, const struct node_options *options,
			 const struct profile *defaults, struct apply_plan *plan)
{
	struct apply_step *step = apply_plan_add(plan, APPLY_CHANGE, options->name);
	struct node wanted = { .control_plane = options->control_plane };

	plan_settings(defaults, options, &wanted);
	compare_settings(node, &wanted, options, step);
	if (node->control_plane != options->control_plane) {
		struct apply_change *change = add_change(step, "", "role");

		change->before = xstrdup(role_word(node->control_plane));
		change->after = xstrdup(role_word(options->control_plane));
		step->action = APPLY_REPLACE;
	}
	node_release(&wanted);
	/* Nothing differs. */
	if (step->change_count == 0)
		release_step(&plan->steps[--plan->count]);
}

static void plan_addition(const struct node_options *options, struct apply_plan *plan)
{
	struct apply_change *change = add_change(apply_plan_add(plan, APPLY_ADD, options->name), "",
						 "role");

	change->after = xstrdup(role_word(options->control_plane));
}

void apply_plan_make_new(const struct cluster_file *file, struct apply_plan *ret)
{
	*ret = APPLY_PLAN_INIT;
	(void)apply_plan_add(ret, APPLY_ADD, NULL);
	for (size_t i = 0; i < file->node_count; i++)
		plan_addition(&file->nodes[i], ret);
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
			plan_addition(&file->nodes[i], ret);
	}
	/* A file that names no nodes leaves those there are alone. */
	profile_for_each_node(node, profile)
		if (file->node_count > 0 && !cluster_file_node(file, node->name))
			(void)apply_plan_add(ret, APPLY_DELETE, node->name);
}

bool apply_plan_has(const struct apply_plan *plan, enum apply_action action)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].action == action)
			return true;
	return false;
}

struct apply_step *apply_plan_find(const struct apply_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].node && strcmp(plan->steps[i].node, name) == 0)
			return &plan->steps[i];
	return NULL;
}

bool apply_step_disturbs(const struct apply_step *step)
{
	return step->action == APPLY_REPLACE || step->action == APPLY_DELETE ||
	       (step->action == APPLY_RESTART && !step->is_down);
}

const char *apply_action_words(enum apply_action action)
{
	static const char *const words[] = {
		[APPLY_SET] = "changes",
		[APPLY_REFUSED] = "can't be changed",
		[APPLY_ADD] = "is added",
		[APPLY_START] = "is started",
		[APPLY_CHANGE] = "changes",
		[APPLY_RESTART] = "is restarted",
		[APPLY_REPLACE] = "is deleted and made anew",
		[APPLY_DELETE] = "is deleted",
	};

	return words[action];
}

char *apply_change_words(const struct apply_change *change)
{
	struct strbuf out = STRBUF_INIT;
	const char *word;

	strbuf_add(&out, change->field);
	if (change->after)
		strbuf_addf(&out, " %s%s%s", change->before ? change->before : "",
			    change->before ? " -> " : "", change->after);
	strlist_for_each(word, &change->gained)
		strbuf_addf(&out, " +%s", word);
	strlist_for_each(word, &change->lost)
		strbuf_addf(&out, " -%s", word);
	return strbuf_take(&out);
}

char *apply_step_changes(const struct apply_step *step)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	for (size_t i = 0; i < step->change_count; i++) {
		cleanup_free char *words = apply_change_words(&step->changes[i]);

		strlist_add(&all, words);
	}
	return strlist_join(&all, ", ");
}

char *apply_step_words(const struct apply_step *step)
{
	cleanup_free char *changes = apply_step_changes(step);

	return xasprintf("%s%s%s %s%s%s", step->node ? "node '" : "the cluster",
			 step->node ? step->node : "", step->node ? "'" : "",
			 apply_action_words(step->action), *changes ? ": " : "", changes);
}

void apply_plan_release(struct apply_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		release_step(&plan->steps[i]);
	free(plan->steps);
	*plan = APPLY_PLAN_INIT;
}
