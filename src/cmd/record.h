/* What the log and the audit keep of a command. */
#pragma once

#include "cmd/command.h"
#include "look/audit.h"

struct record {
	struct audit audit;
	bool audited;
};

#define RECORD_INIT ((struct record){ AUDIT_INIT })

/* COMMAND, called PATH, begins with ARGV, which has OPERANDS at its end.  USER may be NULL. */
void record_begin(struct record *record, const struct command *command, const char *path,
		  char **argv, const struct strlist *operands, const char *profile,
		  const char *user);

/* It has all that it needs and changes things from now on. */
void record_go(struct record *record);

/* It ended with R: an exit status, or a negative errno with ERR, whose advice is made to be about
 * the disk if that was to blame. */
void record_end(struct record *record, int r, struct error *err);
