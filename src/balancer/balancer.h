/*
 * The front door: the cluster's one stable API address.
 *
 * Two processes per cluster, an event loop each, no threads: a keeper with privileges, and a worker
 * without any that does all the networking (front-door.c, worker.h).  The worker listens on the
 * bridge's address and on a fixed loopback port, asks every control plane's /readyz
 * each second, and passes TCP connections on to a healthy one.  It also answers DNS for
 * the nodes on the bridge's address: relayed to the host's own servers, or "no such name"
 * at once when the cluster is offline.  It passes on the host's ports that nodes were given.  The
 * keeper keeps the cluster's rules among those of the host's firewalls.
 *
 * DIR is the profile's.  In it: front-door.json (written by balancer_configure(), read
 * again by the running keeper whenever it is replaced), front-door.lock (held by the
 * keeper; names its pid), front-door.status.json (written by the keeper once the worker listens
 * and when a control plane's health changes: {"pid": N, "worker": N, "revision": N, "backends":
 * [{"name", "address", "healthy", "since" (epoch), "detail"}]}), front-door.log.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strlist.h"

struct balancer_backend {
	char *name;    /* the node's */
	char *address; /* "10.89.0.2:6443" */
};

/* A port of the host whose connections go to the first of some addresses that takes them. */
struct balancer_forward {
	char *listen;      /* "127.0.0.1:8080" */
	struct strlist to; /* "10.89.0.2:30080" */
};

/* A node as the origin of connections: with its pods it counts as one. */
struct balancer_origin {
	char *address; /* "10.89.0.2" */
	char *pods;    /* "10.244.1.0/24", or NULL */
};

struct balancer_config {
	struct strlist listen; /* "10.89.0.1:6443", "127.0.0.1:41234" */
	struct balancer_backend *backends;
	size_t backend_count;
	struct balancer_forward *forwards;
	size_t forward_count;
	char *dns_listen;            /* "10.89.0.1:53", or NULL */
	struct strlist dns_upstream; /* "192.0.2.53:53"; empty: no name exists */

	/* Who asks: see origin.h.  Without networks everybody may ask for names. */
	struct balancer_origin *origins;
	size_t origin_count;
	struct strlist networks; /* "10.89.0.0/24", "10.244.0.0/16" */

	/* What is kept among the host's rules: see guard.h. */
	char *bridge;              /* its table is called like it; or NULL: nothing is */
	char *rules;               /* of that table */
	struct strlist host_ports; /* "tcp 6443": what nodes may reach on the host */
};

#define BALANCER_CONFIG_INIT ((struct balancer_config){ { NULL } })

void balancer_config_add_backend(struct balancer_config *config, const char *name,
				 const char *address);

void balancer_config_add_origin(struct balancer_config *config, const char *address,
				const char *pods);

/* Add an empty one and return it; earlier pointers to forwards are no longer valid. */
struct balancer_forward *balancer_config_add_forward(struct balancer_config *config);

/* The text of CONFIG as JSON, without what is kept among the host's rules; for the caller to free.
 */
char *balancer_config_print(const struct balancer_config *config) must_check;

/* Read front-door.json's text; -EINVAL if it makes no sense. */
int balancer_config_parse(const char *text, size_t len, struct balancer_config *ret,
			  struct error *err);
void balancer_config_release(struct balancer_config *config);

/* Write DIR's configuration; a running front door takes it up by itself. */
int balancer_configure(const char *dir, const struct balancer_config *config, struct error *err);

/*
 * Start the front door of DIR unless it runs; returns once it listens.  One that an earlier
 * program runs is replaced.  What keeps it from starting, such as an address in use, is in ERR. The
 * program is our own, called with `front-door DIR`; tests name another one by MANYKUBE_SELF.
 */
int balancer_ensure(const char *dir, struct error *err);

/* Its keeper's pid, or 0 if it does not run. */
pid_t balancer_pid(const char *dir);

/* Its worker's pid, or 0 if there is none right now. */
pid_t balancer_worker_pid(const char *dir);

/* Whether it leads new connections to the backend called NAME. */
bool balancer_leads_to(const char *dir, const char *name);

/*
 * Whether it runs, but one of its processes is stopped or deadlocked: 1 if within some seconds it
 * has not taken up its configuration once more, 0 if it has or does not run.  Only its own user and
 * root can ask that.
 */
int balancer_hangs(const char *dir, struct error *err);

/* Stop it, and kill it if it hangs: returns when both of its processes have ended.  Succeeds if it
 * does not run. */
int balancer_stop(const char *dir, struct error *err);

/* The keeper itself: runs until SIGTERM or until DIR is deleted.  The hidden command
 * `front-door DIR` calls it. */
int balancer_run(const char *dir, struct error *err);
