/*
 * Upgrading a cluster:
 *
 *  1. everything is brought up, and all nodes get the images of the new version; nothing else
 *     changes yet;
 *  2. the profile gets the new version, and records the old one.  From now on, a node that is
 *     started has the new payload but, until its own turn, its old kubelet;
 *  3. control planes are upgraded one after another: kubeadm prepares the node, its pods are moved
 *     to other nodes, and it is restarted with the new static pods and the new kubelet.  That
 *     kubelet uses the API server on its own node only, and so never one that is older than itself;
 *  4. cluster-wide objects are upgraded: kubeadm's configuration, DNS, kube-proxy;
 *  5. workers are upgraded one after another, in the same way;
 *  6. the record of the old version is removed.
 *
 * The progress of each node follows from its version in the profile and its manifests.
 */

#include "cluster/upgrade.h"

#include <string.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "cluster/start.h"
#include "kubeadm/drain.h"
#include "kubeadm/upgrade-node.h"
#include "node/cluster-node.h"
#include "record/options.h"
#include "record/skew.h"

#define POLL_MS 100

/* Disk space for the new images on a node, packed and unpacked. */
#define CONTROL_PLANE_BYTES (UINT64_C(1000) << 20)
#define WORKER_BYTES        (UINT64_C(320) << 20)

struct upgrade {
	struct profile *profile;
	const struct upgrade_options *options;
	struct observer *observer;
	struct payload payload;
	struct upgrade_plan plan;
};

static void release_upgrade(struct upgrade *upgrade)
{
	payload_release(&upgrade->payload);
	upgrade_plan_release(&upgrade->plan);
}

void upgrade_plan_release(struct upgrade_plan *plan)
{
	free(plan->from);
	free(plan->to);
	*plan = UPGRADE_PLAN_INIT;
}

char *upgrade_words(const struct profile *profile, const char *busy_with)
{
	cleanup_free char *words = NULL;

	if (!profile->upgrading_from)
		return NULL;
	if (busy_with && strstr(busy_with, " upgrade"))
		return xasprintf("from %s to %s, under way", profile->upgrading_from,
				 profile->kubernetes_version);
	words = xasprintf("from %s to %s, unfinished: 'manykube upgrade' continues it",
			  profile->upgrading_from, profile->kubernetes_version);
	return advice_complete(words);
}

bool upgrade_is_due(const struct profile *profile, const struct node *node, const char *version)
{
	const char *has = node->kubernetes_version ? node->kubernetes_version
						   : profile->kubernetes_version;

	return node->phase != NODE_LEAVING &&
	       (strcmp(has, version) != 0 || (node->control_plane && profile->upgrading_from &&
					      !upgrade_has_manifests(profile, node, version)));
}

/* A worker with an older version than its cluster may be too old for the next version. */
static int check_workers(const struct profile *profile, const char *to, struct error *err)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		int r = cluster_node_differs(profile, node)
				? skew_check(to, node->kubernetes_version, false, err)
				: 0;

		if (r < 0)
			return error_hint(err, r,
					  "'manykube upgrade --kubernetes-version=%s' brings node "
					  "'%s' to that version first",
					  profile->kubernetes_version, node->name);
	}
	return 0;
}

int upgrade_plan(const struct profile *profile, const char *version, struct upgrade_plan *ret,
		 struct error *err)
{
	const char *has = profile->kubernetes_version;
	const char *from = profile->upgrading_from ? profile->upgrading_from : has;
	const char *usual = profile->upgrading_from ? has : payload_versions()[0];
	const char *to = version ? version : usual;
	const struct node *node;
	bool is_due = profile->upgrading_from || strcmp(has, to) != 0;
	int r;

	if (profile->upgrading_from && strcmp(has, to) != 0) {
		(void)error_because(err, &reason_control_plane, -EBUSY,
				    "the unfinished upgrade of cluster '%s' from %s to %s can "
				    "only be finished",
				    profile->name, from, has);
		return error_hint(err, -EBUSY, "'manykube upgrade' does that");
	}
	r = skew_check_upgrade(from, to, err);
	if (r == 0)
		r = check_workers(profile, to, err);
	if (r < 0)
		return r;
	profile_for_each_node(node, profile)
		is_due |= upgrade_is_due(profile, node, to);
	*ret = (struct upgrade_plan){ .from = xstrdup(from),
				      .to = xstrdup(to),
				      .is_begun = profile->upgrading_from,
				      .is_done = !is_due };
	return 0;
}

static int64_t deadline_of(const struct upgrade *upgrade)
{
	return clock_now_ms() + (int64_t)upgrade->options->wait_seconds * 1000;
}

