/*
 * The audit: who ran which command that changes something, and how it ended.
 *
 * logs/audit.json, a CloudEvent of the type io.manykube.audit per line, all of whose data is
 * strings: of root's commands in path_state(), of others in path_user().  A command adds one line
 * when it begins and one with the same id when it ends, which has endTime and exitCode, too; of one
 * that was killed there is only the first.
 *
 * Nothing here ever fails: what can't be written is not.
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
	char *end_time;  /* NULL until it has ended */
	char *exit_code; /* likewise */
	bool written;    /* that it began */
};

#define AUDIT_INIT ((struct audit){ NULL })

/* Fill AUDIT for what begins now; USER may be NULL: whoever runs us, under sudo the caller. */
void audit_init(struct audit *audit, const char *command, const char *args, const char *profile,
		const char *user);

/* Write that it began, unless that was done before or the directory is not there (yet). */
void audit_begin(struct audit *audit);

/* Write that it ended with EXIT_CODE. */
void audit_end(struct audit *audit, int exit_code);

void audit_release(struct audit *audit);

/* The path of the file that we write, for the caller to free. */
int audit_path(char **ret_path, struct error *err);

struct audit_list {
	struct audit *items;
	size_t count;
};

#define AUDIT_LIST_INIT ((struct audit_list){ NULL })

/* Read the lines of TEXT, the oldest command first; lines that are damaged are left out. */
void audit_parse(const char *text, size_t len, struct audit_list *ret);

/* Read what root and the user ran, in the order that it began; no file is an empty list. */
int audit_read(struct audit_list *ret, struct error *err);

void audit_list_release(struct audit_list *list);

/* The line that audit_begin() or audit_end() writes, for the caller to free. */
char *audit_print(const struct audit *audit) must_check;
