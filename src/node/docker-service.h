/*
 * The Docker daemons of nodes; node/docker.h says how they work.
 *
 * The caller holds the profile's lock.
 */
#pragma once

#include "base/observer.h"
#include "record/profile.h"

/* -ENOTSUP with reason_usage if NODE is of a kind that can have no Docker daemon. */
int docker_service_check(const struct node *node, struct error *err);

/*
 * Make the Docker daemon of NODE of PROFILE, which must run, answer: get its program unless it is
 * in the cache, start it, and wait for it.  -ENOTSUP if the node was started by an earlier version
 * of manykube.
 */
int docker_service_up(struct profile *profile, struct node *node, struct observer *observer,
		      struct error *err);

/* Stop the Docker daemon of NODE, with its containers, for good.  Not an error if there is none. */
int docker_service_down(struct profile *profile, struct node *node, struct error *err);

/* Give NODE the settings of its Docker daemon and its registries that WANTED has; the daemon is
 * restarted if it runs. */
int docker_service_change(struct profile *profile, struct node *node,
			  const struct node_settings *wanted, struct error *err);