/* Start the node called NAME (NULL: all), and reload the profile. */
static int bring_up_upgraded(struct upgrade *upgrade, const char *name, struct error *err)
{
	cleanup_with(profile_release) struct profile fresh = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct cluster_options options = {
		.only = name ? &names : NULL,
		.force = name,
		.binary_mirror = upgrade->options->binary_mirror,
		.wait = WAIT_API | WAIT_NODES,
		.wait_seconds = upgrade->options->wait_seconds,
	};
	struct cluster_outcome outcome;
	int r;

	if (name)
		strlist_add(&names, name);
	r = cluster_start(upgrade->profile->name, &options, upgrade->observer, &outcome, err);
	if (r == 0)
		r = profile_load(upgrade->profile->name, &fresh, err);
	if (r < 0)
		return r;
	profile_release(upgrade->profile);
	*upgrade->profile = fresh;
	fresh = PROFILE_INIT;
	return 0;
}

static int check_disk(const struct upgrade *upgrade, struct error *err)
{
	const struct node *node;
	uint64_t bytes = 0;

	profile_for_each_node(node, upgrade->profile)
		if (upgrade_is_due(upgrade->profile, node, upgrade->plan.to))
			bytes += node->control_plane ? CONTROL_PLANE_BYTES : WORKER_BYTES;
	return world->room(0, bytes, err);
}

static int load_images(struct upgrade *upgrade, struct error *err)
{
	const struct node *node;
	int r = check_disk(upgrade, err);

	profile_for_each_node(node, upgrade->profile) {
		if (r < 0)
			return r;
		if (upgrade_is_due(upgrade->profile, node, upgrade->plan.to))
			r = STEP_SEEN_BY(upgrade->observer, "loading images", node->name,
					 world->import_images(upgrade->profile, node,
							      &upgrade->payload, err));
	}
	return r;
}

/* Record the upgrade in the profile.  From now on, the cluster has two versions. */
static int record_upgrade(struct upgrade *upgrade, struct error *err)
{
	struct profile *profile = upgrade->profile;
	struct node *node;
	int r;

	if (strcmp(profile->kubernetes_version, upgrade->plan.to) == 0)
		return 0;
	profile_for_each_node(node, profile)
		if (!node->kubernetes_version)
			node->kubernetes_version = xstrdup(profile->kubernetes_version);
	profile->upgrading_from = xstrdup(profile->kubernetes_version);
	setting_set_word(&profile->kubernetes_version, upgrade->plan.to);
	r = profile_save(profile, err);
	if (r == 0)
		world->after("note upgrade");
	return r;
}

/* Pods that cannot be moved are stopped and started with the node. */
static void drain_if_possible(struct upgrade *upgrade, const struct strlist *names)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	unsigned seconds = upgrade->options->drain_seconds;
	int r;

	if (!upgrade->options->drain || upgrade->profile->node_count == 1)
		return;
	r = drain_nodes(upgrade->profile, names, DRAIN_CONTROLLED, seconds, upgrade->observer,
			&why);
	if (r < 0)
		log_warning("continuing although not all pods could be moved to other nodes: %s",
			    why.text);
}

/* Wait until the API has the version of NODE's new kubelet, which is reported shortly after the
 * node is Ready. */
static int await_kubelet(const struct upgrade *upgrade, const struct node *node, struct error *err)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);
	int64_t deadline = deadline_of(upgrade);
	cleanup_with(world_restore) arg_unused const int64_t *before_ms = world_until(&deadline);

	if (node->kubelet_binary)
		return 0;
	for (;;) {
		json_auto_t *object = NULL;
		const char *version;

		(void)world->kube(upgrade->profile, KUBE_GET, path, NULL, &object, NULL);
		version = json_string_value(json_object_get(
			json_object_get(json_object_get(object, "status"), "nodeInfo"),
			"kubeletVersion"));
		if (version && strcmp(version, upgrade->plan.to) == 0)
			return 0;
		if (!clock_poll(deadline, POLL_MS))
			return error_because(err, &reason_wait_timeout, -ETIMEDOUT,
					     "the kubelet of node '%s' still has %s", node->name,
					     version ? version : "an unknown version");
	}
}

/* Restart NODE, which has been prepared, with the new version. */
static int restart_upgraded(struct upgrade *upgrade, struct node *node, struct error *err)
{
	struct profile *profile = upgrade->profile;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r;

	strlist_add(&names, node->name);
	drain_if_possible(upgrade, &names);
	r = cluster_stop_nodes(profile, &names, upgrade->observer, err);
	if (r >= 0)
		r = node->control_plane ? upgrade_replace_manifests(profile, node, err) : 0;
	if (r < 0)
		return r;
	world->after("replace manifests");
	setting_set_word(&node->kubernetes_version, upgrade->plan.to);
	r = profile_save(profile, err);
	if (r < 0)
		return r;
	world->after("note version");
	r = bring_up_upgraded(upgrade, names.items[0], err);
	return r < 0 ? r : await_kubelet(upgrade, profile_find_node(profile, names.items[0]), err);
}

