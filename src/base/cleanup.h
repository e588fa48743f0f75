/*
 * Scope-bound cleanup.
 *
 * A resource is declared with its cleanup and its empty value in one line, so
 * that every return path is safe from the moment the variable exists:
 *
 *	cleanup_free char *path = NULL;
 *	cleanup_fd int fd = -1;
 *	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
 *
 * Ownership leaves the scope only through take_ptr() or take_fd().
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/macro.h"

#define cleanup_with(fn) __attribute__((__cleanup__(fn)))
#define cleanup_free     cleanup_with(cleanup_free_)
#define cleanup_fd       cleanup_with(cleanup_fd_)
#define cleanup_dir      cleanup_with(cleanup_dir_)
#define cleanup_file     cleanup_with(cleanup_file_)

/* For a type held by pointer: defines FN##p, which takes the variable's address. */
#define DEFINE_CLEANUP(type, fn)          \
	static inline void fn##p(type *p) \
	{                                 \
		if (*p)                   \
			fn(*p);           \
	}

#define take_ptr(p)                     \
	({                              \
		typeof(p) *p_ = &(p);   \
		typeof(p) taken_ = *p_; \
		*p_ = NULL;             \
		taken_;                 \
	})

static inline int take_fd_(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define take_fd(fd) take_fd_(&(fd))

static inline void cleanup_free_(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fd_(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static inline void cleanup_dir_(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

static inline void cleanup_file_(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}
