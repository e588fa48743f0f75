/* Table-driven command line options. */

#include "cli/opt.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/suggest.h"

/* One run over the arguments. */
struct parser {
	const struct opt *const *tables;
	char **argv;           /* what is still to be read */
	struct strlist begun;  /* names of the lists that were cleared */
	struct strlist *given; /* names of the options that were read */
};

static bool is_flag(const struct opt *opt)
{
	return opt->type == OPT_TYPE_FLAG || opt->type == OPT_TYPE_HELP;
}

static bool is_list(const struct opt *opt)
{
	return opt->type == OPT_TYPE_LIST || opt->type == OPT_TYPE_WORDS;
}

bool opt_takes_value(const struct opt *opt)
{
	if (opt->type == OPT_TYPE_ABSENT)
		return opt->operand != NULL;
	return !is_flag(opt) && opt->type != OPT_TYPE_REPEAT && opt->type != OPT_TYPE_SECONDS_MAYBE;
}

static void note_given(const struct opt *opt)
{
	if (opt->given)
		*opt->given = true;
}

static int set_flag(const struct opt *opt, const char *value, struct error *err)
{
	static const char *const yes[] = { "true", "1", "yes", "on" };
	static const char *const no[] = { "false", "0", "no", "off" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (strcasecmp(value, yes[i]) == 0 || strcasecmp(value, no[i]) == 0) {
			*opt->to.flag = strcasecmp(value, yes[i]) == 0;
			return 0;
		}
	}
	return error_set(err, -EINVAL, "'%s' is neither true nor false", value);
}

static int set_choice(const struct opt *opt, const char *value, struct error *err)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_free char *shown = NULL;

	strlist_split(&words, opt->operand, '|');
	if (strlist_has(&words, value)) {
		*opt->to.string = value;
		return 0;
	}
	shown = strlist_join(&words, ", ");
	return error_set(err, -EINVAL, "must be one of %s, not '%s'", shown, value);
}

static int set_number(const struct opt *opt, const char *value, struct error *err)
{
	unsigned long long number;
	int r;

	if (opt->may_be_all && parse_is_all(value)) {
		*opt->to.count = UINT_MAX;
		return 0;
	}
	r = parse_number(value, opt->type == OPT_TYPE_POSITIVE,
			 opt->type == OPT_TYPE_REPEAT ? 9 : INT_MAX, &number, err);
	if (r < 0)
		return r;
	if (opt->type == OPT_TYPE_REPEAT)
		*opt->to.repeat = (int)number;
	else
		*opt->to.count = (unsigned)number;
	return 0;
}

static int set_size(const struct opt *opt, const char *value, struct error *err)
{
	if (opt->may_be_all && parse_is_all(value)) {
		*opt->to.bytes = UINT64_MAX;
		return 0;
	}
	return parse_size(value, opt->to.bytes, err);
}

/* Add the items of VALUE to OPT's list. */
static int add_items(const struct opt *opt, const char *value, bool split, struct error *err)
{
	cleanup_with(strlist_release) struct strlist items = STRLIST_INIT;
	const char *item;
	int r;

	if (split)
		strlist_split(&items, value, ',');
	else
		strlist_add(&items, value);
	strlist_for_each(item, &items) {
		r = opt->check ? opt->check(item, err) : 0;
		if (r < 0)
			return r;
		strlist_add(opt->to.list, item);
	}
	return 0;
}

static int set_string(const struct opt *opt, const char *value, struct error *err)
{
	int r = opt->check ? opt->check(value, err) : 0;

	if (r == 0)
		*opt->to.string = value;
	return r;
}

static bool is_harmless(const struct opt *opt, const char *value)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;

	if (opt->harmless)
		strlist_split(&words, opt->harmless, '|');
	return !*value || strlist_has(&words, "*") || strlist_has(&words, value);
}

/* Refuse OPT, which does not exist here, unless it would make no difference. */
static int refuse_absent(const struct opt *opt, const char *value, struct error *err)
{
	if (is_harmless(opt, value))
		return 0;
	(void)error_because(err, &reason_usage, -EINVAL, "unknown option '--%s%s%s'", opt->name,
			    opt->operand ? "=" : "", opt->operand ? value : "");
	return error_hint(err, -EINVAL, "%s", opt->help);
}

