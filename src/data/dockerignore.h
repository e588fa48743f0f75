/*
 * .dockerignore: which files of a directory are not sent to the builder.
 *
 * The rules are those of docker build: the last pattern that matches a path or one of its parents
 * decides, and '!' makes an exception.  Patterns are relative to the directory, with and without a
 * leading slash.  '*', '?' and '[a-z]' are those of Go's filepath.Match, "**" is any number of
 * directories.
 */
#pragma once

#include "base/error.h"

struct dockerignore_pattern;

struct dockerignore {
	struct dockerignore_pattern *patterns;
	size_t count;
};

#define DOCKERIGNORE_INIT ((struct dockerignore){ NULL })

/* Read TEXT, the contents of such a file, which errors call SHOWN; -EINVAL for a wrong pattern,
 * named with its line. */
int dockerignore_parse(const char *shown, const char *text, size_t len, struct dockerignore *ret,
		       struct error *err);
void dockerignore_release(struct dockerignore *ignore);

/*
 * Whether PATH ("a/b", without "." and "..") is ignored.  RET_MATCHED, an array of `count` members,
 * is to be passed as ABOVE for paths in the directory PATH.  ABOVE is NULL for the names in the
 * uppermost directory.
 */
bool dockerignore_match(const struct dockerignore *ignore, const char *path, const bool *above,
			bool *ret_matched);

/* Whether an exception may match a path in the ignored directory PATH. */
bool dockerignore_excepts_below(const struct dockerignore *ignore, const char *path);
