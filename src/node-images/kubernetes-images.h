/* Kubernetes' own images, which every node has under their names, and which somebody may have
 * removed or replaced there. */
#pragma once

#include "node-images/node-images.h"

/* Restore Kubernetes' images on the nodes called NODES, as far as these run and are not paused; a
 * warning tells which node had others. */
int kubernetes_images_repair(const struct profile *profile, const struct strlist *nodes,
			     struct error *err);

/* The first of NAMES that NODE needs, but that is not the image with the ID of the same place in
 * IDS in LIST; NULL if all are. */
const char *kubernetes_images_find_wrong(const struct node *node,
					 const struct node_image_list *list,
					 const struct strlist *names, const struct strlist *ids);
