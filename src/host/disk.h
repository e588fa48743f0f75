/*
 * Files as disks: a loop device that shows a file as a disk, and ext4 mounted from it.
 *
 * The kernel frees a device by itself when nobody has it mounted or open any more, however that
 * comes about: nothing of it is left by who was killed.
 */
#pragma once

#include "base/error.h"

/* Whether the file IMAGE is a disk just now, in whichever mount namespace. */
bool disk_is_attached(const char *image);

/* Mount the file IMAGE, which is a disk by then, on DIR.  One that is a disk already stays the
 * same one; READ_ONLY, it becomes another, of which not even the journal is read. */
int disk_mount(const char *image, const char *dir, bool read_only, struct error *err);

/* Whether something is mounted on DIR, here. */
bool disk_is_mounted(const char *dir);

/* Unmount all that is mounted below DIR, and wait some seconds until no file there is a disk any
 * more; what is in use for longer is gone when it no longer is. */
int disk_unmount_below(const char *dir, struct error *err);

/* The size of the ext4 file system in the file IMAGE. */
int disk_read_size(const char *image, uint64_t *ret_bytes, struct error *err);
