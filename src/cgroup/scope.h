/*
 * The place of a cluster's control groups.
 *
 * On a host with systemd and cgroup v2, systemd owns all groups and may change or remove those that
 * it has not delegated, such as those of a login session when the user logs out.  There, each
 * cluster has its own delegated scope (Delegate=), which exists as long as any process of the
 * cluster runs.  On other hosts, we make groups below the root ourselves.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"

/* Whether clusters on this host have scopes. */
bool scope_is_used(void);

/* The group of CLUSTER, as a path for cgroup.h; the caller frees it. */
char *scope_group(const char *cluster) must_check;

/* Keeps a scope alive while it has no other processes. */
struct scope {
	struct process keeper;
	char *keeper_group;
	int hold;
};

#define SCOPE_INIT ((struct scope){ .keeper = PROCESS_INIT, .hold = -1 })

/*
 * Make sure that CLUSTER has a scope, on hosts that use scopes.  It exists until RET_SCOPE is
 * released, and after that as long as it has processes.  NAME is the cluster's name for users.
 */
int scope_open(const char *cluster, const char *name, struct scope *ret_scope, struct error *err);
void scope_release(struct scope *scope);

/* Move process PID from its login session to the group LEAF in the cluster's scope.  Does nothing
 * on hosts without scopes, or if we are not root. */
int scope_adopt(const char *cluster, const char *name, const char *leaf, pid_t pid,
		struct error *err);

/* Kill all processes in the group of CLUSTER and remove the group. */
int scope_destroy(const char *cluster, struct error *err);

/* The path of CLUSTER's group with or without scopes; for tests. */
char *scope_group_in(const char *cluster, bool with_scopes) must_check;
