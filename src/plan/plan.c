/* Planning a cluster. */

#include "plan/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "data/inet.h"
#include "data/inet6.h"
#include "describe/choices.h"
#include "driver/driver.h"
#include "network/published-ports.h"
#include "node/cluster-node.h"
#include "node/http-proxy.h"
#include "record/labels.h"
#include "record/limits.h"
#include "record/options.h"
#include "record/skew.h"
#include "record/spec.h"
#include "record/world.h"

/* The host has .1, so nodes begin at .2; the last number is the broadcast address. */
#define FIRST_NUMBER 2
#define LAST_NUMBER  254

static bool address_is_taken(const struct profile *profile, const char *address)
{
	const struct node *node;

	profile_for_each_node(node, profile)
		if (node->address && strcmp(node->address, address) == 0)
			return true;
	return false;
}

static int64_t last_number(const struct subnet *subnet)
{
	return MIN((int64_t)LAST_NUMBER, ((int64_t)1 << (32 - subnet->prefix)) - 2);
}

/* The first free address.  ASKED_FOR are addresses that are reserved for nodes not yet planned. */
static int free_address(const struct profile *profile, const struct strlist *asked_for,
			char **ret_address, int64_t *ret_number, struct error *err)
{
	struct subnet subnet;
	int64_t last;
	int r = inet_parse_subnet(profile->subnet, &subnet, err);

	if (r < 0)
		return r;
	last = last_number(&subnet);
	for (int64_t number = FIRST_NUMBER; number <= last; number++) {
		cleanup_free char *text = NULL;
		struct in_addr address;

		r = inet_nth_address(&subnet, (uint64_t)number, &address, err);
		if (r < 0)
			return r;
		text = inet_print_address(address);
		if (address_is_taken(profile, text) || strlist_has(asked_for, text))
			continue;
		*ret_address = take_ptr(text);
		*ret_number = number;
		return 0;
	}
	error_because(err, &reason_usage, -ENOSPC, "the subnet '%s' has no room for so many nodes",
		      profile->subnet);
	return error_hint(err, -ENOSPC,
			  "use fewer nodes, or create a new cluster with a larger --subnet");
}

static char *free_name(const struct profile *profile)
{
	for (unsigned n = 1;; n++) {
		char *name = xasprintf("node-%u", n);

		if (!profile_find_node(profile, name))
			return name;
		free(name);
	}
}

/* Use the address TEXT that the user chose. */
static int take_address(const struct profile *profile, const char *text, char **ret_address,
			int64_t *ret_number, struct error *err)
{
	struct subnet subnet;
	struct in_addr address;
	int r = inet_parse_subnet(profile->subnet, &subnet, err);

	if (r < 0)
		return r;
	r = inet_parse_address(text, &address, err);
	if (r < 0)
		return error_reason(err, error_prefix(err, r, "--static-ip"), &reason_usage);
	*ret_number = inet_number_of(&subnet, address);
	if (*ret_number < FIRST_NUMBER || *ret_number > last_number(&subnet))
		return error_because(err, &reason_usage, -ERANGE,
				     "--static-ip: '%s' is not a usable node address in '%s'", text,
				     profile->subnet);
	if (address_is_taken(profile, text))
		return error_because(err, &reason_usage, -EADDRINUSE,
				     "--static-ip: another node has '%s'", text);
	*ret_address = xstrdup(text);
	return 0;
}

static int choose_name(const struct profile *profile, const char *wanted, char **ret_name,
		       struct error *err)
{
	const struct node *node;
	int r;

	if (!wanted) {
		*ret_name = free_name(profile);
		return 0;
	}
	r = spec_check_node_name(wanted, err);
	if (r < 0)
		return r;
	node = profile_find_node(profile, wanted);
	if (node) {
		(void)error_because(err, &reason_usage, -EEXIST,
				    "cluster '%s' has a node '%s' already", profile->name, wanted);
		if (node->phase == NODE_PLANNED)
			return error_hint(
				err, -EEXIST,
				"that node is not complete and has other settings: 'manykube "
				"node start %s' continues with it",
				wanted);
		return error_hint(err, -EEXIST, "choose another name, or omit it");
	}
	*ret_name = xstrdup(wanted);
	return 0;
}

