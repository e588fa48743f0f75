/* Planning a cluster before anything of it is created. */
#pragma once

#include "base/observer.h"
#include "record/options.h"
#include "record/profile.h"

/* A cluster as it is to become. */
struct plan {
	struct profile profile;
	struct profile before; /* as it is; empty if it is new */
	bool is_new;
};

#define PLAN_INIT ((struct plan){ PROFILE_INIT, PROFILE_INIT })

/*
 * Load the profile NAME and change it according to OPTIONS, or plan a new one.  Nothing is written.
 * An option that cannot be changed on an existing cluster is an error, with a hint on what to do
 * instead.  The plan of an existing cluster is valid while its lock is held; that of a new one,
 * which has a network of this host, while the network's lock is.
 */
int plan_profile(const char *name, const struct cluster_options *options, struct plan *ret,
		 struct error *err);

void plan_release(struct plan *plan);

/* -EINVAL if one of WORDS, ports of --ports, names a node that PROFILE does not have. */
int plan_check_ports(const struct profile *profile, const struct strlist *words, struct error *err);

/* Report to OBSERVER which settings PLANNED changes of the existing cluster BEFORE. */
void plan_tell_changes(const struct profile *before, const struct profile *planned,
		       struct observer *observer);

/* The limit of a node for the option WANTED, which if 0 has the default USUAL; a limit of 0 means
 * all that the host has. */
unsigned plan_cpus(unsigned wanted, unsigned usual);
uint64_t plan_memory(uint64_t wanted, uint64_t usual);

/* Fill the settings of NODE, which is empty except for its role, from the defaults of PROFILE and
 * from OPTIONS, which add to or override them. */
void plan_settings(const struct profile *profile, const struct node_options *options,
		   struct node *node);

/* Prefix ERR with the position and name of the node in the file that OPTIONS come from; does
 * nothing if they come from no file.  Returns R. */
int plan_blame_file(const struct node_options *options, int r, struct error *err);

/* Add a node to PROFILE according to OPTIONS, with the next free address and podCIDR. */
int plan_node(struct profile *profile, const struct node_options *options, struct node **ret_node,
	      struct error *err);
