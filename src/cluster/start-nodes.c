/* Start: creating and starting nodes. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cluster/start.h"
#include "data/inet.h"
#include "host/neighbours.h"
#include "kubeadm/certificates.h"
#include "kubeadm/kubeadm.h"
#include "kubeadm/members.h"
#include "network/network6.h"
#include "network/policy-rules.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "plan/check.h"
#include "record/cni.h"
#include "record/options.h"
#include "record/ports.h"

#define REACH_MS 5000

/* How long a node that is shutting down may take to finish. */
#define STOP_SECONDS 30

/* Where no other machine can be reached with IPv6, programs are to notice at once, and use IPv4. */
static int add_gateway_route6(const struct profile *profile, const struct cluster_node *at,
			      struct error *err)
{
	const struct subnet6 anywhere = { .prefix = 0 };
	struct subnet6 services;
	struct subnet6 prefix;
	int r;

	if (!at->spec.has_ipv6)
		return 0;
	r = network6_prefix(profile, &prefix, err);
	if (r < 0)
		return r;
	services = inet6_services(&prefix);
	return at->driver->route6(&at->spec,
				  network6_reaches_others(profile) ? &anywhere : &services,
				  &at->spec.gateway6, false, err);
}

/*
 * The default route, for addresses other than those of nodes and pods.  Without it, programs of a
 * node could not reach services: the address of a service is translated to that of a pod only after
 * a route for the former was found.  A running node may have been offline until now.
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
	return r < 0 ? r : add_gateway_route6(profile, at, err);
}

/* Give every running node routes to the pods of all others. */
static int add_routes(const struct profile *profile, const struct cluster_node *at,
		      const struct node *node, struct error *err)
{
	return cni_has_our_routes(profile->cni)
		       ? cluster_node_route_all(profile, node, at, false, err)
		       : 0;
}

bool start_ran_before(const struct start *start, const struct node *node)
{
	return start->ran[node - start->profile.nodes];
}

bool start_takes_part(const struct start *start, const struct node *node)
{
	return start->part[node - start->profile.nodes];
}

bool start_awaits(const struct start *start, const struct node *node)
{
	return start->awaited[node - start->profile.nodes];
}

/* The observer of the start of NODE: NULL if it runs, since it is only checked then. */
static struct observer *watcher_of(const struct start *start, const struct node *node)
{
	return start_ran_before(start, node) ? NULL : start->observer;
}

/* A node that was frozen or killed on purpose is not started by its name, either. */
static int need_no_failure(const struct profile *profile, const struct node *node,
			   struct error *err)
{
	cleanup_free char *words = NULL;

	if (!failure_keeps_down(profile, node->name))
		return 0;
	words = failures_describe(profile, node->name);
	(void)error_because(err, &reason_node_failed, -EBUSY, "node '%s' has a failure: %s",
			    node->name, words);
	return error_hint(err, -EBUSY, "'manykube heal %s' ends it", node->name);
}

int start_look_at_nodes(struct start *start, const struct cluster_options *options,
			struct error *err)
{
	const struct node *node;

	start->ran = xcalloc(start->profile.node_count, sizeof(*start->ran));
	start->part = xcalloc(start->profile.node_count, sizeof(*start->part));
	start->awaited = xcalloc(start->profile.node_count, sizeof(*start->awaited));
	profile_for_each_node(node, &start->profile) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
		size_t i = (size_t)(node - start->profile.nodes);
		bool asked_for = cluster_takes_part(options, node);
		int r = cluster_node_open(&start->profile, node, &at, err);

		if (r < 0)
			return r;
		if (options->only && asked_for) {
			r = need_no_failure(&start->profile, node, err);
			if (r < 0)
				return r;
		}
		start->ran[i] = cluster_node_is_at_work(&at);
		start->part[i] = (asked_for || (start->ran[i] && node->phase != NODE_LEAVING)) &&
				 !failure_keeps_down(&start->profile, node->name);
		start->awaited[i] = asked_for && !failure_disables(&start->profile, node->name) &&
				    !(options->trust_running && start->ran[i] &&
				      node->phase == NODE_JOINED);
		if (!start_takes_part(start, node))
			continue;
		start->outcome->started += !start_ran_before(start, node);
		start->outcome->joined += node->phase != NODE_JOINED;
	}
	return 0;
}

/* Renew the certificates of NODE, which is about to be started or RUNS, if necessary; RET_WHICH are
 * the renewed ones. */
static int renew_certificates(struct start *start, struct node *node, bool runs,
			      unsigned *ret_which, struct error *err)
{
	*ret_which = node->phase == NODE_JOINED ? certificates_ending(&start->profile, node, runs)
						: 0;
	if (!*ret_which)
		return 0;
	return STEP(start, "renewing certificates", node->name,
		    certificates_renew(&start->profile, node, *ret_which, &start->payload, err));
}

/*
 * Check that NODE reaches the API at this host's address, which a firewall of the host may prevent.
 */
static int check_host_access(const struct profile *profile, const struct cluster_node *at,
			     struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *remedy = NULL;
	struct in_addr gateway;
	int r = inet_parse_address(profile->gateway, &gateway, err);

	if (r < 0)
		return r;
	r = at->driver->reach(&at->spec, gateway, FRONT_DOOR_PORT, REACH_MS, &why);
	if (r == 0)
		return 0;
	(void)error_because(err, &reason_network, r,
			    "node '%s' cannot reach this host at %s:%d: %s; a firewall may prevent "
			    "it",
			    at->spec.name, profile->gateway, FRONT_DOOR_PORT, why.text);
	remedy = neighbours_remedy(profile->subnet);
	return error_hint(err, r, "%s", remedy);
}