unsigned plan_cpus(unsigned wanted, unsigned usual)
{
	return wanted == ALL_CPUS ? 0 : wanted ? wanted : usual;
}

uint64_t plan_memory(uint64_t wanted, uint64_t usual)
{
	return wanted == ALL_MEMORY ? 0 : wanted ? wanted : usual;
}

void plan_settings(const struct profile *profile, const struct node_options *options,
		   struct node *node)
{
	struct cluster_settings defaults = profile->settings;

	/* A version selects the release of the node's kubelet, so the default kubelet binary does
	 * not apply. */
	if (options->kubernetes_version)
		defaults.kubelet_binary = NULL;
	node->worker = !node->control_plane ||
		       (!profile->no_schedule_control_planes && !options->no_schedule);
	settings_inherit(&defaults, &options->settings, &node->settings);
	/* Stored in the node, so that it does not change with the default. */
	if (!node->driver)
		setting_set_word(&node->driver, node_driver_default()->name);
	if (!node->worker)
		strlist_add(&node->taints, CONTROL_PLANE_TAINT);
}

/* The version of a node: one of payload_versions(), or the cluster's own. */
static int choose_version(const struct profile *profile, const struct node_options *options,
			  bool control_plane, const char **ret_version, struct error *err)
{
	int r;

	*ret_version = profile->kubernetes_version;
	if (!options->kubernetes_version)
		return 0;
	if (options->kubelet_binary)
		return error_because(err, &reason_usage, -EINVAL,
				     "--kubelet-binary has a version of its own: omit "
				     "either it or --kubernetes-version");
	r = payload_resolve_version(options->kubernetes_version, ret_version, err);
	return r < 0 ? r
		     : skew_check(profile->kubernetes_version, *ret_version, control_plane, err);
}

/* The IPv6 address and podCIDR of NODE, which has the number NUMBER, in a cluster with PREFIX; if
 * that is empty, the cluster has no IPv6. */
static void give_ipv6(const struct subnet6 *prefix, unsigned number, struct node *node)
{
	struct in6_addr address;
	struct subnet6 pods;

	if (prefix->prefix == 0)
		return;
	address = inet6_node_address(prefix, number);
	pods = inet6_node_pods(prefix, number);
	node->address6 = inet6_print_address(&address);
	node->pod_cidr6 = inet6_print_subnet(&pods);
}

static int plan_beside(struct profile *profile, const struct node_options *options,
		       const struct strlist *asked_for, struct node **ret_node, struct error *err)
{
	cleanup_free char *address = NULL;
	cleanup_free char *name = NULL;
	bool control_plane = profile->node_count == 0 || options->control_plane;
	const char *version;
	struct subnet6 prefix = { .prefix = 0 };
	struct subnet pods;
	struct subnet all;
	struct node *node;
	int64_t number = 0;
	int r;

	r = choose_version(profile, options, control_plane, &version, err);
	if (r == 0)
		r = choose_name(profile, options->name, &name, err);
	if (r == 0)
		r = options->address
			    ? take_address(profile, options->address, &address, &number, err)
			    : free_address(profile, asked_for, &address, &number, err);
	if (r == 0)
		r = inet_parse_subnet(profile->pod_subnet, &all, err);
	if (r == 0 && profile->ipv6_prefix)
		r = inet6_parse_subnet(profile->ipv6_prefix, &prefix, err);
	if (r < 0)
		return r;
	/* The podCIDR is derived from the address: both are assigned once and never change. */
	r = inet_nth_subnet(&all, 24, (uint64_t)(number - FIRST_NUMBER), &pods, err);
	if (r == -ERANGE) {
		(void)error_because(
			err, &reason_usage, r,
			"the pods' network '%s' has no room for another node: each node "
			"needs a /24",
			profile->pod_subnet);
		return r;
	}
	if (r < 0)
		return r;
	node = profile_add_node(profile, name);
	node->primary = profile->node_count == 1;
	node->control_plane = control_plane;
	node->kubernetes_version = xstrdup(version);
	node->address = take_ptr(address);
	node->asked_address = options->address;
	node->pod_cidr = inet_print_subnet(&pods);
	give_ipv6(&prefix, (unsigned)number, node);
	plan_settings(profile, options, node);
	*ret_node = node;
	return 0;
}

