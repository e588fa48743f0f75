/* One node of a cluster: what is known about it, however it is made. */
#pragma once

#include "base/error.h"
#include "record/setting.h"

/* How far a node has come; written to the profile before and after each step. */
enum node_phase {
	NODE_PLANNED, /* has a name and addresses; may or may not exist */
	NODE_JOINED,  /* kubeadm init or join has finished on it */
	NODE_LEAVING, /* is being deleted; only that can be gone on with */
};

struct node {
	union { /* all of them, or one by its name */
		struct node_settings settings;
		struct node_settings;
	};
	bool control_plane;
	bool worker;
	bool primary;
	enum node_phase phase;
	bool asked_address; /* the person chose it */
	char *pod_cidr;     /* "10.244.0.0/24": given once, never changed */
	bool outdated;      /* settings have changed that it takes up when it is started */
};

/* "planned", "joined", "leaving"; and back, -EINVAL for another word. */
const char *node_phase_word(enum node_phase phase);
int node_phase_parse(const char *word, enum node_phase *ret, struct error *err);

void node_release(struct node *node);
