/*
 * Start: create a cluster, start it again, or repair it.  One procedure for all three:
 *
 *  1. the profile is planned or loaded, and written before anything is created;
 *  2. the network, the front door and the first node are brought up, and kubeadm is started on that
 *     node unless it has joined before;
 *  3. while kubeadm works, the other nodes are started;
 *  4. once the API runs, everything that needs it happens at once: what joins need, the
 *     controllers, addons, storage;
 *  5. the other control planes join, one after another, and the workers, all at once;
 *  6. what the user asked to wait for is waited for;
 *  7. the user's own images are loaded.
 *
 * On an existing cluster, 2 and 3 bring up what is down, and 4 and 5 have nothing to do.
 */

#include "cluster/start.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/user.h"
#include "kubeadm/addons.h"
#include "kubeadm/arguments.h"
#include "kubeadm/drain.h"
#include "kubeadm/kubeadm.h"
#include "kubeadm/members.h"
#include "kubeadm/stored-config.h"
#include "network/closing-ports.h"
#include "network/own-registry.h"
#include "node-images/kubernetes-images.h"
#include "node-images/own-images.h"
#include "node/trouble.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "record/cni.h"
#include "record/options.h"

/* Interval between checks whether the API has come up. */
#define POLL_MS 50

/* How often the installation of addons is repeated if kubeadm got no answer. */
#define ADDON_REPEATS 5

/* Whether a node ran before, or was paused. */
static bool anybody_is_up(const struct start *start)
{
	const struct node *node;

	profile_for_each_node(node, &start->profile)
		if (start_ran_before(start, node) ||
		    cluster_node_state(&start->profile, node) == NODE_RUNNING)
			return true;
	return false;
}

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
	free(start->thawed);
	free(start->since_ms);
	free(start->ran);
	free(start->part);
	free(start->awaited);
	free(start->token);
	cni_manifests_release(&start->manifests);
	payload_release(&start->payload);
	profile_release(&start->profile);
}

/* Whether the administrator can do its work.  It gets its rights as soon as the roles exist;
 * HAS_RIGHTS says whether it has got them. */
static bool admin_may_begin(const struct start *start, bool *has_rights)
{
	if (!*has_rights && world->roles_are_made(&start->profile))
		*has_rights = world->give_admin_rights(&start->profile) == 0;
	return *has_rights && world->admin_is_ready(&start->profile);
}

/* Wait until the administrator can do its work: the API runs and has created the roles. */
static int await_admin(struct start *start, struct error *err)
{
	bool has_rights = false;

	while (!admin_may_begin(start, &has_rights)) {
		if (trouble_check(&start->profile, start->awaited, err) < 0)
			return -EIO;
		if (!clock_poll(start->deadline, POLL_MS)) {
			(void)error_because(err, &reason_wait_timeout, -ETIMEDOUT,
					    "the API server did not come up in time");
			return error_hint(
				err, -ETIMEDOUT,
				"nothing was undone; 'manykube logs --problems' may say why; then run "
				"'manykube start' again");
		}
	}
	return 0;
}

/* Initialize the first control plane, which has not joined; other nodes are started meanwhile. */
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

/* Whether a control plane ran before. */
static bool any_control_plane_ran(const struct start *start)
{
	const struct node *node;

	profile_for_each_node(node, &start->profile)
		if (node->control_plane && start_ran_before(start, node))
			return true;
	return false;
}

/* Delete the leases of the previous controller-manager and scheduler, for which the new ones would
 * wait until they expire.  This is safe only if no control plane ran before. */
static int free_leases(struct start *start, struct error *err)
{
	static const char *const paths[] = {
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager",
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
	};
	int r;

	if (any_control_plane_ran(start))
		return 0;
	r = cluster_wait(&start->profile, WAIT_API, NULL,
			 (unsigned)clock_left_ms(start->deadline) / 1000, start->observer, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(paths); i++)
		(void)world->kube(&start->profile, KUBE_DELETE, paths[i], NULL, NULL, NULL);
	return r;
}

/* Start everything that only needs the API, all at once. */
static int install_addons(struct start *start, struct node *primary, struct error *err)
{
	int r = bootstrap_publish(&start->profile, primary, &start->publish, err);

	if (r == 0)
		r = bootstrap_controllers(&start->profile, primary, &start->controllers, err);
	if (r == 0)
		r = bootstrap_addons(&start->profile, primary, &start->addons, err);
	if (r == 0)
		r = world->kubeconfig_add(&start->profile, err);
	if (r == 0)
		r = addons_install(&start->profile, ADDON_WITH_API, err);
	if (r == 0)
		r = addons_install(&start->profile, ADDON_AT_START, err);
	if (r == 0)
		r = pod_network_install(&start->profile, err);
	if (r == 0)
		r = bootstrap_finish(&start->publish, start->deadline, err);
	return r;
}

