/*
 * Changing the pod network of a cluster.
 *
 * The change is recorded first: the network that the cluster is to have, the one that it had, and
 * the nodes whose pods still have to be made anew.  From then on, everything that is started, added
 * or deleted has the new network, and cluster_finish_network() continues after any interruption.
 * What remains of the old network on a node that does not run goes with its start.
 */
#pragma once

#include "base/observer.h"
#include "payload/payload.h"
#include "record/profile.h"

/* Note in PROFILE that its pod network was that of BEFORE; nothing if that is the same.  The caller
 * saves PROFILE. */
void cluster_note_network(struct profile *profile, const struct profile *before);

/*
 * Change the pod network of PROFILE to CNI with BACKEND; either may be NULL, which keeps it.  Does
 * nothing if PROFILE has it and no change is unfinished.  Gets what the network needs first, so
 * nothing is changed if that fails.  Each node may take up to SECONDS until its pods are back: a
 * node that takes longer is a warning.  Returns whether anything was done.
 */
int cluster_change_network(struct profile *profile, const char *cni, const char *backend,
			   unsigned seconds, struct observer *observer, struct error *err);

/* Finish the recorded change of PROFILE, if there is one. */
int cluster_finish_network(struct profile *profile, unsigned seconds, struct observer *observer,
			   struct error *err);
