/*
 * The front door: the stable API address of a cluster.
 *
 * Each cluster has two processes, each with one event loop: a privileged keeper (keeper.c) and an
 * unprivileged worker, which does all networking (worker.h).  The worker listens on the bridge's
 * address and on a fixed loopback port, checks /readyz of every control plane each second, and
 * forwards TCP connections to a healthy one.  On the bridge's address, it also answers DNS queries
 * of nodes: it relays them to the host's servers or, if the cluster is offline, answers "no such
 * name". It forwards ports of the host to nodes.  The keeper maintains the cluster's firewall
 * rules, runs its registry, if it has one (registry/keep.h), and the process that watches its API
 * (watch/keep.h).
 *
 * DIR is the profile's directory.  It contains:
 *  - front-door.json, written by balancer_configure() and read again by the keeper when it changes;
 *  - front-door.lock, held by the keeper, with its pid;
 *  - front-door.status.json, written by the keeper once the worker listens and whenever the health
 * of a control plane changes: {"pid": N, "worker": N, "registry": N, "watcher": N, "revision": N,
 * "registryListens": [addresses that it holds for the registry], "backends": [{"name", "address",
 * "healthy", "since" (epoch), "detail"}]};
 *  - front-door.log.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strlist.h"
#include "watch/nodes.h"

struct balancer_backend {
	char *name;    /* the node's name */
	char *address; /* "10.89.0.2:6443" */
};

/* A port of the host; connections go to the first address in TO that accepts them. */
struct balancer_forward {
	char *listen;      /* "127.0.0.1:8080" */
	struct strlist to; /* "10.89.0.2:30080" */
};

/* A node as an origin of connections; it counts together with its pods. */
struct balancer_origin {
	char *address; /* "10.89.0.2" */
	char *pods;    /* "10.244.1.0/24", or NULL */
};

/* The cluster's own registry, see registry/cell.h. */
struct balancer_registry {
	char *program;
	char *data;
	struct strlist listen; /* "127.0.0.1:5000", "10.89.0.1:5000" */
};

struct balancer_config {
	struct strlist listen; /* "10.89.0.1:6443", "127.0.0.1:41234" */
	struct balancer_backend *backends;
	size_t backend_count;
	struct balancer_forward *forwards;
	size_t forward_count;
	char *dns_listen;            /* "10.89.0.1:53", or NULL */
	struct strlist dns_upstream; /* "192.0.2.53:53"; empty: answer "no such name" */

	/* Origins of connections, see origin.h.  Without networks, DNS is open to all. */
	struct balancer_origin *origins;
	size_t origin_count;
	struct strlist networks; /* "10.89.0.0/24", "10.244.0.0/16", "fd00::/48" */

	/* The cluster's registry, which the keeper runs; its program is NULL if there is none. */
	struct balancer_registry registry;

	/* Firewall rules to maintain, see guard.h. */
	char *bridge;              /* also the name of the nftables table; NULL: no rules */
	char *rules;               /* the contents of that table */
	struct strlist host_ports; /* "tcp 6443": ports of the host that nodes may reach */
};

#define BALANCER_CONFIG_INIT ((struct balancer_config){ { NULL } })

void balancer_config_add_backend(struct balancer_config *config, const char *name,
				 const char *address);

void balancer_config_add_origin(struct balancer_config *config, const char *address,
				const char *pods);

/* Add an empty forward and return it.  Invalidates earlier pointers to forwards. */
struct balancer_forward *balancer_config_add_forward(struct balancer_config *config);

/* CONFIG as JSON, without the firewall rules and the registry; the caller frees the text. */
char *balancer_config_print(const struct balancer_config *config) must_check;

/* Parse the text of front-door.json; -EINVAL if it is invalid. */
int balancer_config_parse(const char *text, size_t len, struct balancer_config *ret,
			  struct error *err);
void balancer_config_release(struct balancer_config *config);

/* Write the configuration to DIR; a running front door applies it. */
int balancer_configure(const char *dir, const struct balancer_config *config, struct error *err);

/*
 * Start the front door of DIR unless it runs; returns once it listens.  A front door of an earlier
 * version is replaced.  ERR describes why it cannot start, such as an address in use.  It is
 * started as `manykube front-door DIR`; tests set another program with MANYKUBE_SELF.
 */
int balancer_ensure(const char *dir, struct error *err);

/* The pid of its keeper; 0 if it does not run. */
pid_t balancer_pid(const char *dir);

/* The pid of its worker; 0 if there is none at the moment. */
pid_t balancer_worker_pid(const char *dir);

/* The pid of the cluster's registry; 0 if it did not run when the status was written. */
pid_t balancer_registry_pid(const char *dir);

/* The pid of the process that watches the cluster's API; likewise. */
pid_t balancer_watcher_pid(const char *dir);

/* Whether its keeper runs and holds the port PORT of ADDRESS ("127.0.0.1") for the cluster's
 * registry, so that nobody else can answer there. */
bool balancer_holds_for_registry(const char *dir, const char *address, unsigned port);

/* Whether it listens, or is configured to listen, at ADDRESS ("127.0.0.1:8080") for --ports. */
bool balancer_publishes(const char *dir, const char *address);

/* The port that it holds for the registry; 0 if it does not run or holds none. */
unsigned balancer_registry_port(const char *dir);

/* The addresses ("127.0.0.1:8080") at which it listens, or is configured to, for --ports; none if
 * it does not run. */
void balancer_list_published(const char *dir, struct strlist *ret);

/* Whether it currently uses the backend NAME. */
bool balancer_leads_to(const char *dir, const char *name);

/*
 * Check whether it runs, but one of its processes is stopped or deadlocked.  Returns 1 if it does
 * not apply its configuration again within some seconds, 0 if it does or does not run.  Only its
 * own user and root can do this.
 */
int balancer_hangs(const char *dir, struct error *err);

/* Stop it, or kill it if it hangs; returns when both processes have ended.  Succeeds if it does not
 * run. */
int balancer_stop(const char *dir, struct error *err);

/* Run the keeper, until SIGTERM or until DIR is deleted.  The hidden command `front-door DIR` calls
 * it.  INSTALL loads network policies in nodes. */
int balancer_run(const char *dir, watch_install_fn install, struct error *err);
