/*
 * The source of a node's /usr other than this host: --base-image.
 *
 * It is a directory with a root file system, which is used in place and never written to, or a tar
 * archive of one, which is unpacked into nodes/NODE/base when the node is created.  Nodes of a
 * cluster that use the same archive share the files.
 */
#pragma once

#include "record/profile.h"

/* -EINVAL with reason_usage unless PATH, a directory or a tar archive, has all programs that nodes
 * need; nothing is unpacked. */
int base_check(const char *path, struct error *err);

/* The directory of NODE's root file system, which base_make() may have to create, for the caller to
 * free; NULL if it is the host's. */
char *base_dir(const struct profile *profile, const struct node *node) must_check;

/* Create that directory by unpacking the archive, unless it exists. */
int base_make(const struct profile *profile, const struct node *node, struct error *err);
