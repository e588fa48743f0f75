/*
 * Start: make a cluster, bring it up again, or mend it.  One path for all three.
 *
 * How it works:
 *
 *  1. the profile is planned or loaded and written, before anything is made;
 *  2. the network, the front door and the first node come up, and kubeadm begins on it
 *     unless it has joined before;
 *  3. while it works, the other nodes come up;
 *  4. once its API runs, everything that needs one happens at once: what joins need, the
 *     controllers, addons, storage;
 *  5. the workers that have not joined do so, all at once;
 *  6. what the person will use is waited for.
 *
 * On a cluster that exists, 2 and 3 bring up what is down, and 4 and 5 have nothing to do.
 */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "cluster/bootstrap.h"
#include "cluster/cluster.h"
#include "cluster/kubeadm.h"
#include "cluster/node-files.h"
#include "cluster/plan.h"
#include "cluster/trouble.h"
#include "cluster/world.h"
#include "data/inet.h"

/* How often the API is asked whether it has come up. */
#define POLL_MS 50

struct start {
	struct profile profile;
	struct payload payload;
	struct observer *observer;
	int64_t deadline;
	char *token;
	struct bootstrap init;
	struct bootstrap publish;
	struct bootstrap controllers;
	struct bootstrap addons;
	struct bootstrap *joins; /* one per node */
	bool *restarted;         /* likewise: a member that did not run before */
	bool *ran;               /* likewise: it ran before */
	bool *part;              /* likewise: it runs, or is to run */
	struct cluster_outcome *outcome;
	int64_t began_ms; /* since 1970 */
};

static void release_start(struct start *start)
{
	bootstrap_release(&start->init);
	bootstrap_release(&start->publish);
	bootstrap_release(&start->controllers);
	bootstrap_release(&start->addons);
	for (size_t i = 0; start->joins && i < start->profile.node_count; i++)
		bootstrap_release(&start->joins[i]);
	free(start->joins);
	free(start->restarted);
	free(start->ran);
	free(start->part);
	free(start->token);
	payload_release(&start->payload);
	profile_release(&start->profile);
}

/* Do WORK as the step WORDS, seen by WATCHER (may be NULL) and by tests. */
#define STEP_SEEN_BY(watcher, words, node, work)                 \
	({                                                       \
		int step_r_;                                     \
		observe_begin(watcher, words, node);             \
		step_r_ = (work);                                \
		observe_end(watcher, words, node, step_r_ >= 0); \
		if (step_r_ >= 0)                                \
			world->after(words);                     \
		step_r_;                                         \
	})
#define STEP(start, words, node, work) STEP_SEEN_BY((start)->observer, words, node, work)

/*
 * The way to what is neither node nor pod.  Without a default route a node's own programs could not
 * reach services: they are translated to a pod's address only after a way to the service's own was
 * found.  A node that runs may have been offline until now.
 */
static int add_gateway_route(const struct profile *profile, const struct cluster_node *at,
			     struct error *err)
{
	const char *destination = profile->offline ? profile->service_subnet : "0.0.0.0/0";
	struct subnet subnet;
	struct in_addr gateway;
	int r = inet_parse_subnet(destination, &subnet, err);

	if (r == 0)
		r = inet_parse_address(profile->gateway, &gateway, err);
	if (r == 0)
		r = at->driver->route(&at->spec, subnet.address, subnet.prefix, gateway, false,
				      err);
	return r;
}

