/* The record of one node of a cluster, independent of its driver. */
#pragma once

#include "base/error.h"
#include "record/setting.h"

/* The progress of a node; written to the profile before and after each step. */
enum node_phase {
	NODE_PLANNED, /* has a name and addresses; may or may not exist */
	NODE_JOINED,  /* kubeadm init or join has finished on it */
	NODE_LEAVING, /* is being deleted; deletion can only be resumed */
};

struct node {
	union { /* all settings, or each by its name */
		struct node_settings settings;
		struct node_settings;
	};
	bool control_plane;
	bool worker;
	bool primary;
	enum node_phase phase;
	bool asked_address; /* the user chose the address */
	char *pod_cidr;     /* "10.244.0.0/24": assigned once, never changed */
	char *address6;     /* "fd12:3456:789a::2", and "fd12:3456:789a:102::/64": likewise; */
	char *pod_cidr6;    /* NULL in clusters without IPv6 */
	bool docker;        /* runs a Docker daemon: see node/docker.h */
	bool outdated;      /* has changed settings that take effect when the node is restarted */
};

/* The name of a phase: "planned", "joined" or "leaving"; and the reverse, -EINVAL for another word.
 */
const char *node_phase_word(enum node_phase phase);
int node_phase_parse(const char *word, enum node_phase *ret, struct error *err);

void node_release(struct node *node);
