/*
 * The user's own images: archives on this host, loaded into a store of the cluster and from there
 * into all nodes.
 *
 * How it works:
 *  1. An archive is read and unpacked once, into the directory that all nodes of the cluster can
 *     read (image/image.h).
 *  2. Each node gets links to that (node-images/node-images.h).  So a further node costs
 * milliseconds and no disk space, and an interruption leaves every node as it was before or after.
 *  3. Nodes that do not run get the images when they start; so do nodes that are added later.
 *     nodes/NODE/own-images has the names that a node got from the store, so that a start can also
 *     remove what was removed meanwhile.
 *  4. Layers that no image needs any more are removed when all nodes run and no container uses
 *     them.
 */
#pragma once

#include "base/observer.h"
#include "image/image.h"
#include "record/profile.h"

/* -EINVAL with reason_usage unless PATH can be an image archive, or a directory with an OCI layout,
 * on this host. */
int own_images_check(const char *path, struct error *err);

/* The images of the cluster's store. */
int own_images_read(const struct profile *profile, struct image_list *ret, struct error *err);

/*
 * Read images from FD, an archive or a directory that errors call SHOWN, into the store, for the
 * nodes called NODES (NULL: all, also those that will be added).  RET_ADDED are these images,
 * whether they were new or not.  Names other than those in ONLY (NULL: any) are refused, so that a
 * node that an image is from replaces no other one; and so are names of Kubernetes' own images, and
 * those of images that nodes other than NODES have.
 */
int own_images_add(const struct profile *profile, int fd, const char *shown,
		   const struct strlist *only, const struct strlist *nodes,
		   struct observer *observer, struct image_list *ret_added, struct error *err);

/* The names of Kubernetes' own images, which the cluster needs as they are; none if the payload is
 * gone. */
int own_images_list_kubernetes(const struct profile *profile, struct strlist *ret,
			       struct error *err);

/* Read the archives that the settings of PROFILE name into the store, unless their current version
 * is in it.  One that no longer exists is ignored if it was loaded before; else a warning is
 * logged. */
int own_images_add_archives(const struct profile *profile, struct observer *observer,
			    struct error *err);

/* The nodes after own_images_spread(). */
struct own_images_outcome {
	struct strlist ready;   /* they have the images */
	struct strlist waiting; /* they do not run, and get them when they start */
	struct strlist failed;  /* "NODE: WHY" */
};

#define OWN_IMAGES_OUTCOME_INIT ((struct own_images_outcome){ .ready = STRLIST_INIT })

void own_images_outcome_release(struct own_images_outcome *outcome);

/*
 * Give the nodes called NODES (NULL: all) the images of the store that are for them, and remove
 * from them what has left the store; all nodes at once.  If it fails on some nodes, the others are
 * completed, and the error lists those that failed; RET is also set then.
 */
int own_images_spread(const struct profile *profile, const struct strlist *nodes,
		      struct observer *observer, struct own_images_outcome *ret, struct error *err);

/*
 * Take the names NAMES, which are complete, from the store, as far as they are in it; only for the
 * nodes called NODES unless that is NULL.  The nodes themselves keep them until
 * own_images_spread().  RET_FOUND are the names that were there.
 */
int own_images_forget(const struct profile *profile, const struct strlist *names,
		      const struct strlist *nodes, struct strlist *ret_found, struct error *err);

/* Give the image FROM of the store the further name TO; -ENOENT if the store has no such image. */
int own_images_tag(const struct profile *profile, const char *from, const char *to,
		   struct error *err);
