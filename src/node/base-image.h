/*
 * What a node has its /usr from instead of this host: --base-image.
 *
 * It is a directory with a root file system, used where it is and never written to, or a tar of
 * one, unpacked into nodes/NODE/base when the node is made.  Nodes of a cluster that come of the
 * same tar share the files.
 */
#pragma once

#include "record/profile.h"

/* -EINVAL with reason_usage unless PATH, a directory or a tar, has all that nodes need; nothing is
 * unpacked. */
int base_check(const char *path, struct error *err);

/* Where the root file system of NODE is, or will be after base_make(), for the caller to free; NULL
 * if it is this host's. */
char *base_dir(const struct profile *profile, const struct node *node) must_check;

/* See that it is there; unpack it unless that was done. */
int base_make(const struct profile *profile, const struct node *node, struct error *err);
