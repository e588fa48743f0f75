/*
 * Disk images: files with an ext4 file system, mounted through loop devices.
 *
 * The kernel detaches a loop device when it is no longer mounted or open, so a process that is
 * killed leaves none behind.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/* Whether the file IMAGE is attached to a writable loop device, in any mount namespace. */
bool disk_is_attached(const char *image);

/* Find a process in another mount namespace that has IMAGE mounted; 0 if there is none. */
pid_t disk_find_holder(const char *image);

/* Mount the file IMAGE on DIR.  Uses the loop device it is attached to, if any.  If READ_ONLY, uses
 * another loop device and does not replay the journal. */
int disk_mount(const char *image, const char *dir, bool read_only, struct error *err);

/* Whether DIR is a mount point in this mount namespace. */
bool disk_is_mounted(const char *dir);

/* Unmount everything below DIR and wait some seconds until no file there is attached to a loop
 * device.  A device that is in use for longer is detached later, when it is released. */
int disk_unmount_below(const char *dir, struct error *err);

/* The size of the ext4 file system in the file IMAGE. */
int disk_read_size(const char *image, uint64_t *ret_bytes, struct error *err);
