/* What a user may ask for: of a cluster, and of one node. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/setting.h"

/* What to wait for at the end of a start. */
enum cluster_wait {
	WAIT_API = 1 << 0,         /* the API answers */
	WAIT_NODES = 1 << 1,       /* nodes are Ready, or with --cni=none lack only a network, and
				      their agents say that kubelet and containerd run */
	WAIT_READY = 1 << 4,       /* the same, and all are Ready */
	WAIT_SYSTEM_PODS = 1 << 2, /* all pods in kube-system are Ready, so DNS answers */
	WAIT_DEFAULT_SA = 1 << 3,  /* the default service account is there, so pods can be made */
};

/* What a node is to be; unset is as the cluster's other nodes are, and lists are beside theirs. */
struct node_options {
	union { /* all of them, or one by its name; no name: the first free node-N */
		struct node_settings settings;
		struct node_settings;
	};
	bool control_plane; /* the first node of a cluster is one in any case */
	bool no_schedule;   /* no pods of people on that */
	const char *origin; /* where a file describes it, FILE:LINE:COLUMN; NULL: none does */
};

/* What the person asked for; for an existing cluster, unset keeps what it has. */
struct cluster_options {
	unsigned nodes;
	unsigned control_planes;
	union { /* all of them, or one by its name; the version is resolved */
		struct cluster_settings settings;
		struct cluster_settings;
	};
	struct cluster_flags given; /* those of the flags that are asked for, true or false */

	const struct node_options *add; /* nodes to add, or to make a new cluster of: the */
	size_t add_count;               /* first of those is its primary control plane */
	struct strlist *only;           /* start only these nodes; NULL: all */
	bool trust_running;             /* do not wait for members that run already */
	bool recovering;                /* as part of a recovery */

	const char *binary_mirror; /* where to download Kubernetes from */
	bool force;                /* go on although the host lacks something */
	unsigned wait;             /* enum cluster_wait */
	/* Called when all that is asked for is in the record, before it is done; may be NULL. */
	void (*recorded)(const struct cluster_options *options);
	/* For the cluster only, once all that it needs is there: getting payloads, waiting for
	 * other commands, making nodes and loading images do not count. */
	unsigned wait_seconds;
};
