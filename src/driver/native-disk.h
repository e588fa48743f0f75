/*
 * The disk of a native node that was given a size of its own: ext4 in the file disk.img of its
 * directory, mounted on the var of its tree.
 *
 * It is mounted for the host as well, who looks for logs there; a node that does not run, and was
 * stopped in order, has nothing mounted.
 */
#pragma once

#include "driver/driver.h"

/*
 * Have the disk mounted: made if there is none, checked if it was not mounted just now, grown if it
 * is smaller than it should be and the node does not run.  Does nothing for a node without one.
 */
int native_disk_up(const struct node_spec *spec, struct error *err);

/* What is on the disk is of no use any more: what was not written yet need not be, which can take
 * long. */
void native_disk_abandon(const struct node_spec *spec);

/* Bytes that are in use on it; 0 if it is not mounted, or there is none. */
uint64_t native_disk_used(const struct node_spec *spec);

/* The driver's show(). */
int native_disk_show(const struct node_spec *spec, struct error *err);
