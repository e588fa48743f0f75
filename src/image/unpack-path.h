/*
 * Places in the directory of a layer.  Symbolic links of the layer are followed as if the directory
 * were the root, so no path leads out of it.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strlist.h"

struct unpack_path {
	int top;      /* the directory of the layer; owned by the caller */
	char *parent; /* the directory that was asked for last, and its descriptor */
	int parent_fd;
	struct strlist made; /* directories that were made because they were missing */
};

#define UNPACK_PATH_INIT ((struct unpack_path){ .top = -1, .parent_fd = -1, .made = STRLIST_INIT })

/*
 * Open the directory of PATH, which is normalized and not empty, and point RET_NAME to its last
 * component.  With MAKE, missing directories are made, with mode 0755 and root as their owner.
 * RET_FD is valid until the next call.
 */
int unpack_path_open(struct unpack_path *place, const char *path, bool make, int *ret_fd,
		     const char **ret_name, struct error *err);

void unpack_path_release(struct unpack_path *place);

/* Open PATH below TOP with FLAGS of open(), following links only before its last component;
 * returns -1 and sets errno on failure. */
int unpack_path_enter(int top, const char *path, int flags);
