/*
 * Directories that a layer has files in, but says nothing about.
 *
 * In the layer's directory they have to exist, and overlayfs then shows their owner and mode
 * instead of those below.  So they get the ones that the layers below give them, as by containerd.
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
 * what does not fit is left out.  Layers below are in INCOMING or STORE.
 */
void parents_adopt(const struct image *image, const json_t *parents,
		   const struct store_files *incoming, const struct store_files *store);
