/* Settings as options of commands. */

#include "cmd/setting-options.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "record/options.h"

static bool is_marker(const struct opt *opt)
{
	return opt->type == OPT_TYPE_SETTINGS || opt->type == OPT_TYPE_NODE_SETTINGS ||
	       opt->type == OPT_TYPE_NODE_CHANGES;
}

/* Whether MARKER stands for SETTING. */
static bool is_meant(const struct setting *setting, const struct opt *marker)
{
	if (!setting->option)
		return false;
	if (marker->type == OPT_TYPE_SETTINGS)
		return setting_is_of_cluster(setting);
	return setting_is_of_node(setting) &&
	       (marker->type == OPT_TYPE_NODE_SETTINGS || setting->set_help);
}

static enum opt_type type_of(const struct setting *setting)
{
	switch (setting->type) {
	case SETTING_FLAG:
		return OPT_TYPE_FLAG;
	case SETTING_CHOICE:
		return OPT_TYPE_CHOICE;
	case SETTING_NUMBER:
		return OPT_TYPE_POSITIVE;
	case SETTING_SIZE:
		return OPT_TYPE_SIZE;
	case SETTING_SECONDS:
		return OPT_TYPE_SECONDS;
	default:
		if (!setting_is_list(setting))
			return OPT_TYPE_STRING;
		return setting->splits ? OPT_TYPE_WORDS : OPT_TYPE_LIST;
	}
}

/* What the words of SETTING, a list, have in front of '=', in capitals. */
static const char *key_of(const struct setting *setting)
{
	if (setting->type == SETTING_MIRRORS)
		return "REGISTRY";
	if (setting->type != SETTING_PAIRS && !setting->change)
		return setting->operand;
	return strncmp(setting->operand, "NAME", 4) == 0 ? "NAME" : "KEY";
}

static const char *operand_of(const struct setting *setting, bool changes)
{
	switch (setting->type) {
	case SETTING_FLAG:
		return NULL;
	case SETTING_CHOICE:
		return setting->words;
	case SETTING_NUMBER:
		return "N";
	case SETTING_SIZE:
		return "SIZE";
	case SETTING_SECONDS:
		return "DURATION";
	case SETTING_VERSION:
		return "VERSION";
	default:
		return changes ? xasprintf("%s|%s-", setting->operand, key_of(setting))
			       : setting->operand;
	}
}

static enum complete completion_of(const struct setting *setting)
{
	if (setting->type == SETTING_PATH || setting->type == SETTING_PATHS)
		return COMPLETE_FILE;
	if (setting->type == SETTING_VERSION)
		return COMPLETE_VERSION;
	/* Words, with placeholders in capitals. */
	if (setting->type == SETTING_WORD && strchr(setting->operand, '|'))
		return COMPLETE_CHOICE;
	return COMPLETE_NONE;
}

static struct opt make_option(const struct setting *setting, const struct opt *marker)
{
	bool changes = marker->type == OPT_TYPE_NODE_CHANGES;
	struct opt opt = {
		.type = type_of(setting),
		.letter = setting->letter,
		.name = setting->option,
		.operand = operand_of(setting, changes),
		.may_be_all = setting->may_be_all,
		.secret = setting->secret,
		.complete = completion_of(setting),
		.once = true,
	};

	if (marker->type == OPT_TYPE_SETTINGS) {
		struct cluster_options *to = marker->to.cluster;

		opt.help = setting->start_help;
		opt.to.any = setting_in_cluster(setting, &to->settings);
		if (setting->type == SETTING_FLAG)
			opt.given = setting_in_flags(setting, &to->given);
		opt.beyond_user = setting->beyond_user;
		opt.once = setting->config == SETTING_CONFIG_NONE;
		opt.when_made = setting->config == SETTING_CONFIG_NEW;
	} else {
		opt.help = changes ? setting->set_help : setting->node_help;
		opt.to.any = setting_in_node(setting, marker->to.node);
	}
	if (!changes) {
		opt.check = setting->check_option;
		opt.instead = setting->instead;
	}
	if (!opt.help)
		opt.help = setting->help;
	return opt;
}

struct expansion {
	struct opt *options;
	size_t count;
};

static void add(struct expansion *expansion, struct opt opt)
{
	expansion->options = xrealloc(expansion->options, expansion->count + 1, sizeof(opt));
	expansion->options[expansion->count++] = opt;
}

/* Add the settings that MARKER names, in its order. */
static void add_named(struct expansion *expansion, const struct opt *marker)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const struct setting *setting;
	const char *name;

	strlist_split(&names, marker->operand, ' ');
	strlist_for_each(name, &names)
		setting_for_each(setting)
			if (is_meant(setting, marker) && strcmp(setting->option, name) == 0)
				add(expansion, make_option(setting, marker));
}

/* Whether TABLE has SETTING elsewhere than in MARKER, which names no settings. */
static bool is_elsewhere(const struct setting *setting, const struct opt *table)
{
	for (const struct opt *opt = table; opt->type != OPT_TYPE_END; opt++) {
		cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
		const char *words = is_marker(opt) ? opt->operand : opt->name;

		if (words)
			strlist_split(&names, words, ' ');
		if (strlist_has(&names, setting->option))
			return true;
	}
	return false;
}

static void add_others(struct expansion *expansion, const struct opt *marker,
		       const struct opt *table)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (is_meant(setting, marker) && !is_elsewhere(setting, table))
			add(expansion, make_option(setting, marker));
}

static const struct opt *expand(const struct opt *table)
{
	struct expansion expansion = { NULL };

	for (const struct opt *opt = table; opt->type != OPT_TYPE_END; opt++) {
		if (!is_marker(opt))
			add(&expansion, *opt);
		else if (opt->operand)
			add_named(&expansion, opt);
		else
			add_others(&expansion, opt, table);
	}
	add(&expansion, (struct opt)OPT_END);
	return expansion.options;
}

const struct opt *setting_options(const struct opt *table)
{
	static struct {
		const struct opt *table;
		const struct opt *expanded;
	} * known;
	static size_t count;
	const struct opt *opt = table;

	while (opt && opt->type != OPT_TYPE_END && !is_marker(opt))
		opt++;
	if (!opt || opt->type == OPT_TYPE_END)
		return table;
	for (size_t i = 0; i < count; i++)
		if (known[i].table == table)
			return known[i].expanded;
	known = xrealloc(known, count + 1, sizeof(*known));
	known[count].table = table;
	known[count].expanded = expand(table);
	return known[count++].expanded;
}