/* kubeadm asks once which addons exist, and waits ten seconds for the answer, which is not always
 * enough on a slow machine. */
static int await_addons(struct start *start, struct error *err)
{
	struct node *primary = start->addons.node;
	int r = bootstrap_finish(&start->addons, start->deadline, err);

	for (unsigned i = 0; i < ADDON_REPEATS && r == -EIO && bootstrap_was_kept_waiting(err);
	     i++) {
		log_debug("%s; trying again", err->text);
		error_clear(err);
		bootstrap_release(&start->addons);
		r = bootstrap_addons(&start->profile, primary, &start->addons, err);
		if (r == 0)
			r = bootstrap_finish(&start->addons, start->deadline, err);
	}
	return r;
}

static int finish_addons(struct start *start, struct error *err)
{
	int r = await_addons(start, err);

	if (r == 0)
		r = stored_config_has_addons(&start->profile, err);
	if (r == 0)
		r = addons_install(&start->profile, ADDON_AFTER_KUBEADM, err);
	if (r == 0)
		r = bootstrap_finish(&start->controllers, start->deadline, err);
	return r;
}

/* Finish the first control plane when everything that other nodes wait for is done. */
static int finish_control_plane(struct start *start, struct node *primary, struct error *err)
{
	int r = STEP(start, "installing DNS and kube-proxy", NULL, finish_addons(start, err));

	if (r == 0)
		r = bootstrap_label(&start->profile, primary, start->deadline, err);
	if (r == 0)
		r = start_mark_joined(start, primary, err);
	if (r == 0)
		world->after("mark control plane");
	return r;
}

/* After an interrupted command, running control planes may have been started just now, and etcd may
 * still have to regain its majority. */
static int uncordon_with_retry(struct start *start, struct error *err)
{
	for (;;) {
		int r = drain_undo(&start->profile, start->part, err);

		if ((r != -EAGAIN && r != -ECONNREFUSED && r != -ETIMEDOUT) ||
		    !clock_poll(start->deadline, POLL_MS))
			return r;
		error_clear(err);
	}
}

/* Give a cluster of an earlier version what it lacks.  It works without.  Not before the end: of
 * control planes that were started just before this command, nobody has waited for the API. */
static void update_addons(const struct start *start)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	if (addons_install(&start->profile, ADDON_AT_START, &why) < 0)
		log_warning("%s; services of type LoadBalancer and network policies may not work "
			    "until 'manykube start' succeeds in that",
			    why.text);
}

/* Start the nodes and create what is missing. */
static int converge(struct start *start, struct error *err)
{
	struct node *primary = profile_primary(&start->profile);
	bool is_new = primary->phase != NODE_JOINED;
	bool tokens_left = start_anybody_joins(start);
	int r = start_takes_part(start, primary) ? start_node(start, primary, err) : 0;

	if (r < 0)
		return r;
	if (is_new) {
		r = make_control_plane(start, primary, err);
		if (r == 0)
			r = STEP(start, "setting up the cluster", NULL,
				 install_addons(start, primary, err));
	} else {
		r = start_other_nodes(start, err);
		if (r == 0)
			r = world->kubeconfig_add(&start->profile, err);
		if (r == 0)
			r = free_leases(start, err);
	}
	if (r == 0)
		r = start_begin_joins(start, !is_new, err);
	if (r == 0 && is_new)
		r = finish_control_plane(start, primary, err);
	if (r == 0)
		r = start_finish_joins(start, err);
	if (r == 0 && tokens_left)
		r = bootstrap_remove_token(&start->profile, start->token, err);
	if (r == 0)
		r = uncordon_with_retry(start, err);
	return r;
}

/* Repair what needs no payload: the front door of the cluster PROFILE if that runs. */
static void repair_without_payload(struct start *start, const struct profile *profile)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r;

	if (members_tally(profile, NULL).running == 0)
		return;
	r = start_repair_front_door(start, profile, &why);
	if (r == 0)
		r = world->front_door_up(profile, &why);
	if (r < 0)
		log_warning("cannot repair the front door: %s", why.text);
}

