/*
 * Continuing with one control plane after a majority of etcd's members was lost.
 *
 * etcd is started once with --force-new-cluster, which removes all other members.  The profile
 * records first that this has begun.  Until it is finished, no other node may be started, since the
 * others would still count themselves as members.
 *
 * The node is restarted each time that etcd's arguments change: a running kubelet needs half a
 * minute to notice that, and longer for an API server that has failed often.
 */

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cluster/cluster.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "record/options.h"
#include "record/world.h"

#define MANIFEST "kubernetes/manifests/etcd.yaml"
/* Not in the directory of manifests: the kubelet takes every file there for a pod. */
#define MAKING   "kubernetes/etcd.yaml"

#define FIRST_WORD "    - etcd\n"
#define ALONE      "    - --force-new-cluster\n"

/* Add the argument that makes NODE's etcd the only member to its manifest, or remove it. */
static int change_manifest(const struct profile *profile, const struct node *node, bool alone,
			   struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf changed = STRBUF_INIT;
	const char *argument;
	const char *command;
	int r = node_read(profile, node, MANIFEST, &text, err);

	if (r < 0)
		return error_prefix(err, r, "'%s' has no member of etcd", node->name);
	argument = strstr(text.text, ALONE);
	command = strstr(text.text, FIRST_WORD);
	if (!command)
		return error_set(err, -EBADMSG, "'%s' does not run etcd", node->name);
	if (alone == (argument != NULL))
		return 0;
	command += strlen(FIRST_WORD);
	if (alone)
		strbuf_addf(&changed, "%.*s" ALONE "%s", (int)(command - text.text), text.text,
			    command);
	else
		strbuf_addf(&changed, "%.*s%s", (int)(argument - text.text), text.text,
			    argument + strlen(ALONE));
	r = node_put(profile, node, MAKING, changed.text, 0600, err);
	return r < 0 ? r : node_rename(profile, node, MAKING, MANIFEST, err);
}

/* Restart etcd on SURVIVOR, ALONE or normally, and wait up to SECONDS for the API. */
static int restart_survivor(const struct profile *profile, const struct node *survivor, bool alone,
			    unsigned seconds, struct observer *observer, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct cluster_options options = { .only = &names,
					   .recovering = true,
					   .force = true,
					   .wait = WAIT_API,
					   .wait_seconds = seconds };
	struct cluster_outcome outcome;
	int r;

	strlist_add(&names, survivor->name);
	r = cluster_stop_nodes(profile, &names, observer, err);
	if (r >= 0)
		r = change_manifest(profile, survivor, alone, err);
	if (r == 0)
		world->after("change etcd");
	return r < 0 ? r : cluster_start(profile->name, &options, observer, &outcome, err);
}

/* Check that etcd has no other members any more. */
static int check_alone(const struct profile *profile, const struct node *survivor,
		       struct error *err)
{
	cleanup_with(members_release) struct members members = MEMBERS_INIT;
	int r = members_read(profile, &members, err);

	if (r == 0 && members.count != 1)
		r = error_because(err, &reason_control_plane, -EIO,
				  "etcd on '%s' still has %zu members", survivor->name,
				  members.count);
	return r;
}

/*
 * Whether the directories of so many members are missing that the others can never be a majority.
 */
static bool majority_is_gone(const struct profile *profile)
{
	const struct node *node;
	unsigned count = (unsigned)profile->lost_members.count;
	unsigned left = 0;

	profile_for_each_node(node, profile) {
		if (!node->control_plane || node->phase != NODE_JOINED)
			continue;
		count++;
		left += !cluster_node_is_lost(profile, node);
	}
	return left < members_majority(count);
}

/* Whether the cluster can continue with NODE: it is a member that runs, or that could run if others
 * did. */
static bool may_survive(const struct profile *profile, const struct node *node)
{
	if (!node->control_plane || node->phase != NODE_JOINED)
		return false;
	return cluster_node_state(profile, node) == NODE_RUNNING ||
	       (majority_is_gone(profile) && !cluster_node_is_lost(profile, node));
}

int cluster_choose_survivor(const struct profile *profile, const char *name, struct node **ret_node,
			    struct error *err)
{
	struct members_tally tally = members_tally(profile, NULL);
	struct node *node = NULL;
	struct node *other;
	int r;

	name = name ? name : profile->recovering;
	if (name) {
		r = profile_need_node(profile, name, &node, err);
		if (r < 0)
			return r;
	}
	if (profile->recovering && strcmp(profile->recovering, name) != 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "an unfinished recovery with '%s' can only be finished",
				     profile->recovering);
	profile_for_each_node(other, profile)
		if (!node && may_survive(profile, other))
			node = other;
	if (profile->recovering) {
		*ret_node = node;
		return 0;
	}
	/* The paused members have data that a recovery would lose. */
	if (tally.paused > 0 && tally.running + tally.paused >= members_majority(tally.count)) {
		(void)error_because(err, &reason_control_plane, -EBUSY,
				    "%u of %u members of etcd are only paused: there is nothing to "
				    "recover",
				    tally.paused, tally.count);
		return members_hint_majority(profile, -EBUSY, err);
	}
	if (!node || !may_survive(profile, node)) {
		(void)error_because(err, &reason_control_plane, -ESRCH,
				    node ? "'%s' is not a control plane that runs"
					 : "no control plane of '%s' runs",
				    node ? node->name : profile->name);
		return error_hint(err, -ESRCH,
				  "'manykube start' brings all up; name one that then runs");
	}
	if (tally.running >= members_majority(tally.count)) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "%u of %u members of etcd run, and %u are enough: there is "
				    "nothing to recover",
				    tally.running, tally.count, members_majority(tally.count));
		return error_hint(err, -EINVAL, "'manykube start' brings up those that do not run");
	}
	*ret_node = node;
	return 0;
}

/* Record that all other control planes have to join SURVIVOR, whatever their state was. */
static int record_recovery(struct profile *profile, struct node *survivor, struct error *err)
{
	struct node *node;

	free(profile->recovering);
	profile->recovering = xstrdup(survivor->name);
	strlist_release(&profile->lost_members);
	profile_for_each_node(node, profile) {
		if (node == survivor)
			continue;
		node->primary = false;
		if (node->control_plane && node->phase == NODE_JOINED)
			node->phase = NODE_PLANNED;
	}
	survivor->primary = true;
	return profile_save(profile, err);
}

int cluster_recover(struct profile *profile, struct node *survivor, unsigned seconds,
		    struct observer *observer, struct error *err)
{
	int r = fail_need_none(profile, "a recovery", err);

	if (r == 0)
		r = record_recovery(profile, survivor, err);
	if (r < 0)
		return r;
	world->after("note recovery");
	r = restart_survivor(profile, survivor, true, seconds, observer, err);
	if (r == 0)
		r = check_alone(profile, survivor, err);
	if (r == 0)
		r = restart_survivor(profile, survivor, false, seconds, observer, err);
	if (r < 0)
		return r;
	free(take_ptr(profile->recovering));
	r = profile_save(profile, err);
	if (r == 0)
		world->after("end recovery");
	return r;
}