static int upgrade_node(struct upgrade *upgrade, struct node *node, struct error *err)
{
	int r;

	if (node->phase != NODE_JOINED || !upgrade_is_due(upgrade->profile, node, upgrade->plan.to))
		return 0;
	r = STEP_SEEN_BY(upgrade->observer, "preparing the upgrade", node->name,
			 upgrade_prepare_node(upgrade->profile, node, &upgrade->payload,
					      deadline_of(upgrade), err));
	return r < 0 ? r : restart_upgraded(upgrade, node, err);
}

/* Upgrade the control planes, or the other nodes; the primary comes first, since it creates what
 * the others use. */
static int upgrade_nodes(struct upgrade *upgrade, bool control_planes, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const struct node *primary = profile_primary(upgrade->profile);
	const struct node *node;
	const char *name;
	int r = 0;

	if (control_planes && primary)
		strlist_add(&names, primary->name);
	profile_for_each_node(node, upgrade->profile)
		if (node->control_plane == control_planes && !strlist_has(&names, node->name))
			strlist_add(&names, node->name);
	strlist_for_each(name, &names) {
		struct node *next = profile_find_node(upgrade->profile, name);

		if (r == 0 && next)
			r = upgrade_node(upgrade, next, err);
	}
	return r;
}

/* The image of NODE's API server according to the API. */
static const char *api_server_image(const json_t *pods, const struct node *node)
{
	cleanup_free char *name = xasprintf("kube-apiserver-%s", node->name);
	const json_t *spec = json_object_get(kube_find_object(pods, name), "spec");
	const json_t *container = json_array_get(json_object_get(spec, "containers"), 0);

	return json_string_value(json_object_get(container, "image"));
}

/* Wait until the API reports the new version for all API servers: otherwise kubeadm would not
 * upgrade DNS and kube-proxy. */
static int await_api_servers(const struct upgrade *upgrade, struct error *err)
{
	cleanup_free char *end = xasprintf(":%s", upgrade->plan.to);
	int64_t deadline = deadline_of(upgrade);
	cleanup_with(world_restore) arg_unused const int64_t *before_ms = world_until(&deadline);

	for (;;) {
		json_auto_t *pods = NULL;
		const struct node *node;
		const char *old = NULL;

		(void)world->kube(
			upgrade->profile, KUBE_GET,
			"/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkube-apiserver",
			NULL, &pods, NULL);
		profile_for_each_node(node, upgrade->profile) {
			const char *image = node->control_plane ? api_server_image(pods, node)
								: end;

			if (!image || !strstr(image, end))
				old = node->name;
		}
		if (!old)
			return 0;
		if (!clock_poll(deadline, POLL_MS))
			return error_because(err, &reason_wait_timeout, -ETIMEDOUT,
					     "the API does not know that node '%s' has a new API "
					     "server",
					     old);
	}
}

static int upgrade_addons(struct upgrade *upgrade, struct error *err)
{
	int r = await_api_servers(upgrade, err);

	return r < 0 ? r
		     : upgrade_rest(upgrade->profile, profile_primary(upgrade->profile),
				    upgrade->plan.to, deadline_of(upgrade), err);
}

static int forget_upgrade(struct upgrade *upgrade, struct error *err)
{
	int r;

	free(take_ptr(upgrade->profile->upgrading_from));
	r = profile_save(upgrade->profile, err);
	if (r == 0)
		world->after("end upgrade");
	return r;
}

static int run_upgrade(struct upgrade *upgrade, struct error *err)
{
	int r = bring_up_upgraded(upgrade, NULL, err);

	if (r == 0)
		r = load_images(upgrade, err);
	if (r == 0)
		r = record_upgrade(upgrade, err);
	if (r < 0)
		return r;
	if (upgrade->profile->upgrading_from) {
		r = upgrade_nodes(upgrade, true, err);
		if (r == 0)
			r = STEP_SEEN_BY(upgrade->observer, "upgrading DNS and kube-proxy", NULL,
					 upgrade_addons(upgrade, err));
	}
	if (r == 0)
		r = upgrade_nodes(upgrade, false, err);
	return r < 0 ? r : forget_upgrade(upgrade, err);
}

int cluster_upgrade(struct profile *profile, const struct upgrade_options *options,
		    struct observer *observer, struct error *err)
{
	cleanup_with(release_upgrade) struct upgrade upgrade = { .profile = profile,
								 .options = options,
								 .observer = observer };
	const struct payload_source source = { .binary_mirror = options->binary_mirror,
					       .offline = profile->offline };
	int r = upgrade_plan(profile, options->version, &upgrade.plan, err);

	if (r < 0 || upgrade.plan.is_done)
		return r;
	r = fail_need_none(profile, "an upgrade", err);
	if (r < 0)
		return r;
	r = world->payload(upgrade.plan.to, &source, observer, &upgrade.payload, err);
	if (r < 0)
		return r;
	r = run_upgrade(&upgrade, err);
	if (r < 0 && profile->upgrading_from)
		return error_hint(
			err, r,
			"nothing was undone; 'manykube logs --problems' may say why; then run "
			"'manykube upgrade' again, which continues");
	return r;
}
