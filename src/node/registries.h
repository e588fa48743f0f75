/* Where containerd on a node gets images from: mirrors, and registries without valid certificates.
 * containerd reads these files at every pull, so they may change at any time.  Also, how other
 * programs on a node reach the cluster's registry. */
#pragma once

#include "record/profile.h"

/* Write NODE's etc/containerd/certs.d for PROFILE; files there that manykube did not write are
 * kept.  The agent of a running NODE forwards localhost:PORT to the cluster's registry from then
 * on, if the cluster has one. */
int registries_write(const struct profile *profile, const struct node *node, struct error *err);

/* Let RET be PROFILE with NODE's registries besides those of the cluster, for the functions below;
 * it is valid as long as PROFILE, and released with registries_release(). */
void registries_of_node(const struct profile *profile, const struct node *node,
			struct profile *ret);
void registries_release(struct profile *told);

/* The names of all registries that PROFILE configures. */
void registries_list(const struct profile *profile, struct strlist *ret_names);

/* The containerd configuration for the registry NAME, for the caller to free. */
char *registries_text(const struct profile *profile, const char *name) must_check;
