/*
 * Node drivers: the ways to implement a node.
 *
 * The cluster code accesses nodes only through this table.  Each driver is one file, driver-NAME.c,
 * which exports nothing but its table, with further files NAME-*.c that only it uses.  All
 * operations may be repeated: create() on an existing node and destroy() on a missing one succeed,
 * because a command may be interrupted at any point and run again.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"
#include "base/observer.h"
#include "base/process.h"
#include "base/strlist.h"
#include "data/inet6.h"
#include "driver/files.h"
#include "probe/probe.h"

enum node_state {
	NODE_ABSENT,  /* it does not exist */
	NODE_STOPPED, /* its files exist, but it does not run */
	NODE_RUNNING,
};

/* Where a node sees node_spec.shared. */
#define NODE_SHARED_DIR "/opt/manykube/shared"

/* The path of the kubelet in a node.  A kubelet other than the payload's is mounted there. */
#define NODE_KUBELET "/opt/manykube/bin/kubelet"

/* A directory or file of the host that is mounted in the node. */
struct node_mount {
	char *host;
	char *node; /* the path in the node, made if missing */
	bool read_only;
};

/* Everything that a driver needs to know about a node. */
struct node_spec {
	const char *cluster; /* the cluster's unique name on this host */
	const char *profile; /* the cluster's name for users */
	const char *name;
	const char *dir;     /* the driver's directory for it on the host; destroy() removes it */
	const char *payload; /* the directory of its payload */
	const char *shared;  /* a directory of the host that all nodes of the cluster can read as
			      * NODE_SHARED_DIR; start() makes it if it is missing */
	const char *base;    /* the root file system that provides its /usr; NULL: the host's */
	const char *base_image; /* the directory or tar archive that BASE is from, and */
	const char *kernel;     /* the kernel of VMs; NULL: those of the driver */
	const char *bridge;     /* the bridge it is connected to; links are called BRIDGE.SLOT */
	struct in_addr address;
	unsigned prefix;
	struct in_addr gateway;
	bool default_route; /* whether the gateway is its default route */
	bool has_ipv6;      /* whether it has these, too */
	struct in6_addr address6;
	struct in6_addr gateway6;
	unsigned prefix6;
	bool offline;   /* nothing may be downloaded for it */
	bool demanding; /* for prepare(): it is useless unless its processors are fast */
	unsigned slot;  /* unique in the cluster, 1 to 254; ids and link names derive from it */
	unsigned cpus;  /* 0: all */
	uint64_t memory_bytes;
	uint64_t disk_bytes; /* size of the file system for /var; 0: on the host's file system */
	const struct node_mount *mounts;
	size_t mount_count;
	struct strlist writable; /* host directories that a node of the cluster can write to */
};

/* The resources used by a node, and its condition. */
struct node_usage {
	uint64_t memory_bytes;    /* memory in use; 0 if unknown */
	uint64_t disk_bytes;      /* space in use on its own disk; 0 if unknown */
	uint64_t disk_size_bytes; /* size of its own disk, also while it is stopped; 0 if unknown */
	bool paused;              /* all its processes are frozen */
	bool stopping;            /* it is shutting down */
	bool halted;              /* its agent is stopped by a signal, so nothing is restarted */
	const char *trouble;      /* what is wrong with its kernel, or was when it ended; a constant
				   * such as "its kernel panicked"; NULL: nothing, or unknown */
};

struct node_driver {
	const char *name;
	const char *summary;
	bool needs_root; /* only root can make, enter and remove its nodes */
	bool has_kernel; /* its nodes have a kernel of their own, which can be chosen */

	/* The memory of nodes that have memory of their own instead of a share of the host's: if
	 * nobody says how much, and at least.  0: they share the host's. */
	uint64_t memory_default;
	uint64_t memory_least;

	/* Check whether this host can run such nodes and, if WITH_DISKS, nodes with their own
	 * disks. ERR names what is missing. */
	int (*probe)(bool with_disks, struct error *err);

	/* What is worse than it could be on this host, although probe() succeeds, for the caller to
	 * free; NULL if nothing is.  The function may be NULL. */
	char *(*find_caveat)(void);

	/* Call FN for everything that this host should have for such nodes, like probe_each(). */
	int (*check_host)(probe_fn fn, void *data);

	/* Get what the node needs that takes long, such as a download, and that others share;
	 * called before anything of the cluster is made.  NULL: nothing. */
	int (*prepare)(const struct node_spec *spec, struct observer *observer, struct error *err);

	/* Make the node's files: its directory, /var with the payload's images, an empty /etc. */
	int (*create)(const struct node_spec *spec, struct error *err);

	/* Start it unless it runs; returns when its PID 1 runs. */
	int (*start)(const struct node_spec *spec, struct error *err);

	/* Apply the CPUs and memory of SPEC to a running node, and show them in it.  Running
	 * programs that have already read them, such as the kubelet, do not notice. */
	int (*limit)(const struct node_spec *spec, struct error *err);

