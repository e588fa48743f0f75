/* --driver, of the commands that make nodes. */
#pragma once

#include "cli/opt.h"

/* What --driver=NAME may be: a driver, auto, or what minikube calls the lack of one. */
int driver_option_check(const char *name, struct error *err);

/* Make *DRIVER, as --driver gave it, the name of a driver, or NULL: as the cluster's nodes, or the
 * default. */
void driver_option_resolve(const char **driver);

#define DRIVER_OPTION_ADVICE \
	"nodes are made of namespaces of this host and need no driver: leave it out"

/* Let TO_ have the driver. */
#define DRIVER_OPTION(letter_, to_, help_, ...)                         \
	OPT_STRING(letter_, "driver", to_, "NAME", help_, .once = true, \
		   .check = driver_option_check, .instead = DRIVER_OPTION_ADVICE, __VA_ARGS__)
