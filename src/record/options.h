/* Options of a cluster and of one node, as a user may give them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/setting.h"

/* The conditions to wait for at the end of a start. */
enum cluster_wait {
	WAIT_API = 1 << 0,         /* the API answers */
	WAIT_NODES = 1 << 1,       /* nodes are Ready, or with --cni=none lack only a network,
				      and their agents report that kubelet and containerd run */
	WAIT_READY = 1 << 4,       /* WAIT_NODES, and all nodes are Ready */
	WAIT_SYSTEM_PODS = 1 << 2, /* all pods in kube-system are Ready, so DNS answers */
	WAIT_DEFAULT_SA = 1 << 3,  /* the default service account exists, so pods can be created */
};

/* The options of one node.  An unset option has the value of the cluster's defaults; lists are
 * added to those of the defaults. */
struct node_options {
	union { /* all settings, or each by its name; no name: the first free node-N */
		struct node_settings settings;
		struct node_settings;
	};
	bool control_plane; /* always true for the first node of a cluster */
	bool no_schedule;   /* taint the control plane, so that it gets no ordinary pods */
	const char *origin; /* FILE:LINE:COLUMN where a file describes it, or NULL */
};

/* The options of a cluster; for an existing cluster, an unset option keeps the current value. */
struct cluster_options {
	unsigned nodes;
	unsigned control_planes;
	union { /* all settings, or each by its name; the version is resolved */
		struct cluster_settings settings;
		struct cluster_settings;
	};
	struct cluster_flags given; /* which of the flags were given, whether as true or as false */

	const struct node_options *add; /* nodes to add; of a new cluster, */
	size_t add_count;               /* the first is the primary control plane */
	struct strlist *only;           /* start only these nodes; NULL: all */
	bool trust_running;             /* do not wait for etcd members that run already */
	bool recovering;                /* this start is part of a recovery */

	/* Look up a variable of the caller, whose HTTP proxies a new cluster uses; NULL: none. */
	char *(*look_up)(const char *name);
	const char *binary_mirror; /* where to download Kubernetes from */
	bool force;                /* continue although the host lacks something */
	unsigned wait;             /* enum cluster_wait */
	/* Called when all options are in the record, before any of them takes effect; may be NULL.
	 */
	void (*recorded)(const struct cluster_options *options);
	/* How long to wait for the cluster.  Getting payloads, waiting for other commands, creating
	 * nodes and loading images do not count. */
	unsigned wait_seconds;
};