	/* Shut it down within GRACE_SECONDS (0: kill it), keeping its files.  If it is already
	 * shutting down, wait for that. */
	int (*stop)(const struct node_spec *spec, unsigned grace_seconds, struct error *err);

	/* Freeze all its processes, -ESRCH if it does not run, or thaw them.  stop() and destroy()
	 * also work on a frozen node. */
	int (*freeze)(const struct node_spec *spec, bool frozen, struct error *err);

	/* Kill it if it runs, and remove everything that belongs to it. */
	int (*destroy)(const struct node_spec *spec, struct error *err);

	/* After all nodes of CLUSTER (spec->cluster) are destroyed: remove what they shared, and
	 * remains of nodes that are no longer in the record. */
	int (*destroy_cluster)(const char *cluster, struct error *err);

	/* Its state; needs no root. */
	enum node_state (*query)(const struct node_spec *spec);

	/* Its files. */
	const struct node_files *files;

	/* The resources it uses; needs no root. */
	void (*measure)(const struct node_spec *spec, struct node_usage *ret_usage);

	/* Send SIGNAL (0: none) to its processes that run the program NAME, of at most 15
	 * characters.  Returns the number of such processes. */
	unsigned (*signal)(const struct node_spec *spec, const char *name, int signal);

	/* Run a program in it as its root; -ESRCH if the node does not run, -EBUSY with
	 * reason_node_paused if it is frozen. */
	int (*spawn)(const struct node_spec *spec, char *const *argv,
		     const struct process_options *options, struct process *ret_process,
		     struct error *err);

	/*
	 * Start WORK, a function of this program, in a process in it that has no more rights than
	 * its root; see namespace_start().  Errors are those of spawn().  NULL for drivers whose
	 * nodes have a kernel of their own: their callers use spawn().
	 */
	int (*call)(const struct node_spec *spec, int (*work)(const void *arg), const void *arg,
		    const int *fds, size_t count, struct process *ret_process, struct error *err);

	/* Open a pseudo-terminal of the node: our end, and the end for a program in it. */
	int (*open_terminal)(const struct node_spec *spec, int *ret_ours, int *ret_theirs,
			     struct error *err);

	/* Check whether programs in it can connect to PORT of ADDRESS within TIMEOUT_MS. */
	int (*reach)(const struct node_spec *spec, struct in_addr address, unsigned port,
		     int timeout_ms, struct error *err);

	/*
	 * Check whether the service at PLACE in it, a port of 127.0.0.1 ("10248") or the path of a
	 * Unix socket, answers WORDS within TIMEOUT_MS (at most 9000).  -ETIMEDOUT if it accepts
	 * the connection but does not answer, another negative code if nothing listens there.
	 */
	int (*ask)(const struct node_spec *spec, const char *place, const char *words,
		   int timeout_ms, struct error *err);

	/* Whether a running node has lost the programs of its payload because the directory was
	 * removed from the host.  Stopping and starting the node restores them. */
	bool (*lacks_programs)(const struct node_spec *spec);

	/* Set or remove the route to the pods of another node. */
	int (*route)(const struct node_spec *spec, struct in_addr pods, unsigned prefix,
		     struct in_addr via, bool remove, struct error *err);

	/* The same for IPv6; NULL for drivers whose nodes have none. */
	int (*route6)(const struct node_spec *spec, const struct subnet6 *to,
		      const struct in6_addr *via, bool remove, struct error *err);

	/*
	 * Make RULES the contents of the nftables table `inet NAME` in its network, in one
	 * transaction (host/firewall.h), or delete the table if RULES is NULL; -ESRCH if the
	 * node does not run.  Also works on a frozen node.  NULL for drivers whose nodes have a
	 * kernel of their own: their callers run nft in the node.
	 */
	int (*filter)(const struct node_spec *spec, const char *name, const char *rules,
		      struct error *err);
};

extern const struct node_driver node_driver_native;
extern const struct node_driver node_driver_docker;
extern const struct node_driver node_driver_qemu;

/* The driver called NAME, or NULL. */
const struct node_driver *node_driver_find(const char *name);

/* The name of the driver that NAME, perhaps minikube's name for it, stands for: "qemu" for "kvm2".
 * NULL if NAME leaves the choice to manykube: "auto", or minikube's words for no driver.  A name
 * that nobody knows stands for itself. */
const char *node_driver_resolve(const char *name);

/* -EINVAL with reason_usage unless NAME is a driver; the error lists the drivers. */
int node_driver_check(const char *name, struct error *err);

/* The driver for nodes without a named one, also in records. */
const struct node_driver *node_driver_default(void);

/* The name of the default driver, where a constant is needed. */
#define NODE_DRIVER_DEFAULT "native"

/* The drivers, numbered from 0; NULL after the last one. */
const struct node_driver *node_driver_at(size_t number);

/* For tests: make DRIVER the default and the only one for node_driver_at(); node_driver_find()
 * still finds the others. */
void node_driver_replace(const struct node_driver *driver);
