/* Planning: what a cluster will be, before anything of it is made. */
#pragma once

#include "base/observer.h"
#include "record/options.h"
#include "record/profile.h"

/*
 * Load the profile NAME and change it as OPTIONS ask, or plan a new one.  Nothing is
 * written.  RET_IS_NEW tells which.  What can't be changed on a cluster that exists is an
 * error that says what to do instead.
 */
int plan_profile(const char *name, const struct cluster_options *options, struct profile *ret,
		 bool *ret_is_new, struct error *err);

/* -EINVAL if one of WORDS is a port of --ports that leads to a node which PROFILE does not have. */
int plan_check_ports(const struct profile *profile, const struct strlist *words, struct error *err);

/* Tell OBSERVER what PLANNED changes of what was chosen for the cluster, if it exists. */
void plan_tell_changes(const struct profile *planned, struct observer *observer);

/* What a node is held to if WANTED (0: the USUAL) is asked for; 0 is all that the host has. */
unsigned plan_cpus(unsigned wanted, unsigned usual);
uint64_t plan_memory(uint64_t wanted, uint64_t usual);

/* Give the empty NODE, whose role is known, the settings that PROFILE has for all nodes, and
 * besides or instead those of OPTIONS. */
void plan_settings(const struct profile *profile, const struct node_options *options,
		   struct node *node);

/* Have ERR say which node of a file OPTIONS are, and where; R is returned.  Of what no file
 * describes, nothing is said. */
int plan_blame_file(const struct node_options *options, int r, struct error *err);

/* Give PROFILE one more node as OPTIONS say, with the next free address and podCIDR. */
int plan_node(struct profile *profile, const struct node_options *options, struct node **ret_node,
	      struct error *err);
