/*
 * Users' images in running nodes.
 *
 * A node sees the store of its cluster (image/image.h) in NODE_SHARED_DIR.  An image is installed
 * by symbolic links from containerd's directories into the store, so nothing is copied, and by
 * calls that tell containerd of it.  A process in the node with no more rights than the node's root
 * makes them (node_driver.call): the host's root parses nothing of what containerd says but a list
 * in a strict form (node_images_parse()).
 *
 * Any number of requests may run at once, also on one node.  One that was interrupted has installed
 * an image completely or not at all, and may be repeated.
 */
#pragma once

#include "image/image.h"
#include "node/cluster-node.h"

/* An image as a node has it. */
struct node_image {
	char *name;                   /* docker.io/library/app:latest, or sha256:HEX */
	char digest[SHA256_HEX_SIZE]; /* of the manifest or the index */
	char config[SHA256_HEX_SIZE]; /* its ID, by which the kubelet calls it; "" if unknown */
	uint64_t size;                /* of its contents as far as the node has them */
	bool managed;                 /* the kubelet knows of it */
	bool pinned;                  /* the kubelet does not remove it */
};

struct node_image_list {
	struct node_image *items;
	size_t count;
	struct strlist used_blobs;  /* what the node needs of the store, by digest */
	struct strlist used_layers; /* by diff ID */
};

#define NODE_IMAGE_LIST_INIT ((struct node_image_list){ NULL })

enum node_images_verb {
	/* Make the images WANTED available under all their names.  A name of another image is
	 * taken from it. */
	NODE_IMAGES_INSTALL,
	/* List images, and what the node needs of the store. */
	NODE_IMAGES_LIST,
	/* Give the image FROM the further name TO; -ENOENT if there is no image FROM. */
	NODE_IMAGES_TAG,
	/* Remove the names NAMES, and images without a name; -ENOENT if there is none of them.
	 * Containers that run keep what they need, as with crictl. */
	NODE_IMAGES_REMOVE,
};

struct node_images_request {
	enum node_images_verb verb;
	const struct image_list *wanted; /* for INSTALL */
	const char *from;                /* for TAG */
	const char *to;
	const struct strlist *names; /* for REMOVE */
};

/* A request to one node, and what became of it. */
struct node_images_task {
	const struct node *node;
	int result; /* 0 or a negative errno, with the error below */
	struct error err;
	struct node_image_list list; /* after LIST */
};

#define NODE_IMAGES_TASK_INIT ((struct node_images_task){ .list = { NULL } })

/*
 * Do REQUEST on the nodes of all COUNT TASKS at once, and fill in what became of it.  Waits for a
 * containerd that has just been started; a node that does not do its part within
 * node_images_limit_ms() gets -ETIMEDOUT.  -ENOTSUP for NODE_IMAGES_INSTALL if the node's
 * driver cannot, or the node does not see the store because it was started by an earlier version:
 * then node_images_import() has to do.
 */
void node_images_run(const struct profile *profile, const struct node_images_request *request,
		     struct node_images_task *tasks, size_t count);

/* Whether the containerd of NODE, which runs, accepts connections but does not answer; this takes
 * two seconds. */
bool node_images_is_hung(const struct profile *profile, const struct node *node);

/* How long a node may take for REQUEST: a minute, and more for each layer to install. */
int node_images_limit_ms(const struct node_images_request *request);

void node_images_task_release(struct node_images_task *task);
void node_image_list_release(struct node_image_list *list);

/* The same for one node. */
int node_images_install(const struct profile *profile, const struct node *node,
			const struct image_list *wanted, struct error *err);
int node_images_list(const struct profile *profile, const struct node *node,
		     struct node_image_list *ret, struct error *err);
int node_images_tag(const struct profile *profile, const struct node *node, const char *from,
		    const char *to, struct error *err);
int node_images_remove(const struct profile *profile, const struct node *node,
		       const struct strlist *names, struct error *err);

/* Import the open file ARCHIVE, with the position at its beginning, by the node's own program.  It
 * copies and unpacks everything; for nodes that cannot install from the store. */
int node_images_import(const struct profile *profile, const struct node *node, const char *archive,
		       int fd, struct error *err);

/* Whether WORD stands for IMAGE: its name, or "sha256:" and at least 12 digits of its ID, which is
 * the digest of its manifest or of its configuration. */
bool node_image_is(const struct node_image *image, const char *word);

/* The answer of a process in a node, which may be hostile.  An error in it is returned as
 * NODE_ERROR_CODE (-EIO) with its words made printable. */
int node_images_parse(const char *text, size_t len, struct node_image_list *ret, struct error *err);
