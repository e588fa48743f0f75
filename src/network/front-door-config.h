/* The configuration of a cluster's front door. */
#pragma once

#include "balancer/balancer.h"
#include "record/profile.h"

/*
 * Fill RET for PROFILE: the addresses to listen at, the control planes to forward to, the origins
 * whose DNS queries are answered, and the forwarded ports of the host.  Control planes called
 * WITHOUT (may be NULL) are left out.  RESOLV is the text of the host's resolv.conf, "" if there is
 * none.  A pure function of its arguments.
 */
int front_door_config(const struct profile *profile, const struct strlist *without,
		      const char *resolv, struct balancer_config *ret, struct error *err);
