/* How `apply` prints its plan. */

#include "cmd/apply-print.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/events.h"
#include "cli/text.h"
#include "data/words.h"

static const struct {
	const char *word; /* for programs */
	char sign;
	const char *colour;
} looks[] = {
	[APPLY_SET] = { "set", '~', "\033[33m" },
	[APPLY_REFUSED] = { "refused", 'x', "\033[31m" },
	[APPLY_ADD] = { "add", '+', "\033[32m" },
	[APPLY_START] = { "start", '+', "\033[32m" },
	[APPLY_CHANGE] = { "change", '~', "\033[33m" },
	[APPLY_RESTART] = { "restart", '!', "\033[35m" },
	[APPLY_REPLACE] = { "replace", '!', "\033[35m" },
	[APPLY_DELETE] = { "delete", '-', "\033[31m" },
};

/* A node that is down is started with its new settings. */
static enum apply_action shown_action(const struct apply_step *step)
{
	bool changes = step->action == APPLY_CHANGE || step->action == APPLY_RESTART;

	return changes && step->is_down ? APPLY_START : step->action;
}

static bool is_shown(const struct apply_step *step, bool prune)
{
	return step->action != APPLY_DELETE || prune;
}

/* "is restarted: memory 1g -> 2g"; the caller frees it. */
static char *words_of(const struct apply_step *step)
{
	enum apply_action action = shown_action(step);
	cleanup_free char *changes = apply_step_changes(step);
	const char *colon = *changes ? ": " : "";

	if (action == APPLY_START && step->change_count == 0 && step->need)
		return xstrdup(step->need);
	if (action == APPLY_RESTART && step->change_count == 0)
		return xstrdup("is restarted: its settings changed since its last start");
	if (action == APPLY_DELETE)
		return xstrdup("is deleted with all its data: it is not in the file");
	return xasprintf("%s%s%s", apply_action_words(action), colon, changes);
}

static const char *name_of(const struct apply_step *step)
{
	return step->node ? step->node : "cluster";
}

/* WIDTH is that of the longest name. */
static void print_step(const struct apply_step *step, unsigned width)
{
	cleanup_free char *words = words_of(step);
	enum apply_action action = shown_action(step);
	bool colour = text_has_colour(STDOUT_FILENO);

	if (events_on_stdout()) {
		cleanup_free char *line = xasprintf("%s %s", name_of(step), words);

		events_info(line);
		return;
	}
	printf("  %s%c%s %-*s  %s\n", colour ? looks[action].colour : "", looks[action].sign,
	       colour ? "\033[0m" : "", (int)width, name_of(step), words);
}

void apply_print_plan(const char *name, const struct apply_plan *plan, bool prune)
{
	unsigned width = 0;

	for (size_t i = 0; i < plan->count; i++)
		if (is_shown(&plan->steps[i], prune))
			width = MAX(width, text_width(name_of(&plan->steps[i])));
	if (!events_on_stdout())
		printf("Cluster \"%s\":\n", name);
	for (size_t i = 0; i < plan->count; i++)
		if (is_shown(&plan->steps[i], prune))
			print_step(&plan->steps[i], width);
	(void)fflush(stdout);
}

static json_t *change_to_json(const struct apply_change *change)
{
	if (change->after)
		return json_pack("{s:s, s:s?, s:s}", "field", change->field, "before",
				 change->before, "after", change->after);
	return json_pack("{s:s, s:o, s:o}", "field", change->field, "gained",
			 words_to_json(&change->gained), "lost", words_to_json(&change->lost));
}

static json_t *step_to_json(const struct apply_step *step, bool prune)
{
	json_t *changes = json_array();

	for (size_t i = 0; i < step->change_count; i++)
		(void)json_array_append_new(changes, change_to_json(&step->changes[i]));
	return json_pack("{s:s, s:s?, s:b, s:b, s:o}", "action", looks[shown_action(step)].word,
			 "node", step->node, "disturbs", apply_step_disturbs(step), "leftOut",
			 !is_shown(step, prune), "changes", changes);
}

void apply_print_json(const char *name, const char *source, bool exists,
		      const struct apply_plan *plan, bool prune)
{
	json_auto_t *root = NULL;
	cleanup_free char *text = NULL;
	json_t *steps = json_array();

	for (size_t i = 0; i < plan->count; i++)
		(void)json_array_append_new(steps, step_to_json(&plan->steps[i], prune));
	root = json_pack("{s:s, s:s, s:b, s:o}", "cluster", name, "file", source, "exists", exists,
			 "steps", steps);
	text = json_dumps(root, JSON_INDENT(2));
	printf("%s\n", text);
}

char *apply_disturbed(const struct apply_plan *plan, bool prune)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	for (size_t i = 0; i < plan->count; i++)
		if (is_shown(&plan->steps[i], prune) && apply_step_disturbs(&plan->steps[i]))
			strlist_add(&names, plan->steps[i].node ?: "all nodes");
	return names.count > 0 ? strlist_join(&names, ", ") : NULL;
}
