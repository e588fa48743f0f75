/* Kubernetes' own images in the stores of nodes that run. */
#pragma once

#include "cluster/profile.h"
#include "payload/payload.h"

/* See that NODE has those images of PAYLOAD that it runs; what is there by its name stays. */
int images_import(const struct profile *profile, const struct node *node,
		  const struct payload *payload, struct error *err);
