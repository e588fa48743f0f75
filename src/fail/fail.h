/*
 * Making failures in a cluster.
 *
 * A failure is recorded before it is made.  So whatever becomes of the command, `heal` and `delete`
 * find it.  Every function may be interrupted at any point and called again.  The caller holds the
 * profile's lock.  Undoing is cluster_heal() in cluster/cluster.h, because a killed node has to be
 * started again.
 */
#pragma once

#include "base/error.h"
#include "base/observer.h"
#include "fail/failure.h"

/*
 * Check everything that can be known about making FAILURE in PROFILE: that its nodes exist, run and
 * can fail in this way, that their driver and this host support it.  Changes nothing.  -ENOENT with
 * reason_node_missing, -EINVAL with reason_usage, -ESRCH with reason_node_not_running, -ENOTSUP
 * with reason_host_unsupported, -EAGAIN with reason_usage if another failure is in the way.
 */
int fail_check(const struct profile *profile, const struct failure *failure, struct error *err);

/*
 * Check FAILURE, record it and make it.  It ends after its `for_seconds`, whatever becomes of this
 * process.  One that is active already is made again, with its new duration.  If making it fails
 * half-way, it stays in the record, to be healed.
 */
int fail_begin(struct profile *profile, const struct failure *failure, struct observer *observer,
	       struct error *err);

/* Which active failures are meant. */
struct fail_selection {
	const struct strlist *nodes; /* those of these nodes; NULL: of all */
	const struct failure *only;  /* only this one; NULL: all */
	bool expired;                /* only those whose time is over */
};

/* Whether SELECTION has FAILURE, for functions that go through the record. */
bool fail_selects(const struct fail_selection *selection, const struct failure *failure);

/*
 * Undo what was made of the selected failures and remove them from the record.  Of partitions and
 * slow networks that concern further nodes, only the selected nodes are taken.  Killed nodes are
 * not started: their names are added to RET_KILLED.  Returns how many failures were undone.
 */
int fail_end(struct profile *profile, const struct fail_selection *selection,
	     struct observer *observer, struct strlist *ret_killed, struct error *err);

/* Make the active failures of the network again: after the network of the cluster came up, or
 * nodes were started or deleted.  Without any, their rules are removed. */
int fail_renew_network(const struct profile *profile, struct error *err);

/* Make the active failures of NODE, which was just started, again. */
int fail_renew_node(const struct profile *profile, const struct node *node, struct error *err);

/* Forget all failures of the node NAME, which is deleted: nothing of the node is left. */
int fail_forget_node(struct profile *profile, const char *name, struct error *err);

/* Undo what failures of PROFILE, which is stopped or deleted, and may be incomplete, have made on
 * this host.  The record is kept. */
int fail_leave_host(const struct profile *profile, struct error *err);

/* -EBUSY with reason_node_failed, naming a failure, if any is active: WHAT ("an upgrade") needs a
 * cluster without. */
int fail_need_none(const struct profile *profile, const char *what, struct error *err);
