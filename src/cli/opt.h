/*
 * Table-driven command line options.
 *
 * A command lists its options once, in a table that ends with OPT_END.  Parsing and
 * --help read that table.  Each kind of option writes through a pointer of its own type,
 * so naming a variable of the wrong type does not compile.  The variable's initial value is the
 * default. The user's settings override it, the environment's MANYKUBE_NAME (for --name) overrides
 * those, and the command line overrides all.
 *
 * Supported are --name=value, --name value, -n value, -nvalue, -n=value, several flags
 * after one '-', --no-name and --name=false for flags, and -- to end the options.
 */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

enum opt_type {
	OPT_TYPE_END,
	OPT_TYPE_HELP,
	OPT_TYPE_FLAG,
	OPT_TYPE_REPEAT,
	OPT_TYPE_STRING,
	OPT_TYPE_CHOICE,
	OPT_TYPE_COUNT,
	OPT_TYPE_POSITIVE,
	OPT_TYPE_SIZE,
	OPT_TYPE_SECONDS,
	OPT_TYPE_SECONDS_MAYBE,
	OPT_TYPE_LIST,
	OPT_TYPE_WORDS,
	OPT_TYPE_ABSENT,
	OPT_TYPE_SETTINGS, /* these three are replaced by cmd/setting-options.h */
	OPT_TYPE_NODE_SETTINGS,
	OPT_TYPE_NODE_CHANGES,
};

/* How a shell completes a value or an operand. */
enum complete {
	COMPLETE_NONE,
	COMPLETE_FILE,
	COMPLETE_PROFILE,
	COMPLETE_NODE,
	COMPLETE_NODE_FILE, /* FILE or NODE:FILE */
	COMPLETE_COMMAND,   /* the words of a command: node list */
	COMPLETE_VERSION,   /* of Kubernetes */
	COMPLETE_SETTING,   /* a key of `config`, followed by its value */
	COMPLETE_CHOICE,    /* a word of the operand all|none|PORT, capitals aside */
	COMPLETE_FIELD,     /* a field of a cluster file */
};

struct cluster_options;
struct node_settings;

struct opt {
	enum opt_type type;
	char letter; /* 0 if there is only the long name */
	const char *name;
	const char *operand; /* as shown in help; for a choice the words: "text|json" */
	const char *help;    /* lower case, no full stop */
	union {
		bool *flag;
		int *repeat;
		const char **string; /* points into argv or the environment */
		unsigned *count;
		uint64_t *bytes;
		unsigned *seconds;
		struct strlist *list;
		void *any; /* one of the above, as the type says */
		struct cluster_options *cluster;
		struct node_settings *node;
	} to;

	/* Rarely used members; named after the help: OPT_FLAG(..., "do it", .once = true). */
	bool when_made;   /* of new clusters: settings and variables do not change existing ones */
	bool may_be_all;  /* "max" is a value, too: the largest number */
	bool once;        /* its default cannot be a setting */
	bool secret;      /* NAME=VALUE; the value is never logged */
	const char *bare; /* of OPT_SECONDS_MAYBE: the value if none is given; NULL: "1s" */
	bool *given;      /* set to true when it is given, in any way and with any value */
	int (*check)(const char *value, struct error *err); /* checks a string */
	/* Whether VALUE, as a setting, lets root act beyond the user's rights; NULL: never. */
	bool (*beyond_user)(const char *value);
	enum complete complete;
	const char *instead;  /* advice for the error about an invalid value */
	const char *harmless; /* of OPT_ABSENT: the values that are accepted, "auto|none" */
};

/* clang-format off */
#define OPT_FLAG(letter_, name_, to_, help_, ...) \
	{ OPT_TYPE_FLAG, letter_, name_, NULL, help_, { .flag = to_ }, __VA_ARGS__ }
/* Counts how often the option is given. */
#define OPT_REPEAT(letter_, name_, to_, help_, ...) \
	{ OPT_TYPE_REPEAT, letter_, name_, NULL, help_, { .repeat = to_ }, __VA_ARGS__ }
#define OPT_STRING(letter_, name_, to_, operand_, help_, ...) \
	{ OPT_TYPE_STRING, letter_, name_, operand_, help_, { .string = to_ }, __VA_ARGS__ }
/* One of the words in WORDS_, as in "text|json". */
#define OPT_CHOICE(letter_, name_, to_, words_, help_, ...) \
	{ OPT_TYPE_CHOICE, letter_, name_, words_, help_, { .string = to_ }, __VA_ARGS__ }
#define OPT_COUNT(letter_, name_, to_, help_, ...) \
	{ OPT_TYPE_COUNT, letter_, name_, "N", help_, { .count = to_ }, __VA_ARGS__ }
/* A count of at least one; an initial value of 0 means no default. */
#define OPT_POSITIVE(letter_, name_, to_, help_, ...) \
	{ OPT_TYPE_POSITIVE, letter_, name_, "N", help_, { .count = to_ }, __VA_ARGS__ }
/* Bytes as parse_size() reads them: 2g, 512m; a bare number is MiB. */
#define OPT_SIZE(letter_, name_, to_, help_, ...) \
	{ OPT_TYPE_SIZE, letter_, name_, "SIZE", help_, { .bytes = to_ }, __VA_ARGS__ }
