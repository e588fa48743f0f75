/* What the process that reads an archive does; see reader.h. */
#pragma once

#include "image/reader.h"
#include "image/unpack-layers.h"

struct reader_inside {
	int archive;
	bool is_dir;
	int incoming; /* the idmapped directory, empty but for `blobs` and `layers` */
	uint64_t reserve;
	const struct strlist *known_blobs;
	const struct strlist *known_layers;
	const struct strlist *known_places;
	struct unpack_progress *progress;
	json_t *parents; /* an object that gets what parents.h describes */
};

/* Read the archive and make what is missing; see reader_run().  ERR must not be NULL. */
int reader_inside(const struct reader_inside *job, struct image_list *ret, struct error *err);

/*
 * Confine this process, a child of PARENT, for good: to the user namespace USER_NAMESPACE, the
 * directory ROOT as its root, and the descriptors FDS, which become 3 and 4.
 */
int reader_confine(pid_t parent, int user_namespace, int root, const int fds[2], struct error *err);