/* Check that all options can be fulfilled, and get the payloads.  Nothing is created yet. */
static int check_start(struct start *start, const char *name, const struct cluster_options *options,
		       struct plan *ret, struct error *err)
{
	int r = cluster_plan(name, options, ret, err);

	if (r < 0)
		return r;
	r = cluster_get_payloads(&ret->profile, options, start->observer, &start->payload, err);
	if (r == 0)
		r = pod_network_get(&ret->profile,
				    &(struct payload_source){ .offline = ret->profile.offline },
				    start->observer, &start->manifests, err);
	if (r < 0 && !ret->is_new)
		repair_without_payload(start, &ret->before);
	return r < 0 ? r : cluster_check_arguments(&ret->profile, options, &start->payload, err);
}

static int open_log(const struct profile *profile, struct error *err)
{
	cleanup_free char *logs = xasprintf("%s/logs", profile->dir);
	cleanup_free char *log = xasprintf("%s/last-start.log", logs);
	int r = file_make_dirs(logs, 0755, err);

	if (r < 0)
		return r;
	log_keep("the output of kubeadm is in '%s/kubeadm-NODE.log'", logs);
	return log_open(log, err);
}

/* Root in a node can create files that belong to root on this host, too, or are set-user-ID; so
 * other users must not reach them.  The user may read the host's files about a node. */
static int close_to_others(const struct profile *profile, struct error *err)
{
	cleanup_free char *nodes = xasprintf("%s/nodes", profile->dir);
	int r = file_make_dirs(nodes, 0700, err);

	if (r == 0 && chmod(nodes, 0700) < 0)
		r = error_sys(err, "cannot make '%s' inaccessible to others", nodes);
	return r < 0 ? r : user_may_read(nodes, err);
}

/* Whether a control plane takes part.  Without one, nodes cannot join or come up; they are only
 * registered in the profile. */
static bool has_control_plane(const struct start *start)
{
	const struct node *node;

	profile_for_each_node(node, &start->profile)
		if (start_takes_part(start, node) &&
		    (node->primary || (node->control_plane && node->phase == NODE_JOINED)))
			return true;
	return false;
}

/* A failure that its user wants keeps the majority away. */
static int refuse_failures(const struct start *start, unsigned able, unsigned count,
			   struct error *err)
{
	(void)error_because(err, &reason_control_plane, -EINVAL,
			    "failures leave %u of the %u control planes of cluster '%s', and etcd "
			    "needs %u",
			    able, count, start->profile.name, members_majority(count));
	return error_hint(err, -EINVAL, "'manykube heal' ends all failures");
}

/* Without a majority of etcd's members, the API would never answer. */
static int check_majority(const struct start *start, struct error *err)
{
	const struct node *node;
	unsigned count = 0;
	unsigned part = 0;
	unsigned able = 0;

	profile_for_each_node(node, &start->profile) {
		if (!node->control_plane || node->phase != NODE_JOINED)
			continue;
		count++;
		part += start_takes_part(start, node);
		able += !failure_stops_etcd(&start->profile, node->name);
	}
	if (count > 0 && able < members_majority(count))
		return refuse_failures(start, able, count, err);
	if (part == 0 || part >= members_majority(count))
		return 0;
	(void)error_because(err, &reason_control_plane, -EINVAL,
			    "only %u of the %u control planes of cluster '%s' would run, and etcd "
			    "needs %u",
			    part, count, start->profile.name, members_majority(count));
	return error_hint(err, -EINVAL, "'manykube start' brings all of them up");
}

/* Bring up the network and the ports of this host.  While nodes run, these are only checked, and
 * what the record does not have any more is closed. */
static int open_host(struct start *start, struct error *err)
{
	cleanup_with(closing_ports_release) struct closing_ports closing = CLOSING_PORTS_INIT;
	struct observer *watcher = anybody_is_up(start) ? NULL : start->observer;
	int r;

	closing_ports_find(&start->profile, &closing);
	r = STEP_SEEN_BY(watcher, "making the network", NULL,
			 closing_ports_begin(&start->profile, &closing, err));
	if (r == 0)
		r = fail_renew_network(&start->profile, err);
	if (r == 0)
		r = start_repair_front_door(start, &start->profile, err);
	if (r == 0)
		r = STEP_SEEN_BY(watcher, "opening the front door", NULL,
				 world->front_door_up(&start->profile, err));
	if (r == 0)
		r = closing_ports_end(&start->profile, &closing, err);
	return r < 0 ? r : own_registry_check(&start->profile, err);
}

