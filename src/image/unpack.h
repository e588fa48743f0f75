/*
 * Unpacking a layer as containerd's overlayfs snapshotter does in a user namespace.
 *
 * Whiteouts become devices 0/0, opaque directories get "user.overlay.opaque", devices are left out.
 * Owners, modes, times, hard links, and the attributes user.* and security.capability are those of
 * the layer.  Absolute names begin at the layer's root, like all others; those that lead out of it
 * with ".." are errors.
 */
#pragma once

#include "base/strlist.h"
#include "data/stream.h"
#include "image/room.h"

/* Ids of owners in layers are below this: nodes have no others. */
#define UNPACK_IDS_MAX (128u * 65536u)

/*
 * Unpack the tar archive LAYER, up to its end, into the empty directory DIR.  RET_MADE is the list
 * of directories that had to be made, but have no entry; set on success.  -EBADMSG if the layer
 * cannot be what it should be.  ERR must not be NULL.
 */
int unpack_layer(struct stream *layer, int dir, struct room *room, struct strlist *ret_made,
		 struct error *err);