/* Every running node gets a way to the pods of all others. */
static int add_routes(const struct profile *profile, const struct cluster_node *at,
		      const struct node *node, struct error *err)
{
	const struct node *other;
	int r = 0;

	if (strcmp(profile->cni, "none") == 0)
		return 0;
	profile_for_each_node(other, profile) {
		struct subnet pods;
		struct in_addr via;

		if (other == node)
			continue;
		r = inet_parse_subnet(other->pod_cidr, &pods, err);
		if (r == 0)
			r = inet_parse_address(other->address, &via, err);
		if (r == 0)
			r = at->driver->route(&at->spec, pods.address, pods.prefix, via, false,
					      err);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool ran_before(const struct start *start, const struct node *node)
{
	return start->ran[node - start->profile.nodes];
}

static bool anybody_ran(const struct start *start)
{
	const struct node *node;

	profile_for_each_node(node, &start->profile)
		if (ran_before(start, node))
			return true;
	return false;
}

/* Who is told of the start of NODE: nobody if it runs, since nothing happens but a check. */
static struct observer *watcher_of(const struct start *start, const struct node *node)
{
	return ran_before(start, node) ? NULL : start->observer;
}

static bool takes_part(const struct start *start, const struct node *node)
{
	return start->part[node - start->profile.nodes];
}

/* Find out which nodes run, and which of the others are to. */
static int look_at_nodes(struct start *start, const struct cluster_options *options,
			 struct error *err)
{
	const struct node *node;

	start->ran = xcalloc(start->profile.node_count, sizeof(*start->ran));
	start->part = xcalloc(start->profile.node_count, sizeof(*start->part));
	profile_for_each_node(node, &start->profile) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
		int r = cluster_node_open(&start->profile, node, &at, err);

		if (r < 0)
			return r;
		start->ran[node - start->profile.nodes] = at.driver->query(&at.spec) ==
								  NODE_RUNNING &&
							  !cluster_node_is_paused(&at);
		start->part[node - start->profile.nodes] = cluster_takes_part(options, node) ||
							   (ran_before(start, node) &&
							    node->phase != NODE_LEAVING);
		if (!takes_part(start, node))
			continue;
		start->outcome->started += !ran_before(start, node);
		start->outcome->joined += node->phase != NODE_JOINED;
	}
	return 0;
}

static int start_node(struct start *start, struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(&start->profile, node, &at, err);

	if (r == 0 && node->phase == NODE_JOINED && !ran_before(start, node))
		start->restarted[node - start->profile.nodes] = true;
	if (r == 0)
		r = at.driver->create(&at.spec, err);
	if (r == 0)
		r = node_files_write(&start->profile, node, &start->payload, err);
	if (r == 0)
		world->after("create node");
	if (r == 0)
		r = at.driver->start(&at.spec, err);
	if (r == 0)
		r = at.driver->freeze(&at.spec, false, err);
	if (r == 0)
		r = add_routes(&start->profile, &at, node, err);
	if (r == 0)
		r = add_gateway_route(&start->profile, &at, err);
	return r < 0 ? error_reason(err, r, &reason_node_failed) : 0;
}

static int start_other_nodes(struct start *start, struct error *err)
{
	struct node *node;

	profile_for_each_node(node, &start->profile) {
		int r;

		if (node->primary || !takes_part(start, node))
			continue;
		r = STEP_SEEN_BY(watcher_of(start, node), "starting node", node->name,
				 start_node(start, node, err));
		if (r < 0)
			return r;
	}
	return 0;
}

static int mark_joined(struct start *start, struct node *node, struct error *err)
{
	node->phase = NODE_JOINED;
	return profile_save(&start->profile, err);
}

/* Whether kubeadm got so far on NODE that its kubelet is a member, although we did not see it end.
 */
static bool has_joined_unseen(struct start *start, const struct node *node)
{
	cleanup_free char *kubelet = node_etc(&start->profile, node, "kubernetes/kubelet.conf");
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);

	return file_exists(kubelet) &&
	       world->kube(&start->profile, KUBE_GET, path, NULL, NULL, NULL) == 0;
}

