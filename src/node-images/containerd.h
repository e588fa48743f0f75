/*
 * Calls of a node's containerd, for code that runs in the node (node_driver.call).
 *
 * Everything is in the namespace k8s.io, the one of the kubelet and of Docker.  While a lease is
 * held, containerd removes nothing of what was made under it.
 */
#pragma once

#include "api/grpc.h"
#include "data/protobuf.h"
#include "data/sha256.h"

struct containerd {
	struct grpc *grpc;
	struct strlist metadata;
	char lease[40]; /* empty: none */
};

/* An image as containerd knows it.  All strings are the node's. */
struct containerd_image {
	char *name;
	char *type;
	char *digest; /* with "sha256:" */
	uint64_t size;
	bool managed; /* the kubelet knows of it */
	bool pinned;  /* the kubelet does not remove it */
};

struct containerd_images {
	struct containerd_image *items;
	size_t count;
};

#define CONTAINERD_IMAGES_INIT ((struct containerd_images){ NULL })

/* Use GRPC, which the caller keeps; wait until DEADLINE_MS for containerd to listen. */
int containerd_open(struct grpc *grpc, int64_t deadline_ms, struct containerd *ret,
		    struct error *err);
void containerd_release(struct containerd *containerd);

/* Take a lease that expires by itself in an hour, unless we hold one; and give it back. */
int containerd_take_lease(struct containerd *containerd, struct error *err);
int containerd_drop_lease(struct containerd *containerd, struct error *err);

/*
 * Register the blob HEX of SIZE bytes, which is in the directory of containerd's content store
 * already, with LABELS ("name", "value", ...).  If it is registered, it only gets the labels.
 * -ERANGE if it is not in the directory.
 */
int containerd_put_blob(struct containerd *containerd, const char *hex, uint64_t size,
			const struct strlist *labels, struct error *err);

/* Whether there is a snapshot with the chain ID HEX: 1 or 0. */
int containerd_has_snapshot(struct containerd *containerd, const char *hex, struct error *err);

/* Prepare a snapshot for the chain ID HEX on top of PARENT (NULL: none).  Returns the path of its
 * directory for the caller to free; containerd_commit_snapshot() completes it. */
int containerd_prepare_snapshot(struct containerd *containerd, const char *hex, const char *parent,
				char **ret_dir, struct error *err);
int containerd_commit_snapshot(struct containerd *containerd, const char *hex, struct error *err);

int containerd_list_images(struct containerd *containerd, struct containerd_images *ret,
			   struct error *err);

/* Give IMAGE its name, which is taken from another image if necessary. */
int containerd_put_image(struct containerd *containerd, const struct containerd_image *image,
			 struct error *err);

/* Remove the image NAME; -ENOENT if there is none.  With SYNC, contents that nobody needs any more
 * are gone afterwards. */
int containerd_delete_image(struct containerd *containerd, const char *name, bool sync,
			    struct error *err);

void containerd_images_release(struct containerd_images *images);

/* For tests: the images in MESSAGE, an answer to a list of images. */
int containerd_parse_images(struct protobuf message, struct containerd_images *ret,
			    struct error *err);
