/*
 * HTTP proxies: those of the caller, which the nodes of a new cluster use too, and what nodes reach
 * without a proxy.
 */
#pragma once

#include "base/strlist.h"
#include "record/profile.h"

/*
 * Add HTTP_PROXY, HTTPS_PROXY and NO_PROXY to ENV, variables as "NAME=VALUE", as LOOK_UP finds them
 * in the caller's environment (also in lower case), unless ENV has a variable of that name. Nothing
 * is added unless a proxy is.  A proxy at a loopback address of the host is left out, since no node
 * reaches it, and its variable's name is added to RET_LOCAL: the value may contain a password.
 */
void http_proxy_inherit(char *(*look_up)(const char *name), struct strlist *env,
			struct strlist *ret_local);

/*
 * Add the variables ENV of a service on a node of PROFILE to RET.  If they name a proxy, NO_PROXY
 * also has the cluster's networks and names, so that the API, nodes, pods and services are reached
 * without it.
 */
void http_proxy_environment(const struct profile *profile, const struct strlist *env,
			    struct strlist *ret);
