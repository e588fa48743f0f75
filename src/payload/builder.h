/*
 * The user who builds from source: never root.
 *
 * Under sudo, it is the user who called sudo, otherwise an unused id.  The builder owns the
 * directory work/build/go, whose parent only root can enter, and sees it at BUILDER_ROOT in its own
 * mount namespace.  The results are copied.
 */
#pragma once

#include "payload/work.h"

/* The builder if root itself calls: an id that no user and no node has. */
#define PAYLOAD_BUILD_UID 0xfffe0001u

/* The mount point of the builder's directory in its mount namespace; it exists on every system. */
#define BUILDER_ROOT "/mnt"

/* Remove the builder's directory if another builder owns it.  Call this before any task starts. */
int builder_settle(struct work *work, struct error *err);

/* Make the builder's directory; the caller frees RET_DIRECTORY. */
int builder_prepare(struct work *work, char **ret_directory, struct error *err);

/*
 * Become the builder permanently: its uid and gid, no other groups, no capabilities, no way to gain
 * privileges, no terminal, and DIRECTORY mounted at RET_ROOT, which the caller frees.  If we are
 * not root, the user stays the same and RET_ROOT is DIRECTORY.
 */
int builder_become(const char *directory, char **ret_root, struct error *err);

/* The home directory of the builder; NULL if the builder is the unused id.  The caller frees it.
 * Call this before builder_become(). */
char *builder_home(void) must_check;

/* Copy the program PATH in DIRECTORY, which must be a regular file made by the builder, to the new
 * file TO, which we own. */
int builder_take(const char *directory, const char *path, const char *to, struct error *err);
