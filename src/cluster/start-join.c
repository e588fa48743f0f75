/*
 * Start: joining nodes.
 *
 * Workers join all at once.  Control planes join one after another, since etcd accepts one new
 * member at a time; meanwhile the workers' kubelets come up.
 */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cluster/start.h"
#include "kubeadm/members.h"
#include "node/node-files.h"
#include "record/options.h"

int start_mark_joined(struct start *start, struct node *node, struct error *err)
{
	node->phase = NODE_JOINED;
	return profile_save(&start->profile, err);
}

/* Whether an earlier join of NODE got so far that its kubelet has registered, although it was
 * interrupted before its end. */
static bool has_joined_unseen(struct start *start, const struct node *node)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);

	return node_has(&start->profile, node, "kubernetes/kubelet.conf") &&
	       world->kube(&start->profile, KUBE_GET, path, NULL, NULL, NULL) == 0;
}

static int begin_workers(struct start *start, struct error *err)
{
	struct node *node;

	profile_for_each_node(node, &start->profile) {
		size_t i = (size_t)(node - start->profile.nodes);
		int r;

		if (node->phase != NODE_PLANNED || node->control_plane ||
		    !start_takes_part(start, node))
			continue;
		if (has_joined_unseen(start, node)) {
			r = bootstrap_label(&start->profile, node, start->deadline, err);
			if (r == 0)
				r = start_mark_joined(start, node, err);
			if (r < 0)
				return r;
			continue;
		}
		observe_begin(start->observer, "joining node", node->name);
		r = bootstrap_join(&start->profile, node, start->token, &start->joins[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Start NODE, whose kernel was in TROUBLE when it joined, anew, and let it join again. */
static int join_anew(struct start *start, struct node *node, const char *trouble, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	struct bootstrap *join = &start->joins[node - start->profile.nodes];
	int r = cluster_node_open(&start->profile, node, &at, err);

	log_warning("node '%s' is started again: %s", node->name, trouble);
	if (r == 0)
		r = at.driver->stop(&at.spec, 0, err);
	if (r < 0)
		return r;
	start->ran[node - start->profile.nodes] = false;
	r = start_node(start, node, err);
	bootstrap_release(join);
	if (r < 0 || has_joined_unseen(start, node))
		return r;
	r = bootstrap_join(&start->profile, node, start->token, join, err);
	return r == 0 ? bootstrap_finish(join, start->deadline, err) : r;
}

/* Wait until the worker NODE has joined.  If its kernel fails meanwhile, which a virtual machine
 * has of its own, it gets another attempt, but only one. */
static int finish_worker(struct start *start, struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct node_usage usage;
	int r = bootstrap_finish(&start->joins[node - start->profile.nodes], start->deadline, &why);

	if (r < 0 && cluster_node_open(&start->profile, node, &at, NULL) == 0) {
		at.driver->measure(&at.spec, &usage);
		if (usage.trouble)
			return join_anew(start, node, usage.trouble, err);
	}
	return r < 0 ? error_move(err, r, &why) : r;
}

static int finish_all(struct start *start, struct error *err)
{
	struct node *node;

	profile_for_each_node(node, &start->profile) {
		struct bootstrap *join = &start->joins[node - start->profile.nodes];
		int r;

		if (join->process.pid <= 0)
			continue;
		r = node->control_plane ? bootstrap_finish(join, start->deadline, err)
					: finish_worker(start, node, err);
		if (r == 0 && node->control_plane)
			continue;
		if (r == 0)
			r = bootstrap_label(&start->profile, node, start->deadline, err);
		if (r == 0)
			r = start_mark_joined(start, node, err);
		observe_end(start->observer, "joining node", node->name, r == 0);
		if (r < 0)
			return r;
		world->after("join node");
	}
	return 0;
}

bool start_anybody_joins(const struct start *start)
{
	const struct node *node;

	profile_for_each_node(node, &start->profile)
		if (node->phase == NODE_PLANNED && start_takes_part(start, node))
			return true;
	return false;
}

/* Delete the objects of nodes that were deleted while the API was down, or lost, and their members
 * of etcd. */
static int forget_orphans(struct start *start, struct error *err)
{
	const char *name;
	int r = 0;

	if (start->profile.orphans.count == 0)
		return 0;
	r = cluster_wait(&start->profile, WAIT_API, NULL,
			 (unsigned)clock_left_ms(start->deadline) / 1000, start->observer, err);
	strlist_for_each(name, &start->profile.orphans) {
		if (r == 0)
			r = members_remove_named(&start->profile, name, err);
		if (r == 0)
			r = cluster_forget_node(&start->profile, name, err);
	}
	if (r < 0)
		return r;
	strlist_release(&start->profile.orphans);
	strlist_release(&start->profile.lost_members);
	return profile_save(&start->profile, err);
}

int start_begin_joins(struct start *start, bool needs_token, struct error *err)
{
	int r = 0;

	if (needs_token && start_anybody_joins(start)) {
		r = cluster_wait(&start->profile, WAIT_API, NULL,
				 (unsigned)clock_left_ms(start->deadline) / 1000, start->observer,
				 err);
		if (r == 0)
			r = bootstrap_add_token(&start->profile, start->token, err);
	}
	if (r == 0)
		r = forget_orphans(start, err);
	return r < 0 ? r : begin_workers(start, err);
}

/* A voting member has everything it needs: kubeadm finished, or was interrupted, after that point.
 * Anything less is started over. */
static int join_control_plane(struct start *start, struct node *node, struct error *err)
{
	cleanup_with(members_release) struct members members = MEMBERS_INIT;
	struct bootstrap *join = &start->joins[node - start->profile.nodes];
	const struct member *member;
	int r = members_read(&start->profile, &members, err);

	if (r < 0)
		return r;
	member = members_find(&members, node);
	if (member && !member->learner && *member->name)
		return 0;
	if (member)
		r = members_remove(&start->profile, node, err);
	if (r == 0 && !cluster_node_is_lost(&start->profile, node))
		r = bootstrap_reset(&start->profile, node, start->deadline, err);
	if (r == 0)
		r = bootstrap_disown(&start->profile, node, err);
	if (r == 0)
		r = bootstrap_join(&start->profile, node, start->token, join, err);
	return r < 0 ? r : bootstrap_await_member(&start->profile, join, start->deadline, err);
}

/* kubeadm's timeout for some requests to etcd is 2 s, which a busy machine may exceed. */
static int join_with_retry(struct start *start, struct node *node, struct error *err)
{
	struct bootstrap *join = &start->joins[node - start->profile.nodes];
	int r = join_control_plane(start, node, err);

	if (r != -EIO)
		return r;
	log_debug("retrying the join of '%s': %s", node->name, err ? err->text : "kubeadm failed");
	if (err)
		error_clear(err);
	bootstrap_release(join);
	return join_control_plane(start, node, err);
}

static int join_control_planes(struct start *start, struct error *err)
{
	struct node *node;

	profile_for_each_node(node, &start->profile) {
		int r;

		if (!node->control_plane || node->phase != NODE_PLANNED ||
		    !start_takes_part(start, node))
			continue;
		observe_begin(start->observer, "joining control plane", node->name);
		r = join_with_retry(start, node, err);
		if (r == 0)
			r = bootstrap_mark_control_plane(&start->profile, node, start->deadline,
							 err);
		if (r == 0)
			r = bootstrap_label(&start->profile, node, start->deadline, err);
		if (r == 0)
			r = start_mark_joined(start, node, err);
		if (r == 0)
			world->after("join control plane");
		if (r == 0)
			r = world->front_door_up(&start->profile, err);
		observe_end(start->observer, "joining control plane", node->name, r == 0);
		if (r < 0)
			return r;
	}
	return 0;
}

int start_finish_joins(struct start *start, struct error *err)
{
	int r = join_control_planes(start, err);

	return r < 0 ? r : finish_all(start, err);
}