static int set_value(const struct opt *opt, const char *value, struct error *err)
{
	note_given(opt);
	switch (opt->type) {
	case OPT_TYPE_HELP:
	case OPT_TYPE_FLAG:
		return set_flag(opt, value, err);
	case OPT_TYPE_STRING:
		return set_string(opt, value, err);
	case OPT_TYPE_CHOICE:
		return set_choice(opt, value, err);
	case OPT_TYPE_REPEAT:
	case OPT_TYPE_COUNT:
	case OPT_TYPE_POSITIVE:
		return set_number(opt, value, err);
	case OPT_TYPE_SIZE:
		return set_size(opt, value, err);
	case OPT_TYPE_SECONDS:
	case OPT_TYPE_SECONDS_MAYBE:
		return parse_seconds(value, opt->to.seconds, err);
	case OPT_TYPE_LIST:
	case OPT_TYPE_WORDS:
		return add_items(opt, value, opt->type == OPT_TYPE_WORDS, err);
	case OPT_TYPE_ABSENT:
	case OPT_TYPE_SETTINGS:
	case OPT_TYPE_NODE_SETTINGS:
	case OPT_TYPE_NODE_CHANGES:
	case OPT_TYPE_END:
		break;
	}
	return 0;
}

/* WHERE is the variable's name, or the option as given. */
static int wrong_value(struct error *err, const char *where)
{
	error_prefix(err, -EINVAL, "%s", where);
	return error_reason(err, -EINVAL, &reason_usage);
}

int opt_set(const struct opt *opt, const char *value, struct error *err)
{
	if (!is_list(opt))
		return set_value(opt, value, err);
	note_given(opt);
	strlist_release(opt->to.list);
	return add_items(opt, value, true, err);
}

/* --node-name is MANYKUBE_NODE_NAME. */
char *opt_variable(const struct opt *opt)
{
	char *name = xasprintf("MANYKUBE_%s", opt->name);

	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
	return name;
}

int opt_take_environment(const struct opt *table, bool is_made, struct strlist *given,
			 struct error *err)
{
	for (const struct opt *opt = table; opt && opt->type != OPT_TYPE_END; opt++) {
		cleanup_free char *name = opt_variable(opt);
		const char *value = getenv(name);

		if (!value || !*value || opt->type == OPT_TYPE_HELP ||
		    (is_made && opt->when_made) || strlist_has(given, opt->name))
			continue;
		if (opt_set(opt, value, err) < 0) {
			(void)wrong_value(err, name);
			return error_hint(err, -EINVAL, "correct or unset the variable: unset %s",
					  name);
		}
		strlist_add(given, opt->name);
	}
	return 0;
}

int opt_take_settings(const struct opt *table, opt_lookup_fn lookup, const void *data,
		      const struct strlist *given, struct error *err)
{
	for (const struct opt *opt = table; opt && opt->type != OPT_TYPE_END; opt++) {
		const char *value = NULL;

		if (!opt->once && !strlist_has(given, opt->name))
			value = lookup(opt, data);
		if (!value || !*value || opt_set(opt, value, err) == 0)
			continue;
		error_prefix(err, -EINVAL, "%s", opt->name);
		return error_reason(err, -EINVAL, &reason_host_config);
	}
	return 0;
}

const struct opt *opt_find(const struct opt *const *tables, const char *name, size_t len)
{
	for (const struct opt *const *table = tables; *table; table++)
		for (const struct opt *opt = *table; opt->type != OPT_TYPE_END; opt++)
			if (strlen(opt->name) == len && memcmp(opt->name, name, len) == 0)
				return opt;
	return NULL;
}

const struct opt *opt_find_letter(const struct opt *const *tables, char letter)
{
	for (const struct opt *const *table = tables; *table; table++)
		for (const struct opt *opt = *table; opt->type != OPT_TYPE_END; opt++)
			if (opt->letter == letter)
				return opt;
	return NULL;
}

static int unknown_name(const struct parser *parser, const char *name, size_t len,
			struct error *err)
{
	cleanup_free char *word = xstrndup(name, len);
	struct suggest suggest = SUGGEST_INIT(word);

	for (const struct opt *const *table = parser->tables; *table; table++)
		for (const struct opt *opt = *table; opt->type != OPT_TYPE_END; opt++)
			if (opt->type != OPT_TYPE_ABSENT)
				suggest_offer(&suggest, opt->name);
	if (suggest.nearest)
		return error_because(err, &reason_usage, -EINVAL,
				     "unknown option '--%s'; did you mean '--%s'?", word,
				     suggest.nearest);
	return error_because(err, &reason_usage, -EINVAL, "unknown option '--%s'", word);
}

