/* What the process in a node does for node-images/node-images.h. */
#pragma once

#include "api/grpc.h"
#include "node-images/node-images.h"

/* The most bytes of an answer. */
#define IMAGES_ANSWER_BYTES (8 << 20)

struct images_order {
	const struct node_images_request *request;
	struct grpc *grpc; /* for containerd's socket, not connected yet */
	int answer;        /* of images_make_answer() */
};

#define IMAGES_SOCKET "/run/containerd/containerd.sock"

/* Carry out the struct images_order ARG in the node; for node_driver.call. */
int images_inside(const void *arg);

/* A file in memory for the text that node_images_parse() reads.  Whoever has it cannot make it
 * larger than IMAGES_ANSWER_BYTES. */
int images_make_answer(struct error *err);

/* Make TEXT the contents of the file FD of images_make_answer(); -EMSGSIZE if it is too long. */
int images_write_answer(int fd, const struct strbuf *text);
