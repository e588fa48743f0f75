/*
 * Who builds from source: never root.
 *
 * Under sudo it is the user who called it, else an id that nobody has.  The builder works in
 * work/build/go, which belongs to it, in a directory that only root can enter; it finds that at
 * BUILDER_ROOT, in a mount namespace of its own, wherever the cache is.  What it made is taken by
 * copying.
 */
#pragma once

#include "payload/work.h"

/* Builds when root itself asks: an id that neither a user nor a node has. */
#define PAYLOAD_BUILD_UID 0xfffe0001u

/* Where the builder's directory is in its mount namespace: there is one on every system. */
#define BUILDER_ROOT "/mnt"

/* Remove the builder's directory if it is another builder's; before any task begins. */
int builder_settle(struct work *work, struct error *err);

/* Make the builder's directory; RET_DIRECTORY is for the caller to free. */
int builder_prepare(struct work *work, char **ret_directory, struct error *err);

/*
 * Become the builder, for good: its id, none of our groups and capabilities, no new ones by any
 * program, no terminal, and DIRECTORY at RET_ROOT (to be freed).  When we are not root, nothing
 * changes and RET_ROOT is DIRECTORY itself.
 */
int builder_become(const char *directory, char **ret_root, struct error *err);

/* The home of the user who builds, to be freed; NULL if it is nobody's user.  To be asked before
 * builder_become(). */
char *builder_home(void) must_check;

/* Copy the program PATH in DIRECTORY, which must be an ordinary file that only the builder could
 * make, to the new file TO, which belongs to us. */
int builder_take(const char *directory, const char *path, const char *to, struct error *err);
