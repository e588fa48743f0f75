/*
 * The context of a build: what the builder gets as a tar archive, made while it is read.
 *
 * A context is a directory of the user, read with the user's rights and without what .dockerignore
 * names; or standard input, either an archive, which is passed on, or a Dockerfile.
 *
 * A Dockerfile from elsewhere, and one that is ignored, is in the archive all the same: BuildKit
 * has no other way to get it without a session.  One from elsewhere is called .dockerfile.DIGEST.
 */
#pragma once

#include <sys/types.h>

#include "base/cleanup.h"
#include "base/error.h"

struct build_context;

/* Of what a context is made. */
struct build_source {
	const char *path;       /* a directory, or "-" for standard input */
	const char *dockerfile; /* a file, "-" for standard input, or NULL: PATH/Dockerfile */
};

/*
 * Open the context of SOURCE.  The Dockerfile is looked for from the working directory on, and
 * then in the context.  -EINVAL with reason_usage if both the context and the Dockerfile are
 * standard input; -ENOENT with reason_host_path if the directory or the Dockerfile does not exist.
 */
int build_context_open(const struct build_source *source, struct build_context **ret,
		       struct error *err);
void build_context_free(struct build_context *context);
DEFINE_CLEANUP(struct build_context *, build_context_free)

/* The Dockerfile's path in the archive. */
const char *build_context_dockerfile(const struct build_context *context);

/* Read the next bytes of the archive, at most SIZE, to TO.  Returns their number, 0 at the end. */
ssize_t build_context_read(struct build_context *context, char *to, size_t size, struct error *err);
