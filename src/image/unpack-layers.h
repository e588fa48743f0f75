/* Storing and unpacking the layers of an archive, in two processes. */
#pragma once

#include <stdatomic.h>

#include "image/archive.h"
#include "image/image.h"
#include "image/room.h"

/* In memory that the reader shares with the process that shows it. */
struct unpack_progress {
	_Atomic uint64_t done; /* bytes of layers in the archive */
	_Atomic uint64_t total;
};

struct unpack_task {
	const struct image_layer *layer;
	const char *member;  /* of the archive */
	bool is_unnamed;     /* nothing but its configuration gives the digest of the layer */
	bool wants_blob;     /* make blobs/DIGEST; otherwise it is only verified */
	bool wants_contents; /* make layers/DIFF-ID */
};

/*
 * Carry out TASKS, which are COUNT, in the directory INCOMING, which has `blobs` and `layers`.
 * Verifies the size, the digest and the diff ID of each layer.  Errors name the layer.
 * After an error, more may have been made.  ERR must not be NULL.
 */
int unpack_layers(const struct archive *archive, const struct unpack_task *tasks, size_t count,
		  int incoming, const struct room *room, struct unpack_progress *progress,
		  struct error *err);

/* The file in INCOMING that lists the directories that unpack_layer() had to make for LAYER, each
 * with a NUL; there is none if it made none.  The caller frees the name. */
char *unpack_made_name(const struct image_layer *layer) must_check;
