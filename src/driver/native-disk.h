/*
 * The disk of a native node with --disk-size: ext4 in the file disk.img of its directory, mounted
 * on the var directory of its tree.
 *
 * It is also mounted on the host, which reads logs there.  After a node was stopped properly,
 * nothing is mounted.
 */
#pragma once

#include "driver/driver.h"

/*
 * Mount the disk.  Make it if it is missing, check it if it is not mounted, and grow it if it is
 * too small and the node does not run; if it cannot grow, a warning says why.  Does nothing for a
 * node without a disk.
 */
int native_disk_up(const struct node_spec *spec, struct error *err);

/* Discard unwritten data of the disk, before the node is destroyed; writing it can take long. */
void native_disk_abandon(const struct node_spec *spec);

/* The space in use on the disk; 0 if it is missing or not mounted. */
uint64_t native_disk_used(const struct node_spec *spec);

/* The actual size of the file system; 0 if it is missing or unknown.  Needs no root. */
uint64_t native_disk_size(const struct node_spec *spec);

/* The driver's show(). */
int native_disk_show(const struct node_spec *spec, struct error *err);
