/*
 * Directories that a layer has files in, but says nothing about.
 *
 * In the layer's directory they have to exist, and overlayfs then shows their owner and mode
 * instead of those below.  So they get the ones that the layers below give them, as by containerd.
 *
 * If there is a symbolic link below, containerd in a node would put the files where it leads to.
 * That depends on the layers below, but a layer is unpacked once for all images that have it, so
 * such images are refused.
 */
#pragma once

#include <jansson.h>

#include "image/image.h"
#include "image/store-files.h"

/* The most directories of a layer that are looked for. */
#define PARENTS_MAX 1000

/*
 * In the new layers of IMAGE, which are in INCOMING, give such directories owner, mode and time.
 * PARENTS is an object with an array of their paths for each diff ID; it comes from the reader, so
 * what does not fit is left out.  Layers below are in INCOMING or STORE.  -EBADMSG with
 * reason_image if one of them has a symbolic link there.
 */
int parents_adopt(const struct image *image, const json_t *parents,
		  const struct store_files *incoming, const struct store_files *store,
		  struct error *err);
