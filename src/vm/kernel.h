/*
 * The kernel of VMs and its modules, in a directory of the cache.
 *
 * It is Debian's for virtual machines, downloaded with apt and unpacked, but not installed; or a
 * file of this host: a kernel image, with its modules in ../lib/modules from the image's directory
 * or in /lib/modules, or a Debian package.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "data/sha256.h"

/* -EINVAL with reason_usage unless FILE looks like a kernel image or a Debian package. */
int vm_kernel_check(const char *file, struct error *err);

/* Add what identifies the kernel FILE (NULL: Debian's) to DIGEST. */
void vm_kernel_identify(const char *file, struct sha256 *digest);

/* Get the files of the kernel FILE (NULL: Debian's) into a directory below CACHE, unless they are
 * there; its path, for the caller to free.  LOG gets what programs say.  OFFLINE forbids a
 * download.
 */
int vm_kernel_ensure(const char *cache, const char *file, const char *log, bool offline,
		     char **ret_dir, struct error *err);

/* Run the shell script TEXT with the arguments WORDS and its output in LOG; an error says that WHAT
 * cannot be done, and the last line of LOG. */
int vm_run_script(const char *what, const char *text, const char *log, char *const *words,
		  struct error *err);

/* Add what identifies the file PATH of this host (may be NULL), if it exists, to DIGEST. */
void vm_add_stamp(struct sha256 *digest, const char *path);
