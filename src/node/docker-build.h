/*
 * Building images with the Docker daemon of a node, and fetching them from there.
 *
 * The daemon runs (docker_service_up()).  The build ends with the connection: whoever builds may be
 * killed at any time.
 */
#pragma once

#include "base/error.h"
#include "base/strlist.h"
#include "buildkit/answer.h"
#include "buildkit/context.h"
#include "record/profile.h"

/* What to build. */
struct build_options {
	struct strlist tags;   /* names; may be empty */
	struct strlist args;   /* NAME=VALUE; NAME alone has no effect */
	struct strlist labels; /* NAME=VALUE */
	struct strlist hosts;  /* NAME:ADDRESS, for RUN */
	const char *target;    /* a stage, or NULL */
	const char *platform;  /* or NULL */
	const char *network;   /* for RUN, or NULL */
	bool no_cache;
	bool pull;              /* look for newer images in registries */
	const char *remote;     /* the URL of the context, instead of CONTEXT */
	const char *dockerfile; /* in the context of REMOTE, or NULL */
};

#define BUILD_OPTIONS_INIT ((struct build_options){ .tags = STRLIST_INIT })

void build_options_release(struct build_options *options);

/* Show TEXT of the builder. */
typedef void build_show_fn(const char *text, void *data);

/*
 * Build CONTEXT (NULL with `remote`) on NODE, showing progress with SHOW.  RET_ANSWER has the
 * image's ID, or the builder's failure, which is no error here.
 */
int docker_build(const struct profile *profile, const struct node *node,
		 const struct build_options *options, struct build_context *context,
		 build_show_fn *show, void *data, struct build_answer *ret_answer,
		 struct error *err);

/* The path of the request for that; for the caller to free. */
char *docker_build_path(const struct build_options *options, const char *dockerfile) must_check;

/*
 * Write the images NAMES of NODE to FD, as 'docker save' does.  -ENOSPC, before the file system of
 * FD is full, if there is not enough room.
 */
int docker_save(const struct profile *profile, const struct node *node, const struct strlist *names,
		int fd, struct error *err);
