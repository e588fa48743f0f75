/* What the log and the audit record about a command. */

#include "cmd/record.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/path.h"

/* Add WORD, NAME=VALUE of a secret option with its first LEN characters before it, as others may
 * read it. */
static void add_hidden(struct strlist *words, const char *word, size_t len)
{
	size_t shown = len + strcspn(word + len, "=");

	strlist_addf(words, "%.*s%s", (int)shown, word, word[shown] ? "=REDACTED" : "");
}

/* The length of "--name=" at the start of WORD if it is a secret option; without "=", the whole
 * length. The key of `config` for --env is called "env". */
static size_t secret_option(const struct command *command, const char *word)
{
	const struct opt *tables[] = { command_options(command), NULL };
	size_t len = strcspn(word, "=");
	const struct setting *setting = setting_find(SETTING_OF_CLUSTER | SETTING_OF_DEFAULTS,
						     word);
	const struct opt *opt;

	if (command->complete == COMPLETE_SETTING)
		return setting && setting->secret ? len : 0;
	if (!command_options(command) || strncmp(word, "--", 2) != 0)
		return 0;
	opt = opt_find(tables, word + 2, len - 2);
	return opt && opt->secret ? len + (word[len] == '=') : 0;
}

/* The command line without secrets: nothing after `--`, no command of ssh, no values of
 * variables. */
static char *readable_args(const struct command *command, char **argv,
			   const struct strlist *operands)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	size_t count = 0;
	bool hide = false;

	while (argv[count])
		count++;
	/* All operands are at the end, and the first may be a node's name. */
	if (command->flags & COMMAND_PASSES_REST && operands->count > 0)
		count -= operands->count - 1;
	for (size_t i = 0; i < count && (hide || strcmp(argv[i], "--") != 0); i++) {
		size_t len = hide ? 0 : secret_option(command, argv[i]);

		if (hide || (len > 0 && argv[i][len - 1] == '='))
			add_hidden(&words, argv[i], len);
		else
			strlist_add(&words, argv[i]);
		hide = !hide && len > 0 && argv[i][len - 1] != '=';
	}
	return strlist_join(&words, " ");
}

void record_begin(struct record *record, const struct command *command, const char *path,
		  char **argv, const struct strlist *operands, const char *profile,
		  const char *user)
{
	cleanup_free char *args = readable_args(command, argv, operands);
	const char *name = path + strlen("manykube ");

	record->audited = command->flags & COMMAND_AUDITED;
	audit_init(&record->audit, name, args, profile, user);
	log_keep("%s manykube %s: %s %s", record->audit.start_time, record->audit.version, name,
		 args);
}

void record_go(struct record *record)
{
	if (record->audited)
		audit_begin(&record->audit);
}

static void explain_disk(struct error *err, int code)
{
	cleanup_free char *state = NULL;

	/* A reason that is more specific than "our files" is kept. */
	if ((err->reason && err->reason != &reason_host_config) || err->hint ||
	    path_state(&state, NULL) < 0)
		return;
	if (code == -ENOSPC || code == -EDQUOT) {
		err->reason = &reason_storage;
		(void)error_hint(err, code, "free some space, for instance on the disk of '%s'",
				 state);
	} else if (code == -EACCES && geteuid() != 0) {
		(void)error_reason(err, code, &reason_host_config);
		(void)error_hint(err, code,
				 "run it as the user who created the clusters, or "
				 "with sudo");
	} else if (code == -EROFS || code == -EACCES) {
		(void)error_reason(err, code, &reason_host_config);
		(void)error_hint(err, code,
				 "make '%s' writable, or set MANYKUBE_HOME to a writable directory",
				 state);
	}
}

void record_end(struct record *record, int r, struct error *err)
{
	if (r < 0) {
		explain_disk(err, r);
		log_keep("failed: %s: %s", err->reason ? err->reason->word : "MK_FAILURE",
			 err->text ? err->text : strerror(-r));
		if (error_advice(err))
			log_keep("suggestion: %s", error_advice(err));
	} else {
		log_keep("ended with %d", r);
	}
	if (record->audited)
		audit_end(&record->audit, r >= 0 ? r : error_exit_status(err));
	audit_release(&record->audit);
}
