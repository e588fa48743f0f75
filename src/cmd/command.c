/* Parse a command line and run the command. */

#include "cmd/command.h"

#include <string.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cmd/defaults.h"
#include "cmd/prepare.h"
#include "cmd/tables.h"
#include "cmd/values.h"

static struct {
	const char *profile_name;
	int verbosity;
	bool quiet;
	bool skip_audit;
	const char *user;
	bool help;
} global = {
	.profile_name = PROFILE_DEFAULT_NAME,
};

const struct opt command_global_options[] = {
	OPT_STRING('p', "profile", &global.profile_name, "NAME", "the cluster to work on",
		   .check = profile_check_name, .complete = COMPLETE_PROFILE),
	OPT_REPEAT('v', "verbose", &global.verbosity,
		   "be verbose: -v shows each node's steps and times, -vv each action",
		   .once = true),
	OPT_FLAG('q', "quiet", &global.quiet, "show no progress", .once = true),
	OPT_STRING(0, "user", &global.user, "NAME", "user name in the audit log (default: you)",
		   .once = true),
	OPT_FLAG(0, "skip-audit", &global.skip_audit, "do not record this command in the audit log",
		 .once = true),
	OPT_HELP(&global.help),
	OPT_END,
};

/* Our only options before another program's options, which has a -v of its own. */
static const struct opt before_foreign_options[] = {
	OPT_STRING('p', "profile", &global.profile_name, "NAME", "the cluster to work on",
		   .check = profile_check_name),
	OPT_HELP(&global.help),
	OPT_END,
};

/* The options given in the environment and on the command line. */
static struct strlist given;

/* The file given to the command; option values point into it. */
static struct values_file given_file;

/* Hints name the cluster by themselves; add it to the advice of ERR's reason, too. */
static void name_profile(struct error *err, int code)
{
	const char *advice = error_advice(err);

	if (advice && !err->hint && defaults_must_name(global.profile_name))
		(void)error_hint(err, code, "%s", advice);
}

/* Find the profile in a command line that could not be parsed. */
static void find_profile(char **argv)
{
	const struct opt *const tables[] = { before_foreign_options, NULL };

	for (; *argv; argv++) {
		cleanup_with(strlist_release) struct strlist rest = STRLIST_INIT;

		(void)opt_parse(tables, OPT_STOP_AT_OPERAND, argv, &rest, &given, NULL);
	}
}

/* ARGV, or the command's name before it, is wrong: complete the advice of ERR. */
static int refuse_words(char **argv, const char *path, int code, struct error *err)
{
	cleanup_free char *hint = err->hint ? xstrdup(err->hint) : NULL;

	if (!hint)
		return error_hint(err, code, "see '%s --help'", path);
	find_profile(argv);
	if (strlist_has(&given, "profile") && defaults_must_name(global.profile_name))
		advice_use_profile(global.profile_name);
	return error_hint(err, code, "%s", hint);
}

/* Run COMMAND, whose full name is PATH, with OPERANDS. */
static int run_with(const struct command *command, const char *path, struct strlist *operands,
		    struct record *record, struct error *err)
{
	struct command_context ctx = { .command = command,
				       .profile_name = global.profile_name,
				       .profile_given = strlist_has(&given, "profile"),
				       .file = given_file.was_read ? &given_file.file : NULL,
				       .overridden = given_file.overridden,
				       .quiet = global.quiet,
				       .argc = (int)operands->count,
				       .argv = operands->items ? operands->items
							       : (char *[]){ NULL } };

	if (command->flags & COMMAND_PASSES_REST && ctx.argc > 0 && strcmp(*ctx.argv, "--") == 0) {
		ctx.after_dashes = true;
		ctx.argc--;
		ctx.argv++;
	}
	return command_run_prepared(&ctx, path, record, err);
}

static int run_command(const struct command *command, const char *parent, char **argv,
		       struct error *err);
static int run_itself(const struct command *command, const char *path, char **argv,
		      struct error *err);

/* COMMAND has subcommands; a word that is none of them is an operand of COMMAND, if it takes
 * any. */
static int run_subcommand(const struct command *command, const char *path, char **argv,
			  struct error *err)
{
	cleanup_with(strlist_release) struct strlist rest = STRLIST_INIT;
	const struct command *subcommand;
	int r;

