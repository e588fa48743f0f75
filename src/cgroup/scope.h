/*
 * Where the control groups of a cluster are.
 *
 * On a host that systemd runs with cgroup v2, all groups are systemd's, and what it has not handed
 * over it may change or end: a login's when the person logs out.  There a cluster has a scope of
 * its own, handed over to us (Delegate=), that lives as long as any process of the cluster does.
 * Elsewhere the groups are ours from the root on.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"

/* Whether clusters of this host have scopes. */
bool scope_is_used(void);

/* The group of CLUSTER, for cgroup.h and for the caller to free. */
char *scope_group(const char *cluster) must_check;

/* What keeps a scope while nothing else is in it yet. */
struct scope {
	struct process keeper;
	char *keeper_group;
	int hold;
};

#define SCOPE_INIT ((struct scope){ .keeper = PROCESS_INIT, .hold = -1 })

/*
 * See that CLUSTER has a scope, if this host has such, until RET_SCOPE is released and as long as
 * there are processes in it after that.  NAME is what people call the cluster.
 */
int scope_open(const char *cluster, const char *name, struct scope *ret_scope, struct error *err);
void scope_release(struct scope *scope);

/* Have process PID live in the group LEAF of such a scope, out of the login that it was started
 * from; does nothing on hosts without scopes, nor unless we are root. */
int scope_adopt(const char *cluster, const char *name, const char *leaf, pid_t pid,
		struct error *err);

/* Kill what is in the group of CLUSTER and remove all of it. */
int scope_destroy(const char *cluster, struct error *err);

/* The part that only computes, for tests: the path of CLUSTER's group with scopes or without. */
char *scope_group_in(const char *cluster, bool with_scopes) must_check;
