/* Looking at a node's images, in the process that has entered it. */
#pragma once

#include "node-images/containerd.h"

/* The directory of containerd's content store for blobs, and that of its snapshots. */
#define IMAGES_BLOBS     "/var/lib/containerd/io.containerd.content.v1.content/blobs/sha256"
#define IMAGES_SNAPSHOTS "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots"

/* Append to ANSWER, in the form that node_images_parse() reads, all images and the links into the
 * store. */
int images_look(struct containerd *containerd, struct strbuf *answer, struct error *err);