	r = opt_parse(tables_before_command, OPT_STOP_AT_OPERAND, argv, &rest, &given, err);
	/* COMMAND's own options may stand before its operand: `service --url web`. */
	if (r < 0 && command->run) {
		error_clear(err);
		global.verbosity = 0;
		return run_itself(command, path, argv, err);
	}
	if (r < 0)
		return refuse_words(argv, path, r, err);
	if (global.help && rest.count == 0) {
		(void)opt_take_environment(command_global_options, false, &given, NULL);
		command_print_help(command, path, stdout);
		return 0;
	}
	/* `node help` and `node help list`. */
	if (rest.count > 0 && strcmp(rest.items[0], "help") == 0) {
		global.help = true;
		return run_subcommand(command, path, rest.items + 1, err);
	}
	if (command->run && (rest.count == 0 || command_find(command->subcommands, path,
							     rest.items[0], &subcommand, NULL) < 0))
		return run_itself(command, path, rest.items ? rest.items : (char *[]){ NULL }, err);
	if (rest.count == 0) {
		command_print_help(command, path, stderr);
		return reason_usage.exit_status;
	}
	r = command_find(command->subcommands, path, rest.items[0], &subcommand, err);
	if (r < 0)
		return refuse_words(rest.items + 1, path, r, err);
	return run_command(subcommand, path, rest.items + 1, err);
}

static int run_itself(const struct command *command, const char *path, char **argv,
		      struct error *err)
{
	static const struct opt *const few_tables[] = { before_foreign_options, NULL };
	const struct opt *tables[TABLES_MOST + 1];
	cleanup_with(strlist_release) struct strlist operands = STRLIST_INIT;
	enum opt_flags flags = command->flags & COMMAND_PASSES_REST
				       ? OPT_STOP_AT_OPERAND | OPT_KEEP_DASHES
				       : 0;
	struct record record = RECORD_INIT;
	int from_elsewhere;
	int r;

	tables_list(command, tables);
	r = opt_parse(command->flags & COMMAND_FOREIGN_OPTIONS ? few_tables : tables, flags, argv,
		      &operands, &given, err);
	from_elsewhere = values_take(command, &given, &global.profile_name,
				     r < 0 || global.help ? NULL : &given_file, r < 0 ? NULL : err);
	events_begin(command->name, command->events && events_asked_for(*command->events, argv));
	if (r < 0 && !err->hint && command->flags & COMMAND_PASSES_REST)
		return error_hint(err, r,
				  "put -- before options that are not for manykube: '%s -- ...'",
				  path);
	if (r < 0)
		return refuse_words(argv, path, r, err);
	tables_warn_of_needless(command, &given);
	if (global.help) {
		error_clear(err);
		command_print_help(command, path, stdout);
		return 0;
	}
	if (from_elsewhere < 0)
		return from_elsewhere;
	log_verbosity = global.verbosity;
	r = command->flags & COMMAND_NO_SETTINGS ? 0 : defaults_check(err);
	if (r == 0)
		r = command_check_operands(command, path, &operands, err);
	if (r < 0)
		return r;
	advice_use_profile(defaults_must_name(global.profile_name) ? global.profile_name : NULL);
	record_begin(&record, command, path, argv, &operands, global.profile_name, global.user);
	record.audited &= !global.skip_audit;
	r = run_with(command, path, &operands, &record, err);
	if (r < 0) {
		defaults_explain(command_options(command), &given, r, err);
		name_profile(err, r);
	}
	record_end(&record, r, err);
	return r;
}

static int run_command(const struct command *command, const char *parent, char **argv,
		       struct error *err)
{
	cleanup_free char *path = xasprintf("%s %s", parent, command->name);

	if (command->subcommands)
		return run_subcommand(command, path, argv, err);
	return run_itself(command, path, argv, err);
}

int command_main(const struct command *const *list, char **argv, struct error *err)
{
	cleanup_with(strlist_release) struct strlist rest = STRLIST_INIT;
	const struct command *command;
	int r;

	strlist_release(&given);
	values_release_file(&given_file);
	defaults_load();
	if (*argv && strcmp(*argv, "--version") == 0)
		*argv = (char *)"version";
	r = opt_parse(tables_before_command, OPT_STOP_AT_OPERAND, argv, &rest, &given, err);
	if (r < 0)
		return refuse_words(argv, "manykube", r, err);
	if (rest.count == 0) {
		(void)opt_take_environment(command_global_options, false, &given, NULL);
		command_print_list(list, global.help ? stdout : stderr);
		return global.help ? 0 : reason_usage.exit_status;
	}
	r = command_find(list, "manykube", rest.items[0], &command, err);
	if (r < 0)
		return refuse_words(rest.items + 1, "manykube", r, err);
	return run_command(command, "manykube", rest.items + 1, err);
}
