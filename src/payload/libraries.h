/* The shared libraries that a program of the host loads. */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

/* Add the paths of all libraries of PROGRAM, including the loader; none for a static program. */
int libraries_of(const char *program, struct strlist *ret_paths, struct error *err);

/* The same from LISTING, the output of ldd; -ENOENT if a library is missing. */
int libraries_parse(const char *listing, struct strlist *ret_paths, struct error *err);
