/*
 * Keeping the registry of a cluster running, in the event loop of the front door's keeper.
 *
 * A registry that ends is started again after a delay.  Connections wait meanwhile, because the
 * listening sockets stay open.
 */
#pragma once

#include "base/loop.h"
#include "registry/cell.h"

struct registry_keep;

struct registry_keep *registry_keep_new(struct loop *loop);

/* Ends the registry. */
void registry_keep_free(struct registry_keep *keep);
DEFINE_CLEANUP(struct registry_keep *, registry_keep_free)

/*
 * Run WANTED, or no registry (NULL).  One that runs is kept if it is the same and SAME_SOCKETS;
 * otherwise it is ended first, which takes a second at most.  The sockets are duplicated.
 */
int registry_keep_set(struct registry_keep *keep, const struct cell *wanted, bool same_sockets,
		      struct error *err);

/* The pid of the registry; 0 if none runs at the moment. */
pid_t registry_keep_pid(const struct registry_keep *keep);
