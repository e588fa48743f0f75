/* What the log and the audit record about a command. */
#pragma once

#include "cmd/command.h"
#include "look/audit.h"

struct record {
	struct audit audit;
	bool audited;
};

#define RECORD_INIT ((struct record){ AUDIT_INIT })

/* COMMAND, whose full name is PATH, starts with ARGV, which ends with OPERANDS. USER may be
 * NULL. */
void record_begin(struct record *record, const struct command *command, const char *path,
		  char **argv, const struct strlist *operands, const char *profile,
		  const char *user);

/* All checks have passed; the command changes things from now on. */
void record_go(struct record *record);

/* It ended with R: an exit status, or a negative errno with ERR. If the disk was the cause, the
 * advice of ERR is replaced. */
void record_end(struct record *record, int r, struct error *err);