int plan_blame_file(const struct node_options *options, int r, struct error *err)
{
	if (!options->origin)
		return r;
	(void)error_prefix(err, r, "%s: node '%s'", options->origin, options->name);
	/* The error is in the file, not on the command line. */
	if (err && err->reason == &reason_usage)
		err->reason = &reason_cluster_file;
	return r;
}

int plan_node(struct profile *profile, const struct node_options *options, struct node **ret_node,
	      struct error *err)
{
	return plan_beside(profile, options, &STRLIST_INIT, ret_node, err);
}

/* Record which fields that are otherwise chosen automatically were given by the user. */
static void record_given_fields(struct profile *profile, const struct cluster_options *options)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (setting_is_of_cluster(setting) && setting->chosen_for_you &&
		    setting_is_set(setting, setting_in_cluster(setting, &options->settings)) &&
		    !strlist_has(&profile->asked, setting->name))
			strlist_add(&profile->asked, setting->name);
}

/* Have the nodes of a new cluster use the caller's HTTP proxies. */
static void take_proxies(const struct cluster_options *options, struct profile *profile)
{
	cleanup_with(strlist_release) struct strlist local = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist same = STRLIST_INIT;
	const char *word;

	if (!options->look_up || profile->offline)
		return;
	http_proxy_inherit(options->look_up, &profile->env, &local);
	http_proxy_inherit(options->look_up, &profile->docker_env, &same);
	strlist_for_each(word, &local)
		log_warning(
			"nodes do not use the proxy of %s, which is at a loopback address of this "
			"host; if it listens on other addresses, too, name it with --env and "
			"host.manykube.internal",
			word);
}

static int plan_new(const char *name, const struct cluster_options *options,
		    struct profile *profile, struct error *err)
{
	struct cluster_options chosen = *options;
	int r;

	profile->name = xstrdup(name);
	r = profile_dir(name, &profile->dir, err);
	if (r < 0)
		return r;
	/* The requested subnet is stored only when it is known to be free. */
	chosen.subnet = NULL;
	choices_take_new(&chosen, profile);
	take_proxies(options, profile);
	if (!profile->kubernetes_version)
		profile->kubernetes_version = xstrdup(payload_versions()[0]);
	profile->created = clock_wall_seconds();
	r = world->network_plan(profile, options->subnet, err);
	return r < 0 ? r : world->ports_are_free(profile, NULL, err);
}

/* A cluster whose deletion was interrupted can be started as it is, unless it has lost data. */
static int check_deletion(const struct profile *profile, const struct cluster_options *options,
			  struct error *err)
{
	bool shrinks = (options->nodes && options->nodes < profile->node_count) ||
		       (options->control_planes &&
			options->control_planes < profile_control_planes(profile));
	const struct node *node;
	bool is_lost = false;

	if (!profile->deleting || options->recovering)
		return 0;
	profile_for_each_node(node, profile)
		is_lost |= node->control_plane && node->phase == NODE_JOINED &&
			   cluster_node_is_lost(profile, node);
	if (!is_lost && !shrinks)
		return 0;
	(void)error_because(err, &reason_control_plane, -ENOENT,
			    "the deletion of cluster '%s' was interrupted%s", profile->name,
			    is_lost ? ", and its data is gone" : "");
	return error_hint(err, -ENOENT, "'manykube delete' finishes the deletion");
}

