/* What the front door of a cluster is to do. */
#pragma once

#include "balancer/balancer.h"
#include "record/profile.h"

/*
 * Fill RET for PROFILE: where the front door listens, which control planes it leads to, whose names
 * it answers, which ports of the host it passes on.  Control planes called WITHOUT (may be NULL)
 * are left out.  RESOLV is the host's resolv.conf, "" if there is none.  Looks at nothing else.
 */
int front_door_config(const struct profile *profile, const struct strlist *without,
		      const char *resolv, struct balancer_config *ret, struct error *err);
