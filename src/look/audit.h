/*
 * The audit log: who ran which command that changes something, and with which result.
 *
 * It is logs/audit.json, with a CloudEvent of the type io.manykube.audit per line, whose data
 * consists of strings: for root's commands in path_state(), for others in path_user().  A command
 * writes one line when it begins, and one with the same id when it ends, which also has endTime and
 * exitCode.  A command that was killed has the first line only.
 *
 * Nothing here ever fails: a line that cannot be written is skipped.
 */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

struct audit {
	char *id;
	char *command; /* "node add" */
	char *args;
	char *profile;
	char *user;
	char *version;
	char *start_time;
	char *end_time;  /* NULL until the command has ended */
	char *exit_code; /* likewise */
	bool written;    /* the line of its beginning was written */
};

#define AUDIT_INIT ((struct audit){ NULL })

/*
 * Fill AUDIT for a command that begins now.  USER may be NULL: the calling user, also under sudo.
 */
void audit_init(struct audit *audit, const char *command, const char *args, const char *profile,
		const char *user);

/* Write the line of its beginning, unless it was written or the directory does not exist yet. */
void audit_begin(struct audit *audit);

/* Write that the command ended with EXIT_CODE. */
void audit_end(struct audit *audit, int exit_code);

void audit_release(struct audit *audit);

/* The path of the file to write, for the caller to free. */
int audit_path(char **ret_path, struct error *err);

struct audit_list {
	struct audit *items;
	size_t count;
};

#define AUDIT_LIST_INIT ((struct audit_list){ NULL })

/* Parse the lines of TEXT, the oldest command first; damaged lines are skipped. */
void audit_parse(const char *text, size_t len, struct audit_list *ret);

/* Read the commands of root and of the user, in the order in which they began; a missing file is an
 * empty list. */
int audit_read(struct audit_list *ret, struct error *err);

void audit_list_release(struct audit_list *list);

/* The line that audit_begin() or audit_end() writes, for the caller to free. */
char *audit_print(const struct audit *audit) must_check;