/* As parse_seconds() reads them: 90, 6m, 1m30s. */
#define OPT_SECONDS(letter_, name_, to_, help_, ...) \
	{ OPT_TYPE_SECONDS, letter_, name_, "DURATION", help_, { .seconds = to_ }, __VA_ARGS__ }
/* The same, but the duration is optional, --name or --name=5s, and defaults to .bare. */
#define OPT_SECONDS_MAYBE(letter_, name_, to_, help_, ...) \
	{ OPT_TYPE_SECONDS_MAYBE, letter_, name_, "DURATION", help_, { .seconds = to_ }, __VA_ARGS__ }
/* May be given several times; in the environment the items are separated by commas. */
#define OPT_LIST(letter_, name_, to_, operand_, help_, ...) \
	{ OPT_TYPE_LIST, letter_, name_, operand_, help_, { .list = to_ }, __VA_ARGS__ }
/* Like OPT_LIST, for items without commas: they separate items everywhere. */
#define OPT_WORDS(letter_, name_, to_, operand_, help_, ...) \
	{ OPT_TYPE_WORDS, letter_, name_, operand_, help_, { .list = to_ }, __VA_ARGS__ }
/*
 * An option of another program that does not exist here. It is refused, with INSTEAD_ as advice:
 * the substitute, or that there is none. With one of the values in .harmless, or an empty one, it
 * is accepted and has no effect. OPERAND_ is NULL if the value is optional; "true" stands for a
 * missing one.
 */
#define OPT_ABSENT(letter_, name_, operand_, instead_, ...) \
	{ OPT_TYPE_ABSENT, letter_, name_, operand_, instead_, { 0 }, .once = true, __VA_ARGS__ }
/* One that is accepted with any value, because it would change nothing here; WHY_ explains that. */
#define OPT_NEEDLESS(letter_, name_, operand_, why_) \
	OPT_ABSENT(letter_, name_, operand_, why_, .harmless = "*")
/*
 * The settings of clusters whose options are named in NAMES_, separated by blanks and in this order;
 * NULL: all others.  They are set in the struct cluster_options TO_.
 */
#define OPT_SETTINGS(to_, names_) \
	{ .type = OPT_TYPE_SETTINGS, .operand = names_, .to = { .cluster = to_ } }
/* The same for settings of a node, in a struct node_settings; and for those that can be changed on
 * an existing node. */
#define OPT_NODE_SETTINGS(to_, names_) \
	{ .type = OPT_TYPE_NODE_SETTINGS, .operand = names_, .to = { .node = to_ } }
#define OPT_NODE_CHANGES(to_, names_) \
	{ .type = OPT_TYPE_NODE_CHANGES, .operand = names_, .to = { .node = to_ } }
#define OPT_HELP(to_) \
	{ OPT_TYPE_HELP, 'h', "help", NULL, "show this help", { .flag = to_ }, .once = true }
#define OPT_END { .type = OPT_TYPE_END }
/* clang-format on */

enum opt_flags {
	OPT_STOP_AT_OPERAND = 1 << 0, /* everything after the first operand is an operand */
	OPT_KEEP_DASHES = 1 << 1,     /* the -- that ends the options becomes an operand, too */
};

/* Set the options in TABLE (may be NULL) that are not in GIVEN from the environment, and add their
 * names to GIVEN; -EINVAL with reason_usage. A wrong value that the command line overrides is not
 * an error.  IS_MADE: the cluster exists, and options of new clusters are skipped. */
int opt_take_environment(const struct opt *table, bool is_made, struct strlist *given,
			 struct error *err);

/* The value of OPT in the user's settings, or NULL; must outlive OPT. */
typedef const char *(*opt_lookup_fn)(const struct opt *opt, const void *data);

/* Set the options in TABLE (may be NULL) that are not in GIVEN from the values that LOOKUP finds;
 * -EINVAL with reason_host_config. */
int opt_take_settings(const struct opt *table, opt_lookup_fn lookup, const void *data,
		      const struct strlist *given, struct error *err);

/* Set OPT to VALUE, which must outlive it; -EINVAL if VALUE is invalid. */
int opt_set(const struct opt *opt, const char *value, struct error *err);

/*
 * Read the options in ARGV (ended by NULL, without the command's name) that TABLES (a list
 * ended by NULL) have, add their names to GIVEN and the rest to OPERANDS.  -EINVAL with
 * reason_usage for what is wrong, with the nearest option suggested for one that no table has;
 * advice is set only where the tables have some.
 */
int opt_parse(const struct opt *const *tables, enum opt_flags flags, char **argv,
	      struct strlist *operands, struct strlist *given, struct error *err);

/* The option of TABLES (a list ended by NULL) called by the first LEN characters of NAME, or NULL.
 */
const struct opt *opt_find(const struct opt *const *tables, const char *name, size_t len);
const struct opt *opt_find_letter(const struct opt *const *tables, char letter);

/* Whether OPT requires a value. */
bool opt_takes_value(const struct opt *opt);

/* The environment variable of OPT; the caller frees it. */
char *opt_variable(const struct opt *opt) must_check;

/* "-p, --profile=NAME"; the caller frees it. */
char *opt_heading(const struct opt *opt) must_check;

/* Add OPT's help with its default. */
void opt_describe(const struct opt *opt, struct strbuf *out);

/* Print TABLE's options with their help and defaults, aligned, in lines of at most COLUMNS. */
void opt_print_help(const struct opt *table, unsigned columns, FILE *out);
