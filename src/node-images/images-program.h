/* Requests about images to nodes with a kernel of their own, where only programs can be run. */
#pragma once

#include "node-images/node-images.h"

/* Start a program in AT that carries out REQUEST and writes what node_images_parse() reads to
 * RET_ANSWER, at most IMAGES_ANSWER_BYTES; its exit status is an errno.  -ENOTSUP for
 * NODE_IMAGES_INSTALL. */
int images_program_start(const struct cluster_node *at, const struct node_images_request *request,
			 struct process *ret_process, int *ret_answer, struct error *err);