/* Whether API servers run without a majority of etcd's members. */
static bool api_is_stuck(const struct start *start)
{
	const struct node *node;
	unsigned members = 0;
	unsigned ran = 0;

	profile_for_each_node(node, &start->profile) {
		if (!node->control_plane || node->phase != NODE_JOINED)
			continue;
		members++;
		ran += start_ran_before(start, node);
	}
	return ran > 0 && ran < members_majority(members);
}

/*
 * A stuck API server accepts requests and does not answer them for a minute.  A kubelet that starts
 * requests its Node object while it mounts volumes.  So static pods would wait for the API, and the
 * API for one of them: etcd.  To prevent that, the kubelet uses the API server on its own node,
 * which refuses connections until both run.
 */
static int keep_kubelet_from_stuck_api(const struct start *start, const struct node *node,
				       struct error *err)
{
	if (!node->control_plane || node->phase != NODE_JOINED || !api_is_stuck(start))
		return 0;
	return node_files_use_own_api(&start->profile, node, err);
}

/* Record that NODE has its new settings, unless its disk could not grow. */
static int settle(struct start *start, struct node *node, const struct cluster_node *at,
		  struct error *err)
{
	struct node_usage usage;
	bool outdated;

	at->driver->measure(&at->spec, &usage);
	outdated = usage.disk_size_bytes && usage.disk_size_bytes < node->disk_bytes;
	if (node->outdated == outdated)
		return 0;
	node->outdated = outdated;
	return profile_save(&start->profile, err);
}

static int bring_node_up(struct start *start, struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	unsigned renewed = 0;
	bool runs;
	int r = cluster_node_open(&start->profile, node, &at, err);

	/* A stop of this node was interrupted. */
	if (r == 0 && cluster_node_is_stopping(&at))
		r = at.driver->stop(&at.spec, STOP_SECONDS, err);
	runs = r == 0 && at.driver->query(&at.spec) == NODE_RUNNING;
	if (r == 0 && node->phase == NODE_JOINED && !start_ran_before(start, node)) {
		start->restarted[node - start->profile.nodes] = true;
		start->thawed[node - start->profile.nodes] = runs;
	}
	if (r == 0)
		r = at.driver->create(&at.spec, err);
	if (r == 0)
		r = node_files_write(&start->profile, node, &start->payload, err);
	if (r == 0 && !runs)
		r = keep_kubelet_from_stuck_api(start, node, err);
	if (r == 0)
		world->after("create node");
	if (r == 0)
		r = renew_certificates(start, node, runs, &renewed, err);
	if (r == 0 && !runs)
		pod_network_before_start(&start->profile, node);
	if (r == 0)
		r = at.driver->start(&at.spec, err);
	/* Before its pods start. */
	if (r == 0 && !runs)
		policy_rules_restore(&start->profile, node);
	if (r == 0 && !runs)
		r = settle(start, node, &at, err);
	if (r == 0 && !runs)
		r = fail_renew_node(&start->profile, node, err);
	if (r == 0)
		r = at.driver->freeze(&at.spec, false, err);
	if (r == 0)
		r = check_host_access(&start->profile, &at, err);
	if (r == 0 && runs && start_awaits(start, node))
		r = start_repair(start, node, &at, err);
	if (r == 0 && renewed && runs)
		r = certificates_put_to_use(&start->profile, node, renewed, start->deadline, err);
	if (r == 0 && renewed)
		certificates_settle(&start->profile, node);
	if (r == 0)
		r = add_routes(&start->profile, &at, node, err);
	if (r == 0)
		r = add_gateway_route(&start->profile, &at, err);
	if (r == 0 && (!runs || node->phase != NODE_JOINED))
		r = pod_network_after_start(&start->profile, node, err);
	return r < 0 ? error_reason(err, r, &reason_node_failed) : 0;
}

/* Stop NODE if its programs are gone; starting it restores them. */
static int stop_without_programs(struct start *start, const struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r;

	if (!start_ran_before(start, node) || !start_awaits(start, node))
		return 0;
	r = cluster_node_open(&start->profile, node, &at, err);
	if (r < 0 || !at.driver->lacks_programs(&at.spec))
		return r;
	r = STEP(start, "stopping node that has lost its programs", node->name,
		 at.driver->stop(&at.spec, STOP_SECONDS, err));
	if (r < 0)
		return r;
	start->ran[node - start->profile.nodes] = false;
	start->outcome->started++;
	return 0;
}

static bool is_paused(const struct start *start, const struct node *node)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	return cluster_node_open(&start->profile, node, &at, NULL) == 0 &&
	       cluster_node_is_paused(&at);
}

int start_node(struct start *start, struct node *node, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const char *words = is_paused(start, node) ? "unpausing node" : "starting node";
	int r = UNTIMED(start, stop_without_programs(start, node, &why));

	if (r == 0)
		r = UNTIMED(start, STEP_SEEN_BY(watcher_of(start, node), words, node->name,
						bring_node_up(start, node, &why)));
	if (r < 0 && !start_awaits(start, node)) {
		log_warning("continuing without node '%s': %s", node->name, why.text);
		return 0;
	}
	return r < 0 ? error_move(err, r, &why) : 0;
}

int start_other_nodes(struct start *start, struct error *err)
{
	struct node *node;

	profile_for_each_node(node, &start->profile) {
		int r;

		if (node->primary || !start_takes_part(start, node))
			continue;
		r = start_node(start, node, err);
		if (r < 0)
			return r;
	}
	return 0;
}
