/*
 * Start: nodes that have joined, but of which nothing is left, since their directories were
 * removed.
 *
 * Such a node is made anew and joins again, under its old name and with its old addresses.  What
 * the API and etcd know of the old one is removed before that, as for a node that was deleted while
 * the API was down: the profile calls it an orphan until that has been done.
 *
 * A member of etcd can only be replaced while the others are a majority; nothing is started or
 * changed otherwise.
 */

#include "base/cleanup.h"
#include "base/log.h"
#include "cluster/start.h"
#include "kubeadm/members.h"
#include "plan/check.h"

/* The members of etcd by the record, and those of them of which nothing is left. */
struct loss {
	unsigned members;
	struct strlist lost;
};

static void release_loss(struct loss *loss)
{
	strlist_release(&loss->lost);
}

static void find_lost_members(const struct profile *profile, struct loss *ret)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		if (!node->control_plane || node->phase != NODE_JOINED)
			continue;
		ret->members++;
		if (cluster_node_is_lost(profile, node))
			strlist_add(&ret->lost, node->name);
	}
}

/* The data of the cluster is gone.  Deleting what is left of it would not bring it back. */
static int refuse_without_data(const struct profile *profile, const struct loss *loss,
			       struct error *err)
{
	cleanup_free char *names = strlist_join(&loss->lost, ", ");

	if (loss->members == 1)
		(void)error_because(err, &reason_control_plane, -ENOENT,
				    "the directory '%s/nodes/%s' is gone, and with it the data of "
				    "cluster '%s': node '%s' was its only control plane",
				    profile->dir, names, profile->name, names);
	else
		(void)error_because(err, &reason_control_plane, -ENOENT,
				    "the directories of all control planes (%s) in '%s/nodes' are "
				    "gone, and with them the data of cluster '%s'",
				    names, profile->dir, profile->name);
	return error_hint(
		err, -ENOENT,
		"nothing was changed; put back what was there from a backup, and run "
		"'manykube start' again; or make another cluster like it: 'manykube config "
		"view' prints a file for 'start -f'");
}

/* Whatever is started, LEFT of ALL members are no majority. */
static int refuse_without_majority(const struct profile *profile, unsigned left, unsigned all,
				   struct error *err)
{
	cleanup_free char *names = strlist_join(&profile->lost_members, ", ");

	(void)error_because(err, &reason_control_plane, -EAGAIN,
			    "%s %s deleted with --force: %u of %u members of etcd %s left, and %u "
			    "are needed",
			    names, profile->lost_members.count == 1 ? "was" : "were", left, all,
			    left == 1 ? "is" : "are", members_majority(all));
	return error_hint(err, -EAGAIN, "'manykube node recover' goes on with what is left");
}

static int check_members(const struct profile *profile, struct error *err)
{
	cleanup_with(release_loss) struct loss loss = { .lost = STRLIST_INIT };
	cleanup_free char *names = NULL;
	unsigned left;
	unsigned all;

	find_lost_members(profile, &loss);
	left = loss.members - (unsigned)loss.lost.count;
	all = loss.members + (unsigned)profile->lost_members.count;
	if (profile->lost_members.count > 0 && loss.lost.count == 0 && left < members_majority(all))
		return refuse_without_majority(profile, left, all, err);
	if (loss.lost.count == 0 || left >= members_majority(loss.members))
		return 0;
	if (left == 0)
		return refuse_without_data(profile, &loss, err);
	names = strlist_join(&loss.lost, ", ");
	(void)error_because(err, &reason_control_plane, -EAGAIN,
			    "the directories of control planes (%s) in '%s/nodes' are gone: %u of "
			    "%u members of etcd are left, and %u are needed",
			    names, profile->dir, left, loss.members,
			    members_majority(loss.members));
	return members_hint_lost(-EAGAIN, err);
}

/* Have NODE join again as a new one. */
static void take_for_new(struct profile *profile, struct node *node)
{
	log_warning("the directory of node '%s' is gone: it is made anew and joins again, without "
		    "what was on it",
		    node->name);
	node->phase = NODE_PLANNED;
	if (!strlist_has(&profile->orphans, node->name))
		strlist_add(&profile->orphans, node->name);
}

int start_find_lost(struct start *start, const struct cluster_options *options, struct error *err)
{
	struct profile *profile = &start->profile;
	cleanup_with(strlist_release) struct strlist planes = STRLIST_INIT;
	const char *name;
	struct node *node;
	/* A recovery goes on without the others, lost or not. */
	int r = options->recovering ? 0 : check_members(profile, err);

	if (r < 0)
		return r;
	profile_for_each_node(node, profile) {
		if (node->phase != NODE_JOINED || !cluster_takes_part(options, node) ||
		    !cluster_node_is_lost(profile, node))
			continue;
		take_for_new(profile, node);
		if (node->control_plane)
			strlist_add(&planes, node->name);
	}
	/* Now that none of them is a member in the record, none can become the primary. */
	strlist_for_each(name, &planes) {
		r = cluster_step_back(profile, profile_find_node(profile, name), err);
		if (r < 0)
			return r;
	}
	return 0;
}
