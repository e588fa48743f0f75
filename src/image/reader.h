/*
 * The process that reads an image archive.
 *
 * Archives come from anybody, so a child process without root's rights reads them.  It has a user
 * namespace of its own, whose ids no node has (READER_SLOT), no network, no files but the directory
 * it unpacks to, and only the capabilities that setting owners takes.  What it makes there is owned
 * on disk as the layers say, because it sees the directory through an idmapped mount.
 */
#pragma once

#include "image/image.h"

/* Which ids of the host readers have; nodes have slots 1 to 254 (driver/driver.h). */
#define READER_SLOT 255

struct reader_job {
	int archive;       /* a file, a pipe or a directory */
	const char *shown; /* what errors call it */
	int incoming;      /* a directory with two empty ones, `blobs` and `layers` */
	uint64_t reserve;  /* see room.h */
	const struct strlist *known_blobs; /* what the store has */
	const struct strlist *known_layers;
	const struct strlist *known_places; /* image_layer_place() of all layers of its images */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/*
 * Read the images of the archive.  Blobs and layers that are not known are made in `incoming`.
 * Only layers whose place is known, too, are not verified again.  The result is checked, except
 * RET_PARENTS (see parents.h), which the caller releases; and names of files in `incoming` are as
 * hostile as the archive is.
 */
int reader_run(const struct reader_job *job, struct image_list *ret, json_t **ret_parents,
	       struct error *err);
