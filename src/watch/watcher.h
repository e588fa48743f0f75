/*
 * The watcher: a process without privileges that watches the cluster's API.
 *
 * It gives services of type LoadBalancer their addresses (balance.h), and tells the keeper through
 * which node this host reaches each of them (frame.h).  It derives the policies of each node from
 * network policies, and sends them, too (policies.h).  It parses what the API servers send, which
 * run on nodes, so it is confined like the front door's worker (host/cage.h).
 */
#pragma once

#include "base/process.h"
#include "watch/config.h"

/* Start a watcher for CONFIG with the identity in the file PEM; *RET_FD is the keeper's end of the
 * stream of messages.  The watcher ends with the calling process. */
int watcher_start(uid_t uid, const struct watch_config *config, const char *pem,
		  struct process *ret_process, int *ret_fd, struct error *err);
