/* The network link of a VM on this host. */
#pragma once

#include "host/link.h"

/*
 * Add the tap NAME, attached to BRIDGE, without IPv6 and up; *RET_FD is the end of the VM.  An old
 * link NAME is removed first.  It exists until RET_FD and all copies of it are closed.
 */
int tap_add(struct link_socket *socket, const char *name, const char *bridge, int *ret_fd,
	    struct error *err);
