/*
 * Node drivers: the ways a node can exist.
 *
 * The cluster code knows nodes only through this table.  Each driver is one
 * file, driver-NAME.c, whose functions are static and whose only symbol is its
 * table.  All operations may be repeated: create() on an existing node and
 * destroy() on a missing one succeed, because a run may be cut short at any
 * point and be tried again.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"
#include "base/process.h"
#include "base/strlist.h"
#include "driver/files.h"
#include "host/probe.h"

enum node_state {
	NODE_ABSENT,  /* nothing of it exists */
	NODE_STOPPED, /* its files exist, it does not run */
	NODE_RUNNING,
};

/* A directory or file of the host that the node has, too. */
struct node_mount {
	char *host;
	char *node; /* made if missing */
	bool read_only;
};

/* All that a driver needs to know about one node. */
struct node_spec {
	const char *cluster;
	const char *profile; /* what people call the cluster */
	const char *name;
	const char *dir; /* the driver's directory for it on the host, which destroy() removes */
	const char *payload; /* directory of the payload that it runs */
	const char
		*base; /* directory of the root file system whose /usr it has; NULL: the host's */
	const char *bridge; /* the driver connects the node to it; links are called BRIDGE.SLOT */
	struct in_addr address;
	unsigned prefix;
	struct in_addr gateway;
	bool default_route; /* whether the gateway leads outside */
	unsigned slot;      /* unique in the cluster, 1 … 254: ids and link names come from it */
	unsigned cpus;      /* 0: all */
	uint64_t memory_bytes;
	uint64_t disk_bytes; /* size of the file system that is its /var; 0: it is the host's */
	const struct node_mount *mounts;
	size_t mount_count;
	struct strlist
		writable; /* directories of the host that some node of the cluster can write to */
};

/* What a running node is doing with the host. */
struct node_usage {
	uint64_t memory_bytes; /* what it holds; 0 if that is not known, as is the next */
	uint64_t disk_bytes;   /* what is in use of its own disk */
	bool paused;           /* all of it is frozen */
	bool stopping;         /* it was told to shut down, and has not ended yet */
};

struct node_driver {
	const char *name;
	const char *summary;
	bool needs_root; /* only root can make, enter and remove its nodes */

	/* Whether this host can run such nodes, also those WITH_DISKS; ERR says what is missing. */
	int (*probe)(bool with_disks, struct error *err);

	/* Tell FN of everything that this host should have for such nodes, as probe_each() does. */
	int (*check_host)(probe_fn fn, void *data);

	/* Make what the node keeps: its directory, /var with the payload's images, an empty /etc.
	 */
	int (*create)(const struct node_spec *spec, struct error *err);

	/* Bring it up unless it runs; returns when its PID 1 does. */
	int (*start)(const struct node_spec *spec, struct error *err);

	/* Hold a running node to the cpus and memory that SPEC has now, and show it these; what has
	 * looked already, as its kubelet, does not look again. */
	int (*limit)(const struct node_spec *spec, struct error *err);

	/* Shut it down in order within GRACE_SECONDS (0: kill it), keeping its files.  A node that
	 * is shutting down already finishes that. */
	int (*stop)(const struct node_spec *spec, unsigned grace_seconds, struct error *err);

	/* Freeze all of it, -ESRCH if it does not run, or thaw it, which then goes on where it was.
	 * stop() and destroy() work on a frozen node as well. */
	int (*freeze)(const struct node_spec *spec, bool frozen, struct error *err);

	/* Remove every trace of it; kills it if it runs. */
	int (*destroy)(const struct node_spec *spec, struct error *err);

	/* Remove what the nodes of CLUSTER (spec->cluster) had together, and what is left on the
	 * host of nodes that nobody knows of any more, once the others are gone. */
	int (*destroy_cluster)(const char *cluster, struct error *err);

	/* Whether it runs; needs no root. */
	enum node_state (*query)(const struct node_spec *spec);

	/* Its files. */
	const struct node_files *files;

	/* What it takes of the host; needs no root. */
	void (*measure)(const struct node_spec *spec, struct node_usage *ret_usage);

	/* Send SIGNAL (0: none) to the processes of it that run the program NAME, of at most 15
	 * characters; returns how many there are. */
	unsigned (*signal)(const struct node_spec *spec, const char *name, int signal);

	/* Run a program in it as its root; -ESRCH if the node does not run, -EBUSY with
	 * reason_node_paused if it is frozen. */
	int (*spawn)(const struct node_spec *spec, char *const *argv,
		     const struct process_options *options, struct process *ret_process,
		     struct error *err);

	/* Open a pseudo-terminal of the node: our side, and the side for a program in it. */
	int (*open_terminal)(const struct node_spec *spec, int *ret_ours, int *ret_theirs,
			     struct error *err);

	/* Whether a program in it can connect to PORT of ADDRESS within TIMEOUT_MS. */
	int (*reach)(const struct node_spec *spec, struct in_addr address, unsigned port,
		     int timeout_ms, struct error *err);

	/*
	 * Whether the service at PLACE in it, a port of 127.0.0.1 ("10248") or the path of a Unix
	 * socket, answers WORDS with anything within TIMEOUT_MS (at most 9000): -ETIMEDOUT if it
	 * takes the connection but stays silent, another negative code if nobody listens there.
	 */
	int (*ask)(const struct node_spec *spec, const char *place, const char *words,
		   int timeout_ms, struct error *err);

	/* Set the route to another node's pods, or remove it. */
	int (*route)(const struct node_spec *spec, struct in_addr pods, unsigned prefix,
		     struct in_addr via, bool remove, struct error *err);
};

extern const struct node_driver node_driver_native;

/* The driver called NAME, or NULL. */
const struct node_driver *node_driver_find(const char *name);

/* -EINVAL with reason_usage, naming those there are, unless NAME is a driver. */
int node_driver_check(const char *name, struct error *err);

/* The driver of nodes for which none is named; also of those in records that have no driver. */
const struct node_driver *node_driver_default(void);

/* Its name, where a constant is needed. */
#define NODE_DRIVER_DEFAULT "native"

/* Each driver there is, by a number from 0 on; NULL after the last one. */
const struct node_driver *node_driver_at(size_t number);

/* For tests: from now on DRIVER is the default, and the only one that node_driver_at() knows;
 * node_driver_find() still knows the others. */
void node_driver_replace(const struct node_driver *driver);
