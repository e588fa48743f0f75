/* Shared by the commands of `image`. */
#pragma once

#include "cmd/command.h"
#include "node-images/node-images.h"
#include "node-images/own-images.h"
#include "node/cluster-node.h"

/* --node of these commands, in the struct strlist TO_. */
#define OPT_IMAGE_NODES(to_, help_) \
	OPT_WORDS('n', "node", to_, "NODE", help_, .complete = COMPLETE_NODE)

/* Check that the cluster of CTX has the nodes NAMES. */
int image_need_nodes(const struct command_context *ctx, const struct strlist *names,
		     struct error *err);

/* The nodes chosen with --node: NULL for all if none was. */
const struct strlist *image_chosen(const struct strlist *names);

/* The node called NAME or, if that is NULL, the primary; it must be running and not paused. */
int image_need_awake(const struct command_context *ctx, const char *name, struct node **ret_node,
		     struct error *err);

/* Complete the names in OPERANDS: docker.io/library/app:latest for app, sha256:HEX for an ID. */
int image_complete_names(char *const *operands, struct strlist *ret, struct error *err);

/* -EINVAL with reason_usage if NAMES has one of Kubernetes' own images, which stay as they are. */
int image_refuse_kubernetes(const struct command_context *ctx, const struct strlist *names,
			    struct error *err);

/* The same for TAGS, which need not be complete. */
int image_refuse_tags(const struct command_context *ctx, const struct strlist *tags,
		      struct error *err);

/* Give the nodes what is in the store, and say what became of IMAGES: DONE is "Loaded". */
int image_spread(struct command_context *ctx, const struct strlist *nodes,
		 const struct strlist *images, const char *done, struct observer *observer,
		 struct error *err);

/* List the images of NODE, unless its containerd hangs. */
int image_list_node(const struct command_context *ctx, const struct node *node,
		    struct node_image_list *ret, struct error *err);

/* The name of the image that WORD of image_complete_names() stands for on NODE, for the caller to
 * free; -ENOENT with reason_node_path if it has none. */
int image_find_on_node(const struct command_context *ctx, const struct node *node, const char *word,
		       char **ret_name, struct error *err);

/* The names of the images in LIST, shortened for people; the ID of one without a name. */
void image_list_names(const struct image_list *list, struct strlist *ret);

/* A program that works on images in a node.  What it says is kept for the error: its words come
 * from the node, which may be hostile. */
struct image_program {
	struct cluster_node at;
	struct process process;
	int said;
};

#define IMAGE_PROGRAM_INIT \
	((struct image_program){ .at = { NULL }, .process = PROCESS_INIT, .said = -1 })

/* Start ARGV in NODE with OUTPUT as its standard output, of which at most MOST bytes (0: any
 * number) are taken; with -1, what it prints is kept, too. */
int image_program_start(const struct command_context *ctx, const struct node *node,
			char *const *argv, int output, uint64_t most, struct image_program *ret,
			struct error *err);

/* Wait for PROGRAM to end.  R is the result of reading its output; if the program failed, its own
 * words explain why WHAT could not be done. */
int image_program_end(struct image_program *program, int r, const char *what, struct error *err);
void image_program_release(struct image_program *program);

/* Read the image NAME, which ARGV in NODE writes to its standard output as an archive, into the
 * store, for the nodes NODES (NULL: all). */
int image_add_from_node(struct command_context *ctx, const struct node *node, char *const *argv,
			const char *name, const struct strlist *nodes, struct observer *observer,
			struct image_list *ret_added, struct error *err);