/* The address and certificate settings of an existing cluster cannot change. */
static int plan_changes(struct plan *plan, const struct cluster_options *options, struct error *err)
{
	struct profile *profile = &plan->profile;
	int r = check_deletion(profile, options, err);

	if (r == 0)
		r = choices_take(options, profile, err);
	if (r == 0)
		r = world->ports_are_free(profile, &plan->before, err);
	if (r < 0)
		return r;
	if (plan_cpus(options->cpus, profile->cpus) != profile->cpus ||
	    plan_memory(options->memory_bytes, profile->memory_bytes) != profile->memory_bytes) {
		(void)error_because(
			err, &reason_usage, -EINVAL,
			"cluster '%s' exists, and 'start' cannot change --cpus and --memory of its "
			"nodes",
			profile->name);
		return error_hint(err, -EINVAL,
				  "omit them to start the cluster as it is; 'manykube node set "
				  "NAME' changes a node");
	}
	if (options->control_planes && options->control_planes < profile_control_planes(profile)) {
		(void)error_because(
			err, &reason_usage, -EINVAL,
			"cluster '%s' has %u control planes, and --control-planes=%u is fewer",
			profile->name, profile_control_planes(profile), options->control_planes);
		return error_hint(err, -EINVAL,
				  "'start' never removes nodes: 'manykube node delete NAME' does");
	}
	if (options->nodes && options->nodes < profile->node_count) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "cluster '%s' has %zu nodes, and --nodes=%u is fewer",
				    profile->name, profile->node_count, options->nodes);
		return error_hint(err, -EINVAL,
				  "'start' never removes nodes: 'manykube node delete NAME' does");
	}
	return 0;
}

void plan_tell_changes(const struct profile *before, const struct profile *planned,
		       struct observer *observer)
{
	cleanup_with(strlist_release) struct strlist sentences = STRLIST_INIT;
	const char *sentence;

	choices_describe(before, planned, &sentences);
	strlist_for_each(sentence, &sentences)
		observe_note(observer, sentence);
}

/*
 * Whether the incomplete NODE of the record BEFORE was planned from the same options as OPTIONS; if
 * so, it is continued.
 */
static bool was_begun_by(struct node *node, const struct profile *before,
			 const struct node_options *options)
{
	cleanup_with(profile_release) struct profile twin = PROFILE_INIT;
	struct node_options again = *options;
	cleanup_free char *wanted = NULL;
	cleanup_free char *begun = NULL;
	struct node *other;

	if (node->phase != NODE_PLANNED || profile_copy(before, &twin, NULL) < 0)
		return false;
	other = profile_find_node(&twin, node->name);
	if (other)
		profile_remove_node(&twin, other);
	if (!again.address)
		again.address = node->address;
	if (plan_node(&twin, &again, &other, NULL) < 0)
		return false;
	other->asked_address = options->address;
	wanted = profile_print(&(struct profile){ .nodes = other, .node_count = 1 });
	begun = profile_print(&(struct profile){ .nodes = node, .node_count = 1 });
	return strcmp(wanted, begun) == 0;
}

static int plan_additions(struct plan *plan, const struct cluster_options *options,
			  struct error *err)
{
	cleanup_with(strlist_release) struct strlist asked_for = STRLIST_INIT;
	struct profile *profile = &plan->profile;

	for (size_t i = 0; i < options->add_count; i++)
		if (options->add[i].address)
			strlist_add(&asked_for, options->add[i].address);
	for (size_t i = 0; i < options->add_count; i++) {
		const struct node_options *add = &options->add[i];
		struct node *node = add->name ? profile_find_node(profile, add->name) : NULL;
		int r = 0;

		if (!node || plan->is_new || !was_begun_by(node, &plan->before, add))
			r = plan_beside(profile, add, &asked_for, &node, err);
		if (r < 0)
			return plan_blame_file(add, r, err);
		if (options->only && !strlist_has(options->only, node->name))
			strlist_add(options->only, node->name);
	}
	return 0;
}

/* Add control planes, then other nodes, up to the requested numbers. */
static int plan_counts(struct profile *profile, const struct cluster_options *options,
		       struct error *err)
{
	unsigned present = profile_control_planes(profile);
	unsigned wanted = options->control_planes ? options->control_planes : MAX(present, 1u);
	unsigned least = (unsigned)profile->node_count + wanted - present;
	unsigned nodes = MAX(options->nodes, least);

	while (profile->node_count < nodes) {
		struct node_options usual = { .control_plane = present < wanted };
		struct node *node;
		int r = plan_node(profile, &usual, &node, err);

		if (r < 0)
			return r;
		present += node->control_plane;
	}
	return 0;
}

static int check_control_planes(const struct profile *profile, struct error *err)
{
	if (profile_control_planes(profile) <= CONTROL_PLANES_MOST)
		return 0;
	(void)error_because(err, &reason_usage, -ERANGE,
			    "%u control planes are more than the %d that etcd advises: each write "
			    "waits for a majority of them",
			    profile_control_planes(profile), CONTROL_PLANES_MOST);
	return error_hint(err, -ERANGE, "use fewer, or use --force");
}

