/* One node of a cluster: what is known about it, however it is made. */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

/* How far a node has come; written to the profile before and after each step. */
enum node_phase {
	NODE_PLANNED, /* has a name and addresses; may or may not exist */
	NODE_JOINED,  /* kubeadm init or join has finished on it */
	NODE_LEAVING, /* is being deleted; only that can be gone on with */
};

struct node {
	char *name;
	bool control_plane;
	bool worker;
	bool primary;
	enum node_phase phase;
	char *driver;             /* the name of its driver, see driver/driver.h */
	char *address;            /* "192.168.39.2": given once, never changed */
	bool asked_address;       /* the person chose it */
	char *pod_cidr;           /* "10.244.0.0/24": likewise */
	char *kubernetes_version; /* "v1.36.3" */
	unsigned cpus;            /* 0: as many as the host has */
	uint64_t memory_bytes;    /* 0: as much as the host has */
	uint64_t disk_bytes;      /* 0: it has no disk of its own */
	struct strlist labels;    /* words of record/spec.h, as are the next */
	struct strlist taints;
	struct strlist mounts;
	struct strlist extra_config;    /* of the kubelet, beside the cluster's */
	struct strlist feature_gates;   /* likewise */
	struct strlist kubeadm_patches; /* words of kubeadm/kubeadm-patch.h */
	struct strlist env;             /* NAME=VALUE for containerd and the kubelet */
	unsigned max_pods;              /* 0: Kubernetes' own limit */
	char *kubelet_binary; /* a kubelet of this host instead of the payload's, or NULL */
	char *base_image;     /* where its /usr is from, see node/base-image.h; NULL: the host's */
	bool outdated;        /* settings have changed that it takes up when it is started */
};

/* "planned", "joined", "leaving"; and back, -EINVAL for another word. */
const char *node_phase_word(enum node_phase phase);
int node_phase_parse(const char *word, enum node_phase *ret, struct error *err);

void node_release(struct node *node);
