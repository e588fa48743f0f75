/*
 * Start: nodes that have joined, but whose directories were removed.
 *
 * Such a node is created again and joins again, with its old name and addresses.  Before that, its
 * objects in the API and its member of etcd are removed, as for a node that was deleted while the
 * API was down: until then, it is listed as an orphan in the profile.
 *
 * A member of etcd can only be replaced while the others are a majority; otherwise nothing is
 * started or changed.
 */

#include "base/cleanup.h"
#include "base/log.h"
#include "cluster/start.h"
#include "kubeadm/members.h"
#include "plan/check.h"

/* The members of etcd in the record, and those of them whose directories are missing. */
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

/* The data of the cluster is lost.  Deleting the rest would not bring it back. */
static int refuse_without_data(const struct profile *profile, const struct loss *loss,
			       struct error *err)
{
	cleanup_free char *names = strlist_join(&loss->lost, ", ");

	if (loss->members == 1)
		(void)error_because(
			err, &reason_control_plane, -ENOENT,
			"the directory '%s/nodes/%s' is missing, and with it the data of "
			"cluster '%s': node '%s' was its only control plane",
			profile->dir, names, profile->name, names);
	else
		(void)error_because(err, &reason_control_plane, -ENOENT,
				    "the directories of all control planes (%s) in '%s/nodes' are "
				    "missing, and with them the data of cluster '%s'",
				    names, profile->dir, profile->name);
	return error_hint(
		err, -ENOENT,
		"nothing was changed; restore what is missing from a backup, and run "
		"'manykube start' again; or create another cluster like it: 'manykube config "
		"view' prints a file for 'start -f'");
}

/* Even if all nodes were started, LEFT of ALL members are not a majority. */
static int refuse_without_majority(const struct profile *profile, unsigned left, unsigned all,
				   struct error *err)
{
	cleanup_free char *names = strlist_join(&profile->lost_members, ", ");

	(void)error_because(err, &reason_control_plane, -EAGAIN,
			    "%s %s deleted with --force: %u of %u members of etcd %s left, and %u "
			    "are needed",
			    names, profile->lost_members.count == 1 ? "was" : "were", left, all,
			    left == 1 ? "is" : "are", members_majority(all));
	return error_hint(err, -EAGAIN, "'manykube node recover' continues with what is left");
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
	(void)error_because(
		err, &reason_control_plane, -EAGAIN,
		"the directories of control planes (%s) in '%s/nodes' are missing: %u of "
		"%u members of etcd are left, and %u are needed",
		names, profile->dir, left, loss.members, members_majority(loss.members));
	return members_hint_lost(-EAGAIN, err);
}

/* Reset the record of NODE, so that it joins again as a new node. */
static void reset_lost_node(struct profile *profile, struct node *node)
{
	log_warning(
		"the directory of node '%s' is missing: it is created again and joins again, without "
		"its data",
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
	/* A recovery continues without the other control planes, whether they are lost or not. */
	int r = options->recovering ? 0 : check_members(profile, err);

	if (r < 0)
		return r;
	profile_for_each_node(node, profile) {
		if (node->phase != NODE_JOINED || !cluster_takes_part(options, node) ||
		    !cluster_node_is_lost(profile, node))
			continue;
		reset_lost_node(profile, node);
		if (node->control_plane)
			strlist_add(&planes, node->name);
	}
	/* No lost node is a member in the record any more, so none can become the primary. */
	strlist_for_each(name, &planes) {
		r = cluster_step_back(profile, profile_find_node(profile, name), err);
		if (r < 0)
			return r;
	}
	return 0;
}
