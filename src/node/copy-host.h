/*
 * The host's side of a copy: receiving files from a node.
 *
 * An archive that a node made is hostile.  It is unpacked by a program that runs as the user and
 * can write only to a fresh directory that nobody else can enter.  From there, everything is moved
 * through descriptors, without following links, with the user's rights.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/user.h"

enum copy_kind {
	COPY_MISSING,
	COPY_FILE,
	COPY_DIR,
	COPY_OTHER,
};

/* The kind of PATH on this host, links followed; a negative errno if it cannot be examined. */
int copy_host_kind(const char *path, struct error *err);

struct copy_host {
	struct user user;
	int dir;            /* the directory that will contain the copy */
	int scratch;        /* the fresh directory in it */
	char *name;         /* of the scratch directory */
	char *scratch_path; /* its path as a descriptor, for programs to run in */
	char *dir_path;     /* likewise */
};

#define COPY_HOST_INIT ((struct copy_host){ .dir = -1, .scratch = -1 })

/* Make the scratch directory in DIR. */
int copy_host_open(const char *dir, struct copy_host *ret, struct error *err);

/*
 * Rename the unpacked NAME, which must be a KIND, to TARGET in the directory.  If TARGET is NULL,
 * add the contents of the unpacked directory to it.  Only files, directories and links are
 * accepted.
 */
int copy_host_place(const struct copy_host *host, const char *name, enum copy_kind kind,
		    const char *target, struct error *err);

/* Remove the scratch directory with its remaining contents. */
void copy_host_release(struct copy_host *host);
