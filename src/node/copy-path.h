/* Paths that are copied, as text. */
#pragma once

#include "base/macro.h"

/* The last component of PATH, or "" if it is not a possible name for a copy; the caller frees it.
 */
char *copy_last_name(const char *path) must_check;

/* The directory that PATH is in; the caller frees it. */
char *copy_directory_of(const char *path) must_check;
