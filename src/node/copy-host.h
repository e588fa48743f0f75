/*
 * The host's end of a copy: where the files of a node come to.
 *
 * An archive that a node made is hostile.  It is unpacked by a program that runs as the user and
 * can write nowhere but in a fresh directory that nobody else can enter; from there, everything is
 * moved by descriptors that follow no links, with the user's rights.
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

/* What PATH of this host is, links followed; a negative errno if it can't be reached. */
int copy_host_kind(const char *path, struct error *err);

struct copy_host {
	struct user user;
	int dir;            /* in which the copy gets its name */
	int scratch;        /* the fresh directory in it */
	char *name;         /* of the scratch directory */
	char *scratch_path; /* of it as a descriptor, for programs to begin in */
	char *dir_path;     /* likewise */
};

#define COPY_HOST_INIT ((struct copy_host){ .dir = -1, .scratch = -1 })

/* Make the scratch directory in DIR. */
int copy_host_open(const char *dir, struct copy_host *ret, struct error *err);

/*
 * Give what was unpacked as NAME, which must be a KIND, the name TARGET in the directory; add the
 * contents of a directory to it if TARGET is NULL.  Only files, directories and links are taken.
 */
int copy_host_place(const struct copy_host *host, const char *name, enum copy_kind kind,
		    const char *target, struct error *err);

/* Remove the scratch directory with all that is left in it. */
void copy_host_release(struct copy_host *host);
