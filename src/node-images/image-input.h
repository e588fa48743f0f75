/*
 * Where images are loaded from: a file, a directory with an OCI layout, standard input ("-"), or
 * an image of a Docker or Podman engine on this host.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"

enum image_input_kind {
	IMAGE_FROM_ANYWHERE, /* a file or a directory of that name; else an engine */
	IMAGE_FROM_ENGINE,
};

struct image_input {
	int fd;                 /* an archive or a directory */
	struct process process; /* of the engine's client, which writes the archive */
	char *client;           /* its name: "docker"; NULL if there is none */
};

#define IMAGE_INPUT_INIT ((struct image_input){ .fd = -1, .process = PROCESS_INIT })

/* Open WORD with the user's rights; -ENOENT with reason_host_path if there is nothing of that
 * name. */
int image_input_open(const char *word, enum image_input_kind origin, struct image_input *ret,
		     struct error *err);

/* R is the result of reading SOURCE.  If the engine's client failed, its error replaces a failure
 * to read. */
int image_input_close(struct image_input *source, int r, struct error *err);

void image_input_release(struct image_input *source);