static int begin_joins(struct start *start, struct error *err)
{
	struct node *node;

	profile_for_each_node(node, &start->profile) {
		size_t i = (size_t)(node - start->profile.nodes);
		int r;

		if (node->phase != NODE_PLANNED || node->primary || !takes_part(start, node))
			continue;
		if (has_joined_unseen(start, node)) {
			r = bootstrap_label(&start->profile, node, start->deadline, err);
			if (r == 0)
				r = mark_joined(start, node, err);
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

static int finish_joins(struct start *start, struct error *err)
{
	struct node *node;

	profile_for_each_node(node, &start->profile) {
		struct bootstrap *join = &start->joins[node - start->profile.nodes];
		int r;

		if (join->process.pid <= 0)
			continue;
		r = bootstrap_finish(join, start->deadline, err);
		if (r == 0)
			r = bootstrap_label(&start->profile, node, start->deadline, err);
		if (r == 0)
			r = mark_joined(start, node, err);
		observe_end(start->observer, "joining node", node->name, r == 0);
		if (r < 0)
			return r;
		world->after("join node");
	}
	return 0;
}

static bool anybody_joins(const struct start *start)
{
	const struct node *node;

	profile_for_each_node(node, &start->profile)
		if (node->phase == NODE_PLANNED && takes_part(start, node))
			return true;
	return false;
}

/* Wait until the administrator may do what it has to: the API runs and has made the roles. */
static int await_admin(struct start *start, struct error *err)
{
	while (!world->admin_is_ready(&start->profile)) {
		if (trouble_check(&start->profile, err) < 0)
			return -EIO;
		if (clock_now_ms() > start->deadline) {
			(void)error_because(err, &reason_wait_timeout, -ETIMEDOUT,
					    "the API server did not come up in time");
			return error_hint(
				err, -ETIMEDOUT,
				"nothing was undone; 'manykube logs --problems' may say why; then run "
				"'manykube start' again");
		}
		clock_rest_ms(POLL_MS);
	}
	return 0;
}

/* The first control plane has never finished: make it, the other nodes coming up meanwhile. */
static int make_control_plane(struct start *start, struct node *primary, struct error *err)
{
	int r = bootstrap_init(&start->profile, primary, start->token, &start->init, err);

	if (r < 0)
		return r;
	world->after("begin init");
	r = start_other_nodes(start, err);
	if (r == 0)
		r = bootstrap_finish(&start->init, start->deadline, err);
	if (r == 0)
		r = STEP(start, "starting the control plane", NULL, await_admin(start, err));
	return r;
}

/* Whether no control plane was running before. */
static bool all_control_planes_restarted(const struct start *start)
{
	const struct node *node;

	profile_for_each_node(node, &start->profile)
		if (node->control_plane && !start->restarted[node - start->profile.nodes])
			return false;
	return true;
}

/*
 * The controller-manager and the scheduler of before held leases, and those of now would wait
 * until they end; when nobody of before is left, they need not.
 */
static int free_leases(struct start *start, struct error *err)
{
	static const char *const paths[] = {
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager",
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
	};
	int r;

	if (!all_control_planes_restarted(start))
		return 0;
	r = cluster_wait(&start->profile, WAIT_API, NULL,
			 (unsigned)clock_left_ms(start->deadline) / 1000, start->observer, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(paths); i++)
		(void)world->kube(&start->profile, KUBE_DELETE, paths[i], NULL, NULL, NULL);
	return r;
}

/* What needs the API: all of it at once. */
static int furnish(struct start *start, struct node *primary, struct error *err)
{
	int r = bootstrap_publish(&start->profile, primary, &start->publish, err);

	if (r == 0)
		r = bootstrap_controllers(&start->profile, primary, &start->controllers, err);
	if (r == 0)
		r = bootstrap_addons(&start->profile, primary, &start->addons, err);
	if (r == 0)
		r = world->kubeconfig_add(&start->profile, err);
	if (r == 0)
		r = bootstrap_storage(&start->profile, err);
	if (r == 0)
		r = bootstrap_finish(&start->publish, start->deadline, err);
	return r;
}

static int finish_addons(struct start *start, struct error *err)
{
	int r = bootstrap_finish(&start->addons, start->deadline, err);

	if (r == 0)
		r = bootstrap_quicken_dns(&start->profile, err);
	if (r == 0)
		r = bootstrap_finish(&start->controllers, start->deadline, err);
	return r;
}

/* Nodes that were deleted while the API was down: it still has their objects. */
static int forget_orphans(struct start *start, struct error *err)
{
	const char *name;
	int r = 0;

	if (start->profile.orphans.count == 0)
		return 0;
	r = cluster_wait(&start->profile, WAIT_API, NULL,
			 (unsigned)clock_left_ms(start->deadline) / 1000, start->observer, err);
	strlist_for_each(name, &start->profile.orphans)
		if (r == 0)
			r = cluster_forget_node(&start->profile, name, err);
	if (r < 0)
		return r;
	strlist_release(&start->profile.orphans);
	return profile_save(&start->profile, err);
}

static int join_all(struct start *start, bool new_control_plane, struct node *primary,
		    struct error *err)
{
	int r = 0;

	if (!new_control_plane && anybody_joins(start)) {
		r = cluster_wait(&start->profile, WAIT_API, NULL,
				 (unsigned)clock_left_ms(start->deadline) / 1000, start->observer,
				 err);
		if (r == 0)
			r = bootstrap_add_token(&start->profile, start->token, err);
	}
	if (r == 0)
		r = forget_orphans(start, err);
	if (r == 0)
		r = begin_joins(start, err);
	if (r == 0 && new_control_plane)
		r = STEP(start, "installing addons", NULL, finish_addons(start, err));
	if (r == 0 && new_control_plane)
		r = bootstrap_label(&start->profile, primary, start->deadline, err);
	if (r == 0 && new_control_plane)
		r = mark_joined(start, primary, err);
	if (r == 0)
		world->after("mark control plane");
	if (r == 0)
		r = finish_joins(start, err);
	return r;
}

/* Bring the nodes up and make what is missing. */
static int converge(struct start *start, struct error *err)
{
	struct node *primary = profile_primary(&start->profile);
	bool new_control_plane;
	bool tokens_left;
	int r;

	if (!primary)
		return error_because(err, &reason_host_config, -ENOENT,
				     "the cluster has no primary control plane");
	new_control_plane = primary->phase != NODE_JOINED;
	tokens_left = anybody_joins(start);
	r = STEP_SEEN_BY(watcher_of(start, primary), "starting node", primary->name,
			 start_node(start, primary, err));
	if (r < 0)
		return r;
	if (new_control_plane) {
		r = make_control_plane(start, primary, err);
		if (r == 0)
			r = STEP(start, "setting up the cluster", NULL,
				 furnish(start, primary, err));
	} else {
		r = start_other_nodes(start, err);
		if (r == 0)
			r = world->kubeconfig_add(&start->profile, err);
		if (r == 0)
			r = free_leases(start, err);
	}
	if (r == 0)
		r = join_all(start, new_control_plane, primary, err);
	if (r == 0 && tokens_left)
		r = bootstrap_remove_token(&start->profile, start->token, err);
	if (r == 0)
		r = cluster_undrain(&start->profile, start->part, err);
	return r;
}

/* See that all that was asked for can be had, and get the payload: nothing is made yet. */
static int check(struct start *start, const char *name, const struct cluster_options *options,
		 struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	bool is_new;
	int r = cluster_plan(name, options, &profile, &is_new, err);

	return r < 0 ? r
		     : world->payload(profile.kubernetes_version, options->binary_mirror,
				      start->observer, &start->payload, err);
}

static int open_log(const struct profile *profile, struct error *err)
{
	cleanup_free char *logs = xasprintf("%s/logs", profile->folder);
	cleanup_free char *log = xasprintf("%s/last-start.log", logs);
	int r = file_make_dirs(logs, 0755, err);

	if (r < 0)
		return r;
	log_keep("what kubeadm says is in '%s/kubeadm-NODE.log'", logs);
	return log_open(log, err);
}

/* Nodes can't join and come up without a control plane; what was asked for is in the profile. */
static bool can_go_on(const struct start *start)
{
	const struct node *primary = profile_primary(&start->profile);

	return !primary || takes_part(start, primary);
}

/* Write the profile, and bring up what it promises to this host: networks and ports. */
static int prepare(struct start *start, const char *name, const struct cluster_options *options,
		   struct error *err)
{
	cleanup_fd int lock = -1;
	struct observer *watcher;
	int r = world->network_lock(&lock, err);

	if (r == 0)
		r = plan_profile(name, options, &start->profile, &start->outcome->is_new, err);
	if (r == 0)
		r = look_at_nodes(start, options, err);
	if (r == 0)
		r = profile_save(&start->profile, err);
	if (r < 0)
		return r;
	world->after("save profile");
	if (!can_go_on(start))
		return 0;
	/* While nodes run, these are only looked after. */
	watcher = anybody_ran(start) ? NULL : start->observer;
	r = open_log(&start->profile, err);
	if (r == 0)
		r = STEP_SEEN_BY(watcher, "making the network", NULL,
				 world->network_up(&start->profile, err));
	if (r == 0)
		r = STEP_SEEN_BY(watcher, "opening the front door", NULL,
				 world->front_door_up(&start->profile, err));
	return r;
}

int cluster_start(const char *name, const struct cluster_options *options,
		  struct observer *observer, struct cluster_outcome *ret_outcome, struct error *err)
{
	cleanup_with(release_start) struct start start = {
		.observer = observer,
		.outcome = ret_outcome,
		.deadline = clock_now_ms() + (int64_t)options->wait_seconds * 1000,
		.init = BOOTSTRAP_INIT,
		.publish = BOOTSTRAP_INIT,
		.controllers = BOOTSTRAP_INIT,
		.addons = BOOTSTRAP_INIT,
	};
	struct cluster_restart restart;
	int r;

	*ret_outcome = (struct cluster_outcome){ 0 };
	r = check(&start, name, options, err);
	if (r == 0)
		r = prepare(&start, name, options, err);
	if (r < 0)
		return r;
	if (!can_go_on(&start)) {
		*ret_outcome = (struct cluster_outcome){ .only_registered = true };
		return 0;
	}
	start.token = kubeadm_new_token();
	start.began_ms = clock_wall_ms();
	start.restarted = xcalloc(start.profile.node_count, sizeof(*start.restarted));
	start.joins = xcalloc(start.profile.node_count, sizeof(*start.joins));
	for (size_t i = 0; i < start.profile.node_count; i++)
		start.joins[i] = BOOTSTRAP_INIT;
	r = converge(&start, err);
	if (r < 0)
		return r;
	restart = (struct cluster_restart){ start.restarted, start.part, start.began_ms };
	return cluster_wait(&start.profile, options->wait, &restart,
			    (unsigned)clock_left_ms(start.deadline) / 1000 + 1, observer, err);
}
