/*
 * Changing the pod network of a cluster, in this order:
 *
 *  1. what the new network needs is got, and the change is recorded;
 *  2. this host's routes, and which nodes network policies are enforced on, follow;
 *  3. objects of the old network are deleted from the API, those of the new one installed; before a
 *     network that is not ours is installed, nodes have no configuration of any;
 *  4. one node after another gets the new configuration and routes, and its pods are made anew;
 *  5. the change is taken from the record.
 *
 * All networks of ours give pods addresses of the same podCIDRs, which all nodes and this host have
 * routes to throughout: so pods of the old and the new network reach each other meanwhile.
 */

#include "cluster/change-network.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cluster/cluster.h"
#include "cni/move-node.h"
#include "cni/pod-network.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "record/cni.h"
#include "record/world.h"

static bool is_same_backend(const struct profile *one, const struct profile *other)
{
	return strcmp(one->cni_backend ?: "host-gw", other->cni_backend ?: "host-gw") == 0;
}

static bool has_same_network(const struct profile *one, const struct profile *other)
{
	return strcmp(one->cni, other->cni) == 0 &&
	       (cni_kind(one->cni) != CNI_FLANNEL || is_same_backend(one, other));
}

void cluster_note_network(struct profile *profile, const struct profile *before)
{
	const struct node *node;

	if (has_same_network(profile, before))
		return;
	/* Of an unfinished change, the first network is still there on some nodes. */
	if (!profile->network_from)
		profile->network_from = xstrdup(before->cni);
	strlist_release(&profile->network_due);
	profile_for_each_node(node, profile)
		strlist_add(&profile->network_due, node->name);
}

/* The pods of nodes that do not run get the new network when they start. */
static int move_nodes(struct profile *profile, unsigned seconds, struct observer *observer,
		      struct error *err)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		int r;

		if (!strlist_has(&profile->network_due, node->name))
			continue;
		observe_begin(observer, "changing pod network", node->name);
		r = move_node_to_network(profile, node, seconds, err);
		observe_end(observer, "changing pod network", node->name, r == 0);
		if (r < 0)
			return r;
		strlist_remove(&profile->network_due, node->name);
		r = profile_save(profile, err);
		if (r < 0)
			return r;
		world->after("change pod network of a node");
	}
	return 0;
}

static int give_images(const struct profile *profile, struct error *err)
{
	const struct node *node;
	int r = 0;

	profile_for_each_node(node, profile)
		if (r == 0 && cluster_node_is_awake(profile, node))
			r = pod_network_after_start(profile, node, err);
	return r;
}

static int change_objects(const struct profile *profile, struct error *err)
{
	int r = pod_network_uninstall_others(profile, err);

	if (r == 0)
		world->after("uninstall pod network");
	if (r == 0)
		r = move_node_clear_all(profile, err);
	if (r == 0)
		world->after("clear nodes");
	if (r == 0)
		r = give_images(profile, err);
	if (r == 0)
		r = pod_network_install(profile, err);
	if (r == 0)
		world->after("install pod network");
	return r;
}

/* Nothing could be done about the pods of a frozen node, or without the API. */
static int check_may_change(const struct profile *profile, struct error *err)
{
	const struct node *node;
	int r = cluster_need_awake(profile, err);

	profile_for_each_node(node, profile)
		if (r == 0)
			r = cluster_node_need_awake(profile, node, err);
	if (r == 0)
		r = world->kube(profile, KUBE_GET, "/readyz", NULL, NULL, err);
	return r < 0 ? error_prefix(err, r, "the pod network cannot be changed") : 0;
}

int cluster_finish_network(struct profile *profile, unsigned seconds, struct observer *observer,
			   struct error *err)
{
	static const char step[] = "changing pod network";
	int r;

	if (!profile->network_from)
		return 0;
	observe_begin(observer, step, NULL);
	r = world->network_up(profile, err);
	if (r == 0)
		r = world->front_door_up(profile, err);
	if (r == 0)
		r = change_objects(profile, err);
	observe_end(observer, step, NULL, r == 0);
	if (r == 0)
		r = move_nodes(profile, seconds, observer, err);
	if (r < 0)
		return r;
	free(take_ptr(profile->network_from));
	strlist_release(&profile->network_due);
	return profile_save(profile, err);
}

/* Record the change.  MANIFESTS are the new network's. */
static int record_change(struct profile *profile, const char *cni, const char *backend,
			 unsigned offline, struct observer *observer, struct error *err)
{
	cleanup_with(cni_manifests_release) struct cni_manifests manifests = CNI_MANIFESTS_INIT;
	cleanup_with(profile_release) struct profile before = PROFILE_INIT;
	const struct payload_source source = { .offline = offline };
	int r = profile_copy(profile, &before, err);

	if (r < 0)
		return r;
	if (cni)
		setting_set_word(&profile->cni, cni);
	if (backend)
		setting_set_word(&profile->cni_backend, backend);
	cluster_note_network(profile, &before);
	r = pod_network_get(profile, &source, observer, &manifests, err);
	if (r == 0)
		r = pod_network_keep(profile, &manifests, err);
	return r < 0 ? r : profile_save(profile, err);
}

int cluster_change_network(struct profile *profile, const char *cni, const char *backend,
			   unsigned seconds, struct observer *observer, struct error *err)
{
	bool was_due = profile->network_from != NULL;
	int r = check_may_change(profile, err);

	if (r == 0)
		r = record_change(profile, cni, backend, profile->offline, observer, err);
	if (r < 0)
		return r;
	world->after("record pod network");
	if (!was_due && !profile->network_from)
		return 0;
	r = cluster_finish_network(profile, seconds, observer, err);
	return r < 0 ? r : 1;
}
