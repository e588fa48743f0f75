/* The steps that change a cluster to match a file. */

#include "plan/apply-plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "describe/choices.h"
#include "describe/file-fields.h"
#include "plan/plan.h"
#include "record/options.h"

struct apply_step *apply_plan_add(struct apply_plan *plan, enum apply_action action,
				  const char *node)
{
	plan->steps = xrealloc(plan->steps, plan->count + 1, sizeof(*plan->steps));
	plan->steps[plan->count] = (struct apply_step){ .action = action, .node = node };
	return &plan->steps[plan->count++];
}

static struct apply_change *add_change(struct apply_step *step, const char *prefix,
				       const struct setting *setting)
{
	step->changes = xrealloc(step->changes, step->change_count + 1, sizeof(*step->changes));
	step->changes[step->change_count] = (struct apply_change){
		.setting = setting,
		.field = xasprintf("%s%s", prefix, setting ? setting->name : "role"),
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

/* Whether two members have the same effect: an unset member equals the default. */
static bool is_same(const struct setting *field, const void *one, const void *other)
{
	bool file_determines = field->usual && *field->usual != '(' && field->type != SETTING_FLAG;
	bool is_number = field->type == SETTING_NUMBER;
	unsigned long long parsed = 0;
	unsigned number;
	const void *usual = is_number ? (const void *)&number : &field->usual;

	if (file_determines && is_number)
		(void)parse_number(field->usual, 0, field->most, &parsed, NULL);
	number = (unsigned)parsed;
	return setting_equals(field, file_determines && !setting_is_set(field, one) ? usual : one,
			      file_determines && !setting_is_set(field, other) ? usual : other);
}

/* Add the difference between two members of FIELD to STEP; returns whether there is one. */
static bool compare_members(const struct setting *field, const void *has, const void *wanted,
			    const char *prefix, struct apply_step *step)
{
	cleanup_free char *usual = file_field_usual(field);
	struct apply_change *change;

	if (is_same(field, has, wanted))
		return false;
	change = add_change(step, prefix, field);
	if (setting_is_list(field)) {
		setting_subtract(field, wanted, has, &change->gained);
		setting_subtract(field, has, wanted, &change->lost);
	} else {
		change->before = setting_print(field, has) ?: xstrdup(usual);
		change->after = setting_print(field, wanted) ?: xstrdup(usual);
	}
	return true;
}

/* Whether FIELD keeps its value unless the file sets it. */
static bool keeps_value(const struct setting *field, const void *wanted)
{
	return (field->chosen_for_you || field->type == SETTING_VERSION) &&
	       !setting_is_set(field, wanted);
}

/* Whether a file of kind determines OPTION even if the field is missing. */
static bool kind_determines(const char *option)
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

static bool file_determines(const struct setting *field, const struct cluster_file *file)
{
	return !field->option || strlist_has(&file->given, field->option) ||
	       (file->foreign && kind_determines(field->option));
}

/* Whether FIELD is a setting of the cluster that FILE determines. */
static bool is_of_cluster(const struct setting *field, const struct cluster_file *file)
{
	return setting_is_of_cluster(field) &&
	       !keeps_value(field, setting_in_cluster(field, &file->options.settings));
}

bool apply_may_change(const struct setting *field)
{
	return field->places & SETTING_OF_DEFAULTS || field->type == SETTING_FLAG ||
	       field->any_time || field->moves_pods;
}

static void compare_cluster(const struct profile *profile, const struct cluster_file *file,
			    bool unsaid_stays, struct apply_plan *plan)
{
	const struct setting *field;

	setting_for_each(field) {
		struct apply_step *step;

		if (!is_of_cluster(field, file) || (unsaid_stays && !file_determines(field, file)))
			continue;
		step = apply_plan_add(plan, apply_may_change(field) ? APPLY_SET : APPLY_REFUSED,
				      NULL);
		if (!compare_members(field, setting_in_cluster(field, &profile->settings),
				     setting_in_cluster(field, &file->options.settings),
				     field->places & SETTING_OF_DEFAULTS ? "defaults." : "", step))
			release_step(&plan->steps[--plan->count]);
	}
}

void apply_plan_take(const struct cluster_file *file, struct profile *profile)
{
	const struct setting *field;

	setting_for_each(field) {
		void *kept = setting_in_cluster(field, &profile->settings);

		if (!is_of_cluster(field, file) || !apply_may_change(field) ||
		    (file->foreign && !file_determines(field, file)))
			continue;
		setting_copy(field, setting_in_cluster(field, &file->options.settings), kept);
		/* A record always names the pod network. */
		if (field->moves_pods && !setting_is_set(field, kept))
			setting_copy(field, &field->usual, kept);
		if (field->chosen_for_you && !strlist_has(&profile->asked, field->name))
			strlist_add(&profile->asked, field->name);
	}
}

/* The defaults for all nodes according to FILE, to plan nodes with. */
static void take_defaults(const struct profile *profile, const struct cluster_file *file,
			  bool unsaid_stays, struct profile *ret)
{
	const struct setting *field;

	*ret = PROFILE_INIT;
	setting_for_each(field) {
		bool stays = unsaid_stays && !file_determines(field, file);

		if (setting_is_of_cluster(field))
			setting_copy(field,
				     setting_in_cluster(field, stays ? &profile->settings
								     : &file->options.settings),
				     setting_in_cluster(field, &ret->settings));
	}
}

static enum apply_action action_of(const struct setting *field, const void *has, const void *wanted)
{
	if (field->effect == SETTING_GROWING)
		return *(const uint64_t *)has && *(const uint64_t *)has < *(const uint64_t *)wanted
			       ? APPLY_RESTART
			       : APPLY_REPLACE;
	if (field->effect == SETTING_AT_ONCE || field->effect == SETTING_HELD_TO ||
	    field->effect == SETTING_OF_DOCKER)
		return APPLY_CHANGE;
	return field->effect == SETTING_ON_RESTART ? APPLY_RESTART : APPLY_REPLACE;
}

/* Add the differences between NODE and WANTED, which was planned from OPTIONS, to STEP. */
static void compare_settings(const struct node *node, const struct node *wanted,
			     const struct node_options *options, struct apply_step *step)
{
	const struct setting *field;

	setting_for_each(field) {
		const void *has;
		const void *next;

		if (!setting_is_of_node(field) || strcmp(field->name, "name") == 0 ||
		    keeps_value(field, setting_in_node(field, &options->settings)))
			continue;
		has = setting_in_node(field, &node->settings);
		next = field->type == SETTING_VERSION || field->chosen_for_you
			       ? setting_in_node(field, &options->settings)
			       : setting_in_node(field, &wanted->settings);
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
		struct apply_change *change = add_change(step, "", NULL);

		change->before = xstrdup(role_word(node->control_plane));
		change->after = xstrdup(role_word(options->control_plane));
		step->action = APPLY_REPLACE;
	}
	node_release(&wanted);
	if (step->change_count == 0)
		release_step(&plan->steps[--plan->count]);
}

static void plan_addition(const struct node_options *options, struct apply_plan *plan)
{
	struct apply_change *change = add_change(apply_plan_add(plan, APPLY_ADD, options->name), "",
						 NULL);

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
	cleanup_with(profile_release) struct profile defaults = PROFILE_INIT;
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
	/* A file without nodes leaves the existing ones alone. */
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

bool apply_step_moves_pods(const struct apply_step *step)
{
	for (size_t i = 0; i < step->change_count; i++)
		if (step->changes[i].setting && step->changes[i].setting->moves_pods)
			return true;
	return false;
}

bool apply_step_disturbs(const struct apply_step *step)
{
	if (apply_step_moves_pods(step))
		return true;
	return step->action == APPLY_REPLACE || step->action == APPLY_DELETE ||
	       (step->action == APPLY_RESTART && !step->is_down);
}

const char *apply_action_words(enum apply_action action)
{
	static const char *const words[] = {
		[APPLY_SET] = "changes",
		[APPLY_REFUSED] = "cannot be changed",
		[APPLY_ADD] = "is added",
		[APPLY_START] = "is started",
		[APPLY_CHANGE] = "changes",
		[APPLY_RESTART] = "is restarted",
		[APPLY_REPLACE] = "is deleted and created again without its data",
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
	bool by_need = step->action == APPLY_START && step->need && !*changes;

	return xasprintf("%s%s%s %s%s%s", step->node ? "node '" : "the cluster",
			 step->node ? step->node : "", step->node ? "'" : "",
			 by_need ? step->need : apply_action_words(step->action),
			 *changes ? ": " : "", changes);
}

void apply_plan_release(struct apply_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		release_step(&plan->steps[i]);
	free(plan->steps);
	*plan = APPLY_PLAN_INIT;
}
