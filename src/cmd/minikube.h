/*
 * minikube's commands and options that do not exist here, and their substitutes.
 *
 * Data only: the dispatcher reads the tables when a command line names something that is in none of
 * ours.  tests/package/minikube.txt lists all of minikube's words; a test compares.
 */
#pragma once

#include "cli/opt.h"

/* A command of another program; ends with one whose path is NULL. */
struct absent_command {
	const char *path;    /* as one would write it: "manykube service" */
	const char *instead; /* the substitute, or that there is none; an error's advice */
};

extern const struct absent_command minikube_commands[];

/* Options, for opt_parse(): those of every command, and of single ones. */
extern const struct opt minikube_global_options[];
extern const struct opt minikube_start_options[];
extern const struct opt minikube_stop_options[];
extern const struct opt minikube_node_options[]; /* of `node add` and `node start` */

/* Keys of `config set` that are no options either. */
extern const struct opt minikube_settings[];
