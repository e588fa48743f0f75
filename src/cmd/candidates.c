/* Completion candidates for the word being typed. */

#include "cmd/candidates.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cmd/defaults.h"
#include "cmd/typed.h"
#include "describe/file-fields.h"
#include "payload/payload.h"

struct search {
	struct typed typed;
	const char *word; /* the word being typed */
	struct strlist *found;
};

static void offer(struct search *search, const char *before, const char *candidate,
		  const char *description)
{
	cleanup_free char *whole = xasprintf("%s%s", before, candidate ?: "");

	if (!candidate || strncmp(whole, search->word, strlen(search->word)) != 0)
		return;
	if (description)
		strlist_addf(search->found, "%s\t%s", whole, description);
	else
		strlist_add(search->found, whole);
}

static void offer_words(struct search *search, const char *before, const char *text)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	const char *word;

	strlist_split(&words, text, '|');
	strlist_for_each(word, &words)
		if (*word >= 'a') /* words in capitals stand for values */
			offer(search, before, word, NULL);
}

static void offer_profiles(struct search *search, const char *before)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	if (profile_list(&names, NULL) == 0)
		strlist_for_each(name, &names)
			offer(search, before, name, "cluster");
}

static void offer_nodes(struct search *search, const char *before, const char *end)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct node *node;

	if (profile_load(search->typed.profile_name, &profile, NULL) < 0)
		return;
	profile_for_each_node(node, &profile) {
		cleanup_free char *name = xasprintf("%s%s", node->name, end);

		if (node->control_plane && search->typed.command->flags & COMMAND_WORKERS)
			continue;
		offer(search, before, name, node->control_plane ? "control plane" : "worker");
	}
}

static void offer_versions(struct search *search, const char *before)
{
	for (const char *const *version = payload_versions(); *version; version++)
		offer(search, before, *version, "Kubernetes");
}

static void offer_commands(struct search *search, const struct command *const *list)
{
	for (; list && *list; list++)
		if (!((*list)->flags & COMMAND_HIDDEN)) {
			offer(search, "", (*list)->name, (*list)->summary);
			offer_words(search, "", (*list)->alias ?: "");
		}
}

/* The commands that may follow the operands of `help`. */
static void offer_command_words(struct search *search)
{
	const struct command *const *list = search->typed.list;
	const char *word;

	strlist_for_each(word, &search->typed.operands) {
		const struct command *command = typed_find(list, word);

		list = command ? command->subcommands : NULL;
	}
	offer_commands(search, list);
}

static void offer_value(struct search *search, const char *before, const struct opt *opt);

/* A key, or a value for the key that was named. */
static void offer_setting(struct search *search)
{
	const struct opt *tables[3];
	const char *key = search->typed.operands.count > 0 ? search->typed.operands.items[0] : NULL;
	const struct opt *opt;

	defaults_tables(search->typed.list, tables);
	if (key) {
		opt = opt_find(tables, key, strlen(key));
		if (opt)
			offer_value(search, "", opt);
		return;
	}
	for (const struct opt *const *table = tables; *table; table++)
		for (opt = *table; opt->type != OPT_TYPE_END; opt++)
			if (!opt->once)
				offer(search, "", opt->name, opt->help);
}

static void offer_fields(struct search *search)
{
	const struct setting *field;

	setting_for_each(field)
		if (field->places & SETTING_OF_CLUSTER)
			offer(search, "", field->name, field->help);
	setting_for_each(field)
		if (field->places & SETTING_OF_NODE)
			offer(search, "nodes.", field->name, field->help);
}

static void offer_kind(struct search *search, const char *before, enum complete kind)
{
	switch (kind) {
	case COMPLETE_NONE:
	case COMPLETE_CHOICE:
		break;
	case COMPLETE_FILE:
		strlist_add(search->found, CANDIDATES_FILES);
		break;
	case COMPLETE_PROFILE:
		offer_profiles(search, before);
		break;
	case COMPLETE_NODE:
		offer_nodes(search, before, "");
		break;
	case COMPLETE_NODE_FILE:
		/* Files on a node are not completed. */
		if (strchr(search->word, ':'))
			break;
		offer_nodes(search, before, ":");
		strlist_add(search->found, CANDIDATES_FILES);
		break;
	case COMPLETE_COMMAND:
		offer_command_words(search);
		break;
	case COMPLETE_VERSION:
		offer_versions(search, before);
		break;
	case COMPLETE_SETTING:
		offer_setting(search);
		break;
	case COMPLETE_FIELD:
		offer_fields(search);
		break;
	}
}

/* BEFORE is the part of the word before the value: "--profile=". */
static void offer_value(struct search *search, const char *before, const struct opt *opt)
{
	if (opt->type == OPT_TYPE_CHOICE || opt->complete == COMPLETE_CHOICE)
		offer_words(search, before, opt->operand);
	else if (opt->type == OPT_TYPE_FLAG)
		offer_words(search, before, "true|false");
	else
		offer_kind(search, before, opt->complete);
}

static void offer_options(struct search *search)
{
	for (const struct opt *const *table = search->typed.tables; *table; table++) {
		for (const struct opt *opt = *table; opt->type != OPT_TYPE_END; opt++) {
			offer(search, "--", opt->name, opt->help);
			if (opt->type == OPT_TYPE_FLAG && strncmp(search->word, "--no-", 5) == 0)
				offer(search, "--no-", opt->name, opt->help);
		}
	}
}

static void offer_operands(struct search *search)
{
	const struct command *command = search->typed.command;
	size_t count = search->typed.operands.count;

	if (count == 0)
		offer_commands(search, search->typed.next);
	if (!command ||
	    (command->flags & COMMAND_PASSES_REST ? count > 0 || search->typed.no_options
						  : count >= command->max_operands))
		return;
	if (command->words && count == 0)
		offer_words(search, "", command->words);
	offer_kind(search, "", command->complete);
}

static void offer_all(struct search *search)
{
	const char *word = search->word;
	bool passes = search->typed.command && search->typed.command->flags & COMMAND_PASSES_REST &&
		      search->typed.operands.count > 0;
	cleanup_free char *before = NULL;
	const struct opt *opt;
	const char *value;

	if (search->typed.pending) {
		offer_value(search, "", search->typed.pending);
		return;
	}
	if (word[0] != '-' || search->typed.no_options || passes) {
		offer_operands(search);
		return;
	}
	opt = typed_option(&search->typed, word, &value);
	if (opt && value) {
		before = xstrndup(word, (size_t)(value - word));
		offer_value(search, before, opt);
		return;
	}
	offer_options(search);
}

void candidates_find(const struct command *const *list, const char *profile_name, char **words,
		     struct strlist *ret)
{
	struct search search = {
		.typed = { .list = list,
			   .next = list,
			   .tables = { command_global_options },
			   .profile_name = profile_name },
		.found = ret,
	};

	for (; *words && words[1]; words++)
		typed_read(&search.typed, *words);
	search.word = *words ? *words : "";
	offer_all(&search);
	strlist_release(&search.typed.operands);
}
