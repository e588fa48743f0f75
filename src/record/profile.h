/*
 * The profile: the record of one cluster on disk, read by every command.
 *
 * STATE/profiles/NAME/ holds everything that belongs to the cluster NAME:
 *
 *	profile.json   this record, replaced by rename before each step
 *	profile.json.copy   a copy of it, used if the record is lost
 *	profile.json.v0   the record in format 0, if it was converted from that
 *	kubeconfig     the administrator's, pointing at the front door
 *	*.crt, *.key   its certificates, for the user's kubeconfig
 *	front-door.*   see balancer/balancer.h
 *	nodes/NODE/    the files of a node's driver
 *	logs/          the last start, kubeadm's output per node
 *
 * STATE/locks/NAME is locked by the command that changes the cluster, and contains its name.
 */
#pragma once

#include "base/error.h"
#include "base/strlist.h"
#include "record/node.h"

/* The newest format that is read; see profile-json.c. */
#define PROFILE_FORMAT       2
#define PROFILE_DEFAULT_NAME "manykube"

struct profile {
	char *name;
	char *dir;               /* not in the file: where the record was found */
	bool single_node_format; /* likewise: the record was read in format 0 */
	union {                  /* all settings, or each by its name */
		struct cluster_settings settings;
		struct cluster_settings;
	};
	char *gateway;               /* "192.168.39.1" */
	char *ipv6_prefix;           /* "fd12:3456:789a::/48", see data/inet6.h; NULL: IPv4 only */
	char *bridge;                /* the name of the network interface */
	struct strlist orphans;      /* deleted or lost nodes that the API still knows */
	struct strlist lost_members; /* deleted control planes that are still members of etcd */
	char *recovering;            /* the control plane of an unfinished recovery, or NULL */
	bool deleting;               /* its deletion has begun; data may be gone */
	char *upgrading_from;        /* the version before an unfinished upgrade, or NULL */
	char *network_from;          /* the pod network before an unfinished change, or NULL; */
	struct strlist network_due;  /* the nodes whose pods still have to be made anew for it */
	struct strlist failures;     /* active ones, in words: see fail/failure.h */
	struct strlist drained;      /* nodes that get no pods until they are started again */
	struct strlist asked;        /* settings with `chosen_for_you` that the user chose */
	int64_t created;             /* seconds since 1970 */
	struct node *nodes;
	size_t node_count;
};

#define PROFILE_INIT ((struct profile){ NULL })

/* Loop over the nodes of PROFILE with the `struct node *` variable NODE. */
#define profile_for_each_node(node, profile) \
	for (node = (profile)->nodes; node < (profile)->nodes + (profile)->node_count; node++)

/* The directory of the profile NAME, whether it exists or not. */
int profile_dir(const char *name, char **ret_path, struct error *err);

/*
 * The name of the bridge, the firewall table and the control group of the profile in DIR, for the
 * caller to free.  It depends on DIR only, so that a cluster with a damaged profile can be cleaned
 * up.
 */
char *profile_bridge_name(const char *dir) must_check;

/* Whether LINK has the form of such a name. */
bool profile_is_bridge_name(const char *link);

/* -EINVAL with reason_usage unless NAME is valid for a cluster: a DNS label of at most 40
 * characters. */
int profile_check_name(const char *name, struct error *err);

/* Parse TEXT, a profile.json of the current or an older format; -EBADMSG if it is damaged, -ENOTSUP
 * if its format is newer. */
int profile_parse(const char *text, size_t len, struct profile *ret, struct error *err);

/* PROFILE as text for profile_parse(), for the caller to free. */
char *profile_print(const struct profile *profile) must_check;

/*
 * Load the profile NAME; -ENOENT with reason_cluster_missing if there is none.  If the record is
 * missing but nodes exist, its copy is used; without a copy the result is -EBADMSG, so that the
 * cluster is not mistaken for a new one.
 */
int profile_load(const char *name, struct profile *ret, struct error *err);

/* A copy of PROFILE, for the caller to release. */
int profile_copy(const struct profile *profile, struct profile *ret, struct error *err);

/* Write PROFILE to its directory, which is created if missing, atomically and durably.  A replaced
 * file of an older format is kept beside the new one. */
int profile_save(const struct profile *profile, struct error *err);

/* The names of all profiles, sorted, including those that cannot be read. */
int profile_list(struct strlist *ret_names, struct error *err);

/* Like profile_list(), including directories of which only a part is left. */
int profile_list_dirs(struct strlist *ret_names, struct error *err);

/* Make NAME the active profile; -ENOENT with reason_cluster_missing if there is none, listing those
 * that exist. */
int profile_set_active(const char *name, struct error *err);

/* Unset the active profile if it is NAME. */
int profile_forget_active(const char *name, struct error *err);

/* Take the lock of NAME on behalf of the command WHAT; -EWOULDBLOCK with reason_busy, naming the
 * holder. */
int profile_lock(const char *name, const char *what, int *ret_fd, struct error *err);

/* The command that currently holds the lock of NAME ("manykube start"), for the caller to free, or
 * NULL. */
char *profile_lock_holder(const char *name) must_check;

/* Whether the file PATH was changed since the lock of NAME was taken. */
bool profile_lock_is_older(const char *name, const char *path);

/* Remove the lock file of NAME, which the caller holds, unless the cluster NAME exists. */
void profile_remove_lock(const char *name);

/* The node called NAME, or NULL. */
struct node *profile_find_node(const struct profile *profile, const char *name);

/* The primary control plane, or NULL. */
struct node *profile_primary(const struct profile *profile);

/* The number of control planes, whether they have joined or not. */
unsigned profile_control_planes(const struct profile *profile);

/* Add a zeroed node called NAME and return it.  Invalidates earlier pointers to nodes. */
struct node *profile_add_node(struct profile *profile, const char *name);

/* Remove NODE.  Invalidates earlier pointers to nodes. */
void profile_remove_node(struct profile *profile, struct node *node);

/* Find the node NAME; -ENOENT with reason_node_missing if there is none, listing those that exist.
 */
int profile_need_node(const struct profile *profile, const char *name, struct node **ret_node,
		      struct error *err);

void profile_release(struct profile *profile);
