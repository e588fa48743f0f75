/* What a user may ask for: of a cluster, and of one node. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/strlist.h"

/* What to wait for at the end of a start. */
enum cluster_wait {
	WAIT_API = 1 << 0,         /* the API answers */
	WAIT_NODES = 1 << 1,       /* nodes are Ready, or with --cni=none lack only a network, and
				      their agents say that kubelet and containerd run */
	WAIT_READY = 1 << 4,       /* the same, and all are Ready */
	WAIT_SYSTEM_PODS = 1 << 2, /* all pods in kube-system are Ready, so DNS answers */
	WAIT_DEFAULT_SA = 1 << 3,  /* the default service account is there, so pods can be made */
};

/* Of what is to be: as much as the host has, which is 0 in what is kept. */
#define ALL_CPUS   UINT_MAX
#define ALL_MEMORY UINT64_MAX

/* What a node is to be; unset (NULL, 0) is as the cluster's other nodes are. */
struct node_options {
	const char *name;   /* NULL: the first free node-N */
	bool control_plane; /* the first node of a cluster is one in any case */
	bool no_schedule;   /* no pods of people on that */
	const char *address;
	unsigned cpus;
	uint64_t memory_bytes;
	uint64_t disk_bytes;
	struct strlist labels; /* beside the cluster's, as are the next */
	struct strlist taints;
	struct strlist mounts;
	struct strlist extra_config;
	struct strlist feature_gates;
	struct strlist kubeadm_patches;
	struct strlist env;
	unsigned max_pods;
	const char *kubelet_binary;
	const char *kubernetes_version; /* as a person writes it: v1.35 */
	const char *base_image;
	const char *driver; /* a name; NULL: as the cluster's nodes */
	const char *origin; /* where a file describes it, FILE:LINE:COLUMN; NULL: none does */
};

/* What the person asked for; for an existing cluster, unset (NULL, 0, empty) keeps what it has. */
struct cluster_options {
	unsigned nodes;
	unsigned control_planes;
	bool no_schedule_control_planes;
	bool no_schedule_control_planes_given;
	const char *kubernetes_version; /* resolved */
	const char *subnet;
	const char *cni;
	unsigned cpus;
	uint64_t memory_bytes;
	uint64_t disk_bytes;
	bool offline;
	bool offline_given;

	/* The words of record/spec.h; see describe/choices.h for what may change later. */
	unsigned api_port;
	const char *service_subnet;
	const char *pod_subnet;
	const char *dns_domain;
	const char *host_access;
	const char *image_repository;
	unsigned cert_seconds;
	struct strlist api_names;
	struct strlist api_ips;
	struct strlist extra_config;
	struct strlist feature_gates;
	struct strlist kubeadm_patches; /* words of kubeadm/kubeadm-patch.h */
	struct strlist ports;
	struct strlist insecure_registries;
	struct strlist registry_mirrors;
	struct strlist images; /* archives; see node/own-images.h */
	struct strlist labels;
	struct strlist taints;
	struct strlist mounts;
	struct strlist env;
	unsigned max_pods;
	const char *kubelet_binary;
	const char *base_image;
	const char *driver; /* a name; NULL: the default */

	bool keep_context; /* these two may change at any time */
	bool keep_context_given;
	bool embed_certs;
	bool embed_certs_given;

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