/* No node can be added during an upgrade, because the cluster has two versions then. */
static int check_upgrade(const struct profile *profile, size_t nodes_before, struct error *err)
{
	if (!profile->upgrading_from || profile->node_count <= nodes_before)
		return 0;
	(void)error_because(
		err, &reason_control_plane, -EBUSY,
		"cluster '%s' is being upgraded from Kubernetes %s to %s; nodes cannot be added",
		profile->name, profile->upgrading_from, profile->kubernetes_version);
	return error_hint(err, -EBUSY, "'manykube upgrade' finishes the upgrade");
}

int plan_check_ports(const struct profile *profile, const struct strlist *words, struct error *err)
{
	const char *word;
	int checked = published_ports_check(profile, words, err);

	if (checked < 0)
		return checked;

	strlist_for_each(word, words) {
		cleanup_with(strlist_release) struct strlist known = STRLIST_INIT;
		cleanup_free char *shown = NULL;
		const struct node *node;
		struct port_spec port;
		int r = spec_parse_port(word, &port, err);

		if (r < 0)
			return r;
		if (!port.node || profile_find_node(profile, port.node))
			continue;
		profile_for_each_node(node, profile)
			strlist_add(&known, node->name);
		shown = strlist_join(&known, ", ");
		(void)error_because(
			err, &reason_usage, -EINVAL,
			"port '%s' is forwarded to node '%s', but cluster '%s' has no such "
			"node",
			word, port.node, profile->name);
		return error_hint(err, -EINVAL, "use one of %s, or omit the node to reach any",
				  shown);
	}
	return 0;
}

/* All nodes of a cluster have the same families, since pods of all of them reach each other. */
static int check_families(const struct profile *profile, struct error *err)
{
	const struct node *node;

	if (!profile->ipv6_prefix)
		return 0;
	profile_for_each_node(node, profile) {
		const struct node_driver *driver = node_driver_find(node->driver);

		if (!driver || driver->route6)
			continue;
		(void)error_because(err, &reason_usage, -EOPNOTSUPP,
				    "cluster '%s' has IPv6, which nodes of the driver '%s' cannot "
				    "have, such as '%s'",
				    profile->name, driver->name, node->name);
		return error_hint(err, -EOPNOTSUPP,
				  "use another driver; 'manykube driver list' lists them, and a "
				  "cluster of --ip-family=ipv4 can have any");
	}
	return 0;
}

static int change_plan(struct plan *plan, const struct cluster_options *options, struct error *err)
{
	size_t nodes_before = plan->profile.node_count;
	unsigned before = profile_control_planes(&plan->profile);
	int r = plan_additions(plan, options, err);

	if (r == 0)
		r = plan_counts(&plan->profile, options, err);
	if (r == 0 && profile_control_planes(&plan->profile) > before && !options->force)
		r = check_control_planes(&plan->profile, err);
	if (r == 0)
		r = check_upgrade(&plan->profile, nodes_before, err);
	if (r == 0)
		r = check_families(&plan->profile, err);
	return r < 0 ? r : plan_check_ports(&plan->profile, &options->ports, err);
}

int plan_profile(const char *name, const struct cluster_options *options, struct plan *ret,
		 struct error *err)
{
	cleanup_with(plan_release) struct plan plan = PLAN_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = choices_check(options, err);

	if (r < 0)
		return r;
	r = profile_load(name, &plan.before, &why);
	plan.is_new = r == -ENOENT;
	if (r == 0)
		r = profile_copy(&plan.before, &plan.profile, &why);
	if (r < 0 && !plan.is_new)
		return error_move(err, r, &why);
	r = plan.is_new ? plan_new(name, options, &plan.profile, err)
			: plan_changes(&plan, options, err);
	if (r < 0)
		return r;
	record_given_fields(&plan.profile, options);
	r = change_plan(&plan, options, err);
	if (r < 0)
		return r;
	*ret = plan;
	plan = PLAN_INIT;
	return 0;
}

void plan_release(struct plan *plan)
{
	profile_release(&plan->profile);
	profile_release(&plan->before);
}
