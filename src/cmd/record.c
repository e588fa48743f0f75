/* What the log and the audit keep of a command. */

#include "cmd/record.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/path.h"

/* What of the command line others may read: nothing behind `--`, nor what ssh is to run. */
static char *readable_args(const struct command *command, char **argv,
			   const struct strlist *operands)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	size_t count = 0;

	while (argv[count])
		count++;
	/* All operands stand at the end, and the first may be the node that is meant. */
	if (command->flags & COMMAND_PASSES_REST && operands->count > 0)
		count -= operands->count - 1;
	for (size_t i = 0; i < count && strcmp(argv[i], "--") != 0; i++)
		strlist_add(&words, argv[i]);
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

	/* A reason that says more than "something of our files" stays. */
	if ((err->reason && err->reason != &reason_host_config) || err->hint ||
	    path_state(&state, NULL) < 0)
		return;
	if (code == -ENOSPC || code == -EDQUOT) {
		err->reason = &reason_storage;
	} else if (code == -EACCES && geteuid() != 0) {
		(void)error_reason(err, code, &reason_host_config);
		(void)error_hint(err, code, "run it as who made the clusters, or with sudo");
	} else if (code == -EROFS || code == -EACCES) {
		(void)error_reason(err, code, &reason_host_config);
		(void)error_hint(err, code,
				 "see that '%s' can be written to, or set MANYKUBE_HOME to a "
				 "folder that can",
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
