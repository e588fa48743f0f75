/*
 * Starting the registry of a cluster (payload/registry-main.go) in confinement.
 *
 * The program parses what nodes, pods and users of this host send, so it has nothing to lose: a
 * user of its own without capabilities; its data directory, in which nothing can be executed, as
 * its root directory; an empty network, which it cannot leave; and, besides the system calls that
 * nodes do not have (host/confine.h), no sockets, mounts and namespaces.  The listening sockets
 * that it inherits are all that connects it to others.
 */
#pragma once

#include "base/process.h"

struct cell {
	const char *program; /* a static program */
	const char *data;    /* its directory, which is made if it is missing */
	const int *sockets;  /* passed on; their numbers are the program's arguments */
	size_t count;
};

#define CELL_SOCKETS_MAX 8

/* The user of the registry with the directory DATA. */
uid_t cell_uid(const char *data);

/* Start the program; it ends when the calling process ends.  Only root can do this. */
int cell_start(const struct cell *cell, struct process *ret, struct error *err);
