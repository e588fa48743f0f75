/*
 * Free space while untrusted data is unpacked: it must not fill the disk, on which the cluster's
 * database is.
 */
#pragma once

#include <sys/statvfs.h>

#include "base/error.h"

struct room {
	int fd;             /* a file or directory of the file system */
	uint64_t capacity;  /* bytes that it has in all */
	uint64_t reserve;   /* bytes that stay free */
	uint64_t unchecked; /* bytes taken since free space was looked at */
};

/* The bytes that stay free on a file system: 5 % of it, but at least 1 GiB and at most 8 GiB. */
uint64_t room_reserve(const struct statvfs *status);

/* Whether less than 1 GiB beside that is free, so that larger images do not fit. */
bool room_is_scarce(const struct statvfs *status);

/* Use the file system of FD, which stays the caller's.  RESERVE 0: room_reserve(). */
int room_open(struct room *room, int fd, uint64_t reserve, struct error *err);

/* Account for BYTES more; -ENOSPC with reason_storage if they would come from the reserve. */
int room_take(struct room *room, uint64_t bytes, struct error *err);

/* Write LEN bytes at DATA to FD and account for them.  Errors do not name the file. */
int room_write(struct room *room, int fd, const void *data, size_t len, struct error *err);

/* The error for a failed system call that makes a file: error_sys() with the reason for a full
 * disk. */
int room_error(struct error *err, const char *fmt, ...) printf_like(2, 3);
