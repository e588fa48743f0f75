/* The shared libraries that a program of the host loads. */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

/* Add the paths of all libraries of PROGRAM, the loader among them; none for a static one. */
int libraries_of(const char *program, struct strlist *ret_paths, struct error *err);

/* The same from what ldd printed; -ENOENT if it could not find one. */
int libraries_parse(const char *listing, struct strlist *ret_paths, struct error *err);
