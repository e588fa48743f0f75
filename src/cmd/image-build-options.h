/* The options of `image build`, those of minikube's among them. */
#pragma once

#include "node/docker-build.h"

/*
 * Add the --build-opt options OPTS of docker's, NAME or NAME=VALUE, to TO; -EINVAL with
 * reason_usage for one that does not exist here.  Values are those of OPTS.
 */
int image_build_take_options(const struct strlist *opts, struct build_options *to,
			     struct error *err);

/* Give those of ARGS that are names only the value that they have in VARIABLES, NAME=VALUE, or in
 * the environment. */
int image_build_take_variables(const struct strlist *variables, struct strlist *args,
			       struct error *err);

/* Add names to be found under to TAGS: "app" becomes "app:latest". */
void image_build_complete_tags(const struct strlist *tags, struct strlist *ret);

/* Whether PATH, which is not a directory, is to be fetched by the builder. */
bool image_build_is_remote(const char *path);
