/*
 * The profile: the record of one cluster on disk, read by every command.
 *
 * STATE/profiles/NAME/ holds all that belongs to the cluster NAME:
 *
 *	profile.json   this record, replaced by rename before each step
 *	profile.json.copy   the same, for who loses the record
 *	profile.json.v0   as it was before, if it was made before nodes had objects of their own
 *	kubeconfig     the administrator's, pointing at the front door
 *	*.crt, *.key   its certificates, for the person's kubeconfig
 *	front-door.*   see balancer/balancer.h
 *	nodes/NODE/    what its driver keeps of a node
 *	logs/          the last start, kubeadm's output per node
 *
 * STATE/locks/NAME is held by the command that changes the cluster, and names it.
 */
#pragma once

#include "base/error.h"
#include "base/strlist.h"
#include "record/node.h"

#define PROFILE_FORMAT       1
#define PROFILE_DEFAULT_NAME "manykube"

struct profile {
	char *name;
	char *dir;               /* not in the file: where it was found */
	bool single_node_format; /* likewise: it was read in format 0 */
	union {                  /* all of them, or one by its name */
		struct cluster_settings settings;
		struct cluster_settings;
	};
	char *gateway;               /* "192.168.39.1" */
	char *bridge;                /* the link's name */
	struct strlist orphans;      /* deleted or lost nodes that the API still knows */
	struct strlist lost_members; /* deleted control planes that etcd still counts */
	char *recovering;            /* the control plane that a recovery has begun with, or NULL */
	char *upgrading_from;        /* what an upgrade that has not ended began with, or NULL */
	struct strlist drained;      /* nodes that get no pods until they are started again */
	struct strlist asked; /* of what is found free otherwise, fields that the person gave */
	int64_t created;      /* seconds since 1970 */
	struct node *nodes;
	size_t node_count;
};

#define PROFILE_INIT ((struct profile){ NULL })

/* Loop over PROFILE's nodes with the `struct node *` variable NODE. */
#define profile_for_each_node(node, profile) \
	for (node = (profile)->nodes; node < (profile)->nodes + (profile)->node_count; node++)

/* The directory that the profile NAME has or would have. */
int profile_dir(const char *name, char **ret_path, struct error *err);

/* The name of the bridge, the firewall table and the control group of the profile whose directory
 * is DIR, for the caller to free: the same for the same directory, so that a damaged profile can
 * still be cleaned up. */
char *profile_bridge_name(const char *dir) must_check;

/* Whether LINK has the form of such a name. */
bool profile_is_bridge_name(const char *link);

/* -EINVAL with reason_usage unless NAME can name a cluster: a DNS label of at most 40 characters.
 */
int profile_check_name(const char *name, struct error *err);

/* Read TEXT, a profile.json of our format or an older one; -EBADMSG if it is damaged, -ENOTSUP if
 * its format is newer than ours. */
int profile_parse(const char *text, size_t len, struct profile *ret, struct error *err);

/* TEXT of PROFILE as profile_parse() reads it, for the caller to free. */
char *profile_print(const struct profile *profile) must_check;

/*
 * Load the profile NAME; -ENOENT with reason_cluster_missing if there is none.  Where the record is
 * gone but not the nodes, its copy is used; without that it is -EBADMSG, so that nobody takes the
 * cluster for a new one.
 */
int profile_load(const char *name, struct profile *ret, struct error *err);

/*
 * Write PROFILE to its directory (which is made if missing), in one step and durably.  A file of an
 * older format that it replaces is kept beside it.
 */
int profile_save(const struct profile *profile, struct error *err);

/* The names of all profiles, sorted; also of those that can't be read. */
int profile_list(struct strlist *ret_names, struct error *err);

/* Like profile_list(), also with those of which only a part is left. */
int profile_list_dirs(struct strlist *ret_names, struct error *err);

/* Make NAME the active profile; -ENOENT with reason_cluster_missing, naming those there are. */
int profile_set_active(const char *name, struct error *err);

/* Have no active profile if it is NAME. */
int profile_forget_active(const char *name, struct error *err);

/* Hold NAME's lock on behalf of the command WHAT; -EWOULDBLOCK with reason_busy, naming the holder.
 */
int profile_lock(const char *name, const char *what, int *ret_fd, struct error *err);

/* The command that holds NAME's lock just now ("manykube start"), for the caller to free, or NULL.
 */
char *profile_lock_holder(const char *name) must_check;

/* Remove NAME's lock file, which the caller holds, if there is no cluster NAME (any more). */
void profile_remove_lock(const char *name);

/* The node called NAME, or NULL. */
struct node *profile_find_node(const struct profile *profile, const char *name);

/* The primary control plane, or NULL. */
struct node *profile_primary(const struct profile *profile);

/* How many nodes are control planes, whether they have joined or not. */
unsigned profile_control_planes(const struct profile *profile);

/* Add a zeroed node called NAME and return it; earlier pointers to nodes are no longer valid. */
struct node *profile_add_node(struct profile *profile, const char *name);

/* Take NODE out; earlier pointers to nodes are no longer valid. */
void profile_remove_node(struct profile *profile, struct node *node);

/* "NAME" for an error about a node that is not there: -ENOENT with reason_node_missing. */
int profile_need_node(const struct profile *profile, const char *name, struct node **ret_node,
		      struct error *err);

void profile_release(struct profile *profile);