/* Set OPT, given as WRITTEN, to VALUE. */
static int take_value(struct parser *parser, const struct opt *opt, const char *written,
		      const char *value, struct error *err)
{
	strlist_add(parser->given, opt->name);
	if (opt->type == OPT_TYPE_ABSENT)
		return refuse_absent(opt, value, err);
	/* The first item on the command line replaces the default list. */
	if (is_list(opt) && !strlist_has(&parser->begun, opt->name)) {
		strlist_release(opt->to.list);
		strlist_add(&parser->begun, opt->name);
	}
	if (set_value(opt, value, err) == 0)
		return 0;
	if (opt->instead)
		(void)error_hint(err, -EINVAL, "%s", opt->instead);
	return wrong_value(err, written);
}

/* -v 5 is -vvvvv, as klog has it. */
static bool is_digit(const char *text)
{
	return text && isdigit((unsigned char)text[0]) && !text[1];
}

/* Set OPT, which was given without a value: it takes none, or the next argument is the value. */
static int take_next(struct parser *parser, const struct opt *opt, const char *written,
		     struct error *err)
{
	if (opt->type == OPT_TYPE_REPEAT && is_digit(*parser->argv))
		return take_value(parser, opt, written, *parser->argv++, err);
	if (opt->type == OPT_TYPE_REPEAT) {
		note_given(opt);
		strlist_add(parser->given, opt->name);
		++*opt->to.repeat;
		return 0;
	}
	if (opt->type == OPT_TYPE_SECONDS_MAYBE)
		return take_value(parser, opt, written, opt->bare ? opt->bare : "1s", err);
	if (!opt_takes_value(opt))
		return take_value(parser, opt, written, "true", err);
	if (!*parser->argv)
		return error_because(err, &reason_usage, -EINVAL, "'%s' needs a value (%s)",
				     written, opt->operand);
	return take_value(parser, opt, written, *parser->argv++, err);
}

/* ARGUMENT is --name, --name=value or --no-name. */
static int parse_long(struct parser *parser, const char *argument, struct error *err)
{
	const char *name = argument + 2;
	const char *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	cleanup_free char *written = xasprintf("--%.*s", (int)len, name);
	const struct opt *opt = opt_find(parser->tables, name, len);

	if (!opt && !equals && strncmp(name, "no-", 3) == 0) {
		opt = opt_find(parser->tables, name + 3, len - 3);
		if (opt && opt->type == OPT_TYPE_FLAG)
			return take_value(parser, opt, written, "false", err);
		opt = NULL;
	}
	if (!opt)
		return unknown_name(parser, name, len, err);
	if (equals)
		return take_value(parser, opt, written, equals + 1, err);
	return take_next(parser, opt, written, err);
}

/* ARGUMENT is -f, -fg, -n, -nvalue or -n=value. */
static int parse_letters(struct parser *parser, const char *argument, struct error *err)
{
	int r;

	for (const char *p = argument + 1; *p;) {
		const struct opt *opt = opt_find_letter(parser->tables, *p);
		char written[] = { '-', *p, '\0' };

		if (!opt)
			return error_because(err, &reason_usage, -EINVAL,
					     argument[2] ? "unknown option '-%c' (in '%s')"
							 : "unknown option '-%c'",
					     *p, argument);
		p++;
		if (*p == '=')
			return take_value(parser, opt, written, p + 1, err);
		if (*p && (opt->type == OPT_TYPE_REPEAT || opt->type == OPT_TYPE_SECONDS_MAYBE
				   ? isdigit((unsigned char)*p)
				   : opt_takes_value(opt)))
			return take_value(parser, opt, written, p, err);
		r = take_next(parser, opt, written, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int parse_all(struct parser *parser, enum opt_flags flags, struct strlist *operands,
		     struct error *err)
{
	int r;

	while (*parser->argv) {
		const char *argument = *parser->argv++;

		if (strcmp(argument, "--") == 0) {
			if (flags & OPT_KEEP_DASHES)
				strlist_add(operands, argument);
			strlist_add_all(operands, parser->argv);
			return 0;
		}
		if (argument[0] != '-' || !argument[1]) {
			strlist_add(operands, argument);
			if (flags & OPT_STOP_AT_OPERAND) {
				strlist_add_all(operands, parser->argv);
				return 0;
			}
			continue;
		}
		if (argument[1] == '-')
			r = parse_long(parser, argument, err);
		else
			r = parse_letters(parser, argument, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int opt_parse(const struct opt *const *tables, enum opt_flags flags, char **argv,
	      struct strlist *operands, struct strlist *given, struct error *err)
{
	struct parser parser = {
		.tables = tables, .argv = argv, .begun = STRLIST_INIT, .given = given
	};
	int r = parse_all(&parser, flags, operands, err);

	strlist_release(&parser.begun);
	return r;
}
