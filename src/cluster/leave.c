/*
 * A control plane that leaves: its node is stopped or deleted, and the others continue without it.
 *
 *  1. It is recorded as no member.  After an interruption, a start makes it a member again, and a
 *     stop or delete continues.
 *  2. It hands over its work (hand-over.c).
 *  3. The others remove its member from etcd, which also works for a dead node.
 *  4. kubeadm removes its files from the node, if that runs.
 */

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "kubeadm/bootstrap.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "record/world.h"

#define RESET_SECONDS 60

/* The control plane that becomes the primary after NODE, preferably one that runs; NULL if there is
 * no other. */
static struct node *successor_of(const struct profile *profile, const struct node *node)
{
	struct node *best = NULL;
	struct node *other;

	profile_for_each_node(other, profile) {
		if (other == node || !other->control_plane || other->phase != NODE_JOINED)
			continue;
		if (cluster_node_state(profile, other) == NODE_RUNNING)
			return other;
		best = best ? best : other;
	}
	return best;
}

bool cluster_is_last_control_plane(const struct profile *profile, const struct node *node)
{
	return node->control_plane && (node->phase == NODE_JOINED || node->primary) &&
	       !successor_of(profile, node);
}

int cluster_may_leave(const struct profile *profile, const struct node *node, struct error *err)
{
	struct members_tally all = members_tally(profile, NULL);
	struct members_tally others;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	if (node->phase != NODE_JOINED)
		return 0;
	strlist_add(&names, node->name);
	others = members_tally(profile, &names);
	if (all.running < members_majority(all.count)) {
		(void)error_because(err, &reason_control_plane, -EAGAIN,
				    "%u of %u members of etcd run, and %u are needed to remove "
				    "that of '%s'",
				    all.running, all.count, members_majority(all.count),
				    node->name);
		return members_hint_majority(profile, -EAGAIN, err);
	}
	if (others.running >= members_majority(all.count - 1))
		return 0;
	(void)error_because(err, &reason_control_plane, -EAGAIN,
			    "without '%s', %u of %u members of etcd would run, and %u are needed",
			    node->name, others.running, all.count - 1,
			    members_majority(all.count - 1));
	return error_hint(err, -EAGAIN,
			  all.paused > 0 ? "'manykube unpause' resumes the paused ones"
					 : "'manykube start' brings up those that do not run");
}

int cluster_pass_on_primary(struct profile *profile, struct node *node, struct error *err)
{
	struct node *successor = node->primary ? successor_of(profile, node) : NULL;
	int r;

	if (!successor)
		return 0;
	node->primary = false;
	successor->primary = true;
	r = profile_save(profile, err);
	if (r == 0)
		log_warning("'%s' is the primary control plane now", successor->name);
	if (r == 0)
		world->after("pass on primary");
	return r;
}

int cluster_step_back(struct profile *profile, struct node *node, struct error *err)
{
	int r = cluster_pass_on_primary(profile, node, err);

	if (r < 0)
		return r;
	if (node->phase == NODE_JOINED)
		node->phase = NODE_PLANNED;
	/* During an upgrade, it joins the old cluster again, or is upgraded once more. */
	if (profile->upgrading_from)
		setting_set_word(&node->kubernetes_version, profile->upgrading_from);
	r = profile_save(profile, err);
	if (r == 0)
		world->after("step back");
	return r;
}

/* If NODE does not run, its files are removed before it joins again. */
static void reset_node(const struct profile *profile, struct node *node)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	if (!cluster_node_is_awake(profile, node))
		return;
	if (bootstrap_reset(profile, node, clock_now_ms() + RESET_SECONDS * 1000, &why) < 0)
		log_debug("'%s' could not be reset: %s", node->name, why.text);
}

/* Their kubelet will not report their end, and kubeadm would take them for reachable members of
 * etcd. */
static void forget_static_pods(const struct profile *profile, const struct node *node)
{
	static const char *const names[] = { "etcd", "kube-apiserver", "kube-controller-manager",
					     "kube-scheduler" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = xasprintf(
			"/api/v1/namespaces/kube-system/pods/%s-%s?gracePeriodSeconds=0", names[i],
			node->name);

		(void)world->kube(profile, KUBE_DELETE, path, NULL, NULL, NULL);
	}
}

int cluster_leave(struct profile *profile, struct node *node, struct observer *observer,
		  struct error *err)
{
	cleanup_with(strlist_release) struct strlist only = STRLIST_INIT;
	int r;

	strlist_add(&only, node->name);
	observe_begin(observer, "leaving the control plane", node->name);
	r = cluster_step_back(profile, node, err);
	if (r == 0) {
		cluster_hand_over(profile, &only, NULL);
		r = world->front_door_up(profile, err);
	}
	if (r == 0)
		r = members_remove(profile, node, err);
	if (r == 0)
		world->after("remove member");
	if (r == 0) {
		reset_node(profile, node);
		forget_static_pods(profile, node);
	}
	observe_end(observer, "leaving the control plane", node->name, r == 0);
	return r;
}

/* Whether all control planes called NAMES could leave. */
static bool may_all_leave(const struct profile *profile, const struct strlist *names)
{
	const char *name;

	strlist_for_each(name, names) {
		const struct node *node = profile_find_node(profile, name);

		if (node && node->control_plane && cluster_may_leave(profile, node, NULL) < 0)
			return false;
	}
	return true;
}

/* Check that a majority of etcd's members runs without those called NAMES. */
static int check_majority_without(const struct profile *profile, const struct strlist *names,
				  struct error *err)
{
	struct members_tally left = members_tally(profile, names);

	if (left.running >= members_majority(left.count))
		return 0;
	(void)error_because(err, &reason_control_plane, -EAGAIN,
			    "%u of %u members of etcd would run, and %u are needed", left.running,
			    left.count, members_majority(left.count));
	if (!may_all_leave(profile, names))
		return error_hint(err, -EAGAIN,
				  "'manykube start' brings up those that do not run; 'manykube "
				  "stop' stops the whole cluster");
	return error_hint(
		err, -EAGAIN,
		"without --keep-member it leaves, and the others continue; 'manykube stop' "
		"stops the whole cluster");
}

int cluster_leave_to_stop(struct profile *profile, const struct strlist *names, bool keep_member,
			  struct observer *observer, struct error *err)
{
	const char *name;
	bool any = false;
	int r = 0;

	strlist_for_each(name, names) {
		struct node *node = profile_find_node(profile, name);

		any |= node && node->control_plane && node->phase == NODE_JOINED;
	}
	if (keep_member)
		return any ? check_majority_without(profile, names, err) : 0;
	strlist_for_each(name, names) {
		struct node *node = profile_find_node(profile, name);

		/* The last control plane keeps everything: there is no other one to remove it. */
		if (r < 0 || !node || !node->control_plane ||
		    cluster_is_last_control_plane(profile, node) ||
		    cluster_node_state(profile, node) == NODE_ABSENT)
			continue;
		r = cluster_may_leave(profile, node, err);
		if (r == 0)
			r = cluster_leave(profile, node, observer, err);
	}
	return r;
}