/* Write the profile of PLAN, and bring up the network and ports of this host that it defines. */
static int prepare_start(struct start *start, const char *name,
			 const struct cluster_options *options, struct plan *plan,
			 struct error *err)
{
	cleanup_fd int lock = -1;
	int r = world->network_lock(&lock, err);

	/* Since it was planned, another cluster may have taken its network. */
	if (r == 0 && plan->is_new) {
		plan_release(plan);
		*plan = PLAN_INIT;
		r = plan_profile(name, options, plan, err);
	}
	start->profile = plan->profile;
	plan->profile = PROFILE_INIT;
	start->outcome->is_new = plan->is_new;
	if (r == 0 && !profile_primary(&start->profile))
		r = error_because(err, &reason_host_config, -ENOENT,
				  "the cluster has no primary control plane");
	if (r == 0)
		r = start_find_lost(start, options, err);
	if (r == 0)
		r = start_look_at_nodes(start, options, err);
	if (r == 0)
		r = check_majority(start, err);
	if (r == 0 && !plan->is_new)
		plan_tell_changes(&plan->before, &start->profile, start->observer);
	/* An interrupted deletion is given up. */
	start->profile.deleting = false;
	if (r == 0)
		r = profile_save(&start->profile, err);
	if (r == 0)
		r = pod_network_keep(&start->profile, &start->manifests, err);
	if (r < 0)
		return r;
	if (options->recorded)
		options->recorded(options);
	world->after("save profile");
	if (!has_control_plane(start))
		return 0;
	r = open_log(&start->profile, err);
	if (r == 0)
		r = close_to_others(&start->profile, err);
	return r < 0 ? r : open_host(start, err);
}

/* Give the nodes that take part, which are up at this point, the user's images. */
static int load_images(const struct start *start, struct error *err)
{
	cleanup_with(own_images_outcome_release) struct own_images_outcome outcome =
		OWN_IMAGES_OUTCOME_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const struct node *node;
	int r = own_images_add_archives(&start->profile, start->observer, err);

	profile_for_each_node(node, &start->profile)
		if (start_takes_part(start, node))
			strlist_add(&names, node->name);
	/* New nodes have no others. */
	if (r == 0 && !start->outcome->is_new)
		r = kubernetes_images_repair(&start->profile, &names, err);
	return r < 0 ? r
		     : own_images_spread(&start->profile, &names, start->observer, &outcome, err);
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
	cleanup_with(world_restore)
		arg_unused const int64_t *before_ms = world_until(&start.deadline);
	cleanup_with(plan_release) struct plan plan = PLAN_INIT;
	struct cluster_restart restart;
	bool loads_early;
	int r;

	*ret_outcome = (struct cluster_outcome){ 0 };
	r = UNTIMED(&start, check_start(&start, name, options, &plan, err));
	if (r == 0)
		r = UNTIMED(&start, prepare_start(&start, name, options, &plan, err));
	if (r < 0)
		return r;
	if (!has_control_plane(&start)) {
		*ret_outcome = (struct cluster_outcome){ .only_registered = true };
		return 0;
	}
	start.token = kubeadm_new_token();
	start.since_ms = xcalloc(start.profile.node_count, sizeof(*start.since_ms));
	start.restarted = xcalloc(start.profile.node_count, sizeof(*start.restarted));
	start.thawed = xcalloc(start.profile.node_count, sizeof(*start.thawed));
	start.joins = xcalloc(start.profile.node_count, sizeof(*start.joins));
	for (size_t i = 0; i < start.profile.node_count; i++) {
		start.joins[i] = BOOTSTRAP_INIT;
		start.since_ms[i] = clock_wall_ms();
	}
	r = converge(&start, err);
	if (r < 0)
		return r;
	restart = (struct cluster_restart){ start.restarted, start.thawed, start.awaited,
					    start.since_ms };
	/* They may be those of the pod network that nodes wait for. */
	loads_early = cni_kind(start.profile.cni) == CNI_MANIFESTS;
	if (loads_early)
		r = UNTIMED(&start, load_images(&start, err));
	if (r == 0)
		r = cluster_wait(&start.profile, options->wait, &restart,
				 (unsigned)clock_left_ms(start.deadline) / 1000 + 1, observer, err);
	if (r == 0 && !ret_outcome->is_new)
		update_addons(&start);
	return r < 0 || loads_early ? r : load_images(&start, err);
}
