/* The process that listens at a port of this host. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

#include "base/macro.h"

/*
 * A listening socket in LINE, of /proc/net/tcp or tcp6, that keeps others from PORT of ADDRESS: one
 * at that address or at all, or any if ADDRESS is 0.0.0.0.
 */
bool port_holder_parse(const char *line, struct in_addr address, unsigned port,
		       unsigned long *ret_inode);

/* The words for who listens at PORT of ADDRESS: "'nginx' (process 812)" or "cluster 'dev'"; NULL if
 * that cannot be found out, for instance without root.  The caller frees them. */
char *port_holder(struct in_addr address, unsigned port) must_check;
