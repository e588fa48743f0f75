/* Which files a build's context has: those of a directory that its .dockerignore leaves. */
#pragma once

#include "base/error.h"
#include "base/strlist.h"
#include "data/dockerignore.h"

/*
 * Add the paths in the directory ROOT that IGNORE does not ignore to RET, sorted, directories
 * before their contents.  Directories with an exception in them are not ignored, nor is ALWAYS (may
 * be NULL).  Links are not followed; sockets are left out.  Errors call the directory SHOWN.
 */
int context_files_list(int root, const char *shown, const struct dockerignore *ignore,
		       const char *always, struct strlist *ret, struct error *err);
