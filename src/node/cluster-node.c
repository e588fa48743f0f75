/* The driver's view of a node. */

#include "node/cluster-node.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "data/inet.h"
#include "data/inet6.h"
#include "node/base-image.h"
#include "node/node-files.h"
#include "record/spec.h"

/* The kernel truncates names of processes to this length. */
#define NAME_OF_PROCESS 15

bool cluster_node_differs(const struct profile *profile, const struct node *node)
{
	return !node->kubelet_binary && node->kubernetes_version && profile->kubernetes_version &&
	       strcmp(node->kubernetes_version, profile->kubernetes_version) != 0;
}

char *cluster_node_own_kubelet(const struct profile *profile, const struct node *node)
{
	cleanup_free char *cache = NULL;

	if (cluster_node_differs(profile, node) && path_cache(&cache, NULL) == 0)
		return xasprintf("%s/%s/bin/kubelet", cache, node->kubernetes_version);
	return node->kubelet_binary ? xstrdup(node->kubelet_binary) : NULL;
}

static int open_mounts(const struct node *node, char *kubelet, struct cluster_node *ret,
		       struct error *err)
{
	const char *word;
	int r = 0;

	ret->mounts = xcalloc(node->mounts.count + 1, sizeof(*ret->mounts));
	ret->spec.mounts = ret->mounts;
	if (kubelet)
		ret->mounts[ret->spec.mount_count++] = (struct node_mount){
			.host = kubelet,
			.node = xstrdup(NODE_KUBELET),
			.read_only = true,
		};
	strlist_for_each(word, &node->mounts)
		if (r == 0)
			r = spec_parse_mount(word, &ret->mounts[ret->spec.mount_count++], err);
	return r < 0 ? error_reason(err, r, &reason_host_config) : 0;
}

/* Append the host's paths that PROFILE's nodes can write to. */
static void add_writable_paths(const struct profile *profile, struct strlist *paths)
{
	const struct node *node;
	const char *word;

	profile_for_each_node(node, profile)
		strlist_for_each(word, &node->mounts) {
			cleanup_with(spec_release_mount) struct node_mount mount = { NULL };

			if (spec_parse_mount(word, &mount, NULL) == 0 && !mount.read_only)
				strlist_add(paths, mount.host);
		}
}

/* The IPv6 addresses of NODE, if it has any, for SPEC. */
static int open_ipv6(const struct profile *profile, const struct node *node, struct node_spec *spec,
		     struct error *err)
{
	struct subnet6 prefix;
	int r;

	if (!profile->ipv6_prefix || !node->address6)
		return 0;
	r = inet6_parse_subnet(profile->ipv6_prefix, &prefix, err);
	if (r == 0)
		r = inet6_parse_address(node->address6, &spec->address6, err);
	if (r < 0)
		return r;
	spec->has_ipv6 = true;
	spec->gateway6 = inet6_node_address(&prefix, 1);
	spec->prefix6 = inet6_nodes(&prefix).prefix;
	return 0;
}

int cluster_node_open(const struct profile *profile, const struct node *node,
		      struct cluster_node *ret, struct error *err)
{
	const struct node_driver *driver = node_driver_find(node->driver);
	cleanup_free char *cache = NULL;
	struct subnet subnet;
	struct in_addr gateway;
	struct in_addr address;
	int64_t slot = 0;
	int r;

	if (!driver)
		return error_because(err, &reason_host_config, -EINVAL,
				     "node '%s' has the unknown driver '%s'", node->name,
				     node->driver);
	r = path_cache(&cache, err);
	if (r == 0)
		r = inet_parse_subnet(profile->subnet, &subnet, err);
	if (r == 0)
		r = inet_parse_address(profile->gateway, &gateway, err);
	if (r == 0)
		r = inet_parse_address(node->address, &address, err);
	if (r < 0)
		return r;
	slot = inet_number_of(&subnet, address);
	if (slot < 2 || slot > 254)
		return error_because(
			err, &reason_host_config, -ERANGE,
			"node '%s' has the address %s, which is not in the subnet '%s'", node->name,
			node->address, profile->subnet);
	ret->driver = driver;
	ret->dir = node_dir(profile, node);
	ret->base = base_dir(profile, node);
	ret->shared = xasprintf("%s/shared", profile->dir);
	ret->payload = xasprintf("%s/%s", cache, profile->kubernetes_version);
	ret->spec = (struct node_spec){
		.cluster = profile->bridge,
		.profile = profile->name,
		.name = node->name,
		.dir = ret->dir,
		.payload = ret->payload,
		.shared = ret->shared,
		.base = ret->base,
		.base_image = node->base_image,
		.kernel = node->kernel,
		.bridge = profile->bridge,
		.address = address,
		.prefix = subnet.prefix,
		.gateway = gateway,
		.default_route = !profile->offline,
		.offline = profile->offline,
		.slot = (unsigned)slot,
		.cpus = node->cpus,
		.memory_bytes = node->memory_bytes,
		.disk_bytes = node->disk_bytes,
	};
	r = open_ipv6(profile, node, &ret->spec, err);
	if (r < 0)
		return r;
	add_writable_paths(profile, &ret->spec.writable);
	return open_mounts(node, cluster_node_own_kubelet(profile, node), ret, err);
}

static int route6(const struct cluster_node *at, const struct node *other, bool remove,
		  struct error *err)
{
	struct subnet6 pods;
	struct in6_addr via;
	int r;

	if (!at->spec.has_ipv6 || !other->address6)
		return 0;
	r = inet6_parse_subnet(other->pod_cidr6, &pods, err);
	if (r == 0)
		r = inet6_parse_address(other->address6, &via, err);
	return r < 0 ? r : at->driver->route6(&at->spec, &pods, &via, remove, err);
}

int cluster_node_route(const struct cluster_node *at, const struct node *other, bool remove,
		       struct error *err)
{
	struct subnet pods;
	struct in_addr via;
	int r = inet_parse_subnet(other->pod_cidr, &pods, err);

	if (r == 0)
		r = inet_parse_address(other->address, &via, err);
	if (r == 0)
		r = at->driver->route(&at->spec, pods.address, pods.prefix, via, remove, err);
	return r < 0 ? r : route6(at, other, remove, err);
}

int cluster_node_route_all(const struct profile *profile, const struct node *node,
			   const struct cluster_node *at, bool remove, struct error *err)
{
	const struct node *other;
	int r = 0;

	profile_for_each_node(other, profile)
		if (r == 0 && other != node)
			r = cluster_node_route(at, other, remove, err);
	return r;
}

bool cluster_uses_driver(const struct profile *profile, const struct node_driver *driver)
{
	const struct node *node;

	profile_for_each_node(node, profile)
		if (node->driver && node_driver_find(node->driver) == driver)
			return true;
	return false;
}

/* The usage of NODE; zeroed if it does not run. */
static struct node_usage usage_of(const struct cluster_node *node)
{
	struct node_usage usage = { .memory_bytes = 0 };

	if (node->driver->query(&node->spec) == NODE_RUNNING)
		node->driver->measure(&node->spec, &usage);
	return usage;
}

bool cluster_node_is_paused(const struct cluster_node *node)
{
	return usage_of(node).paused;
}

bool cluster_node_is_stopping(const struct cluster_node *node)
{
	return usage_of(node).stopping;
}

bool cluster_node_is_at_work(const struct cluster_node *node)
{
	struct node_usage usage = { .memory_bytes = 0 };

	if (node->driver->query(&node->spec) != NODE_RUNNING)
		return false;
	node->driver->measure(&node->spec, &usage);
	return !usage.paused && !usage.stopping;
}

void cluster_node_release(struct cluster_node *node)
{
	free(node->dir);
	free(node->payload);
	free(node->shared);
	free(node->base);
	for (size_t i = 0; i < node->spec.mount_count; i++)
		spec_release_mount(&node->mounts[i]);
	free(node->mounts);
	strlist_release(&node->spec.writable);
	*node = CLUSTER_NODE_INIT;
}

bool cluster_node_is_awake(const struct profile *profile, const struct node *node)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	return cluster_node_open(profile, node, &at, NULL) == 0 &&
	       at.driver->query(&at.spec) == NODE_RUNNING && !cluster_node_is_paused(&at);
}

int cluster_node_need_awake(const struct profile *profile, const struct node *node,
			    struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r < 0 || !cluster_node_is_paused(&at))
		return r;
	(void)error_because(err, &reason_node_paused, -EBUSY, "node '%s' is paused", node->name);
	return error_hint(err, -EBUSY, "'manykube unpause -n %s' resumes it", node->name);
}

enum node_state cluster_node_state(const struct profile *profile, const struct node *node)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	if (cluster_node_open(profile, node, &at, NULL) < 0)
		return NODE_ABSENT;
	return at.driver->query(&at.spec);
}

bool cluster_node_is_lost(const struct profile *profile, const struct node *node)
{
	return !node_has(profile, node, "kubernetes/kubelet.conf") &&
	       !node_has(profile, node, "kubernetes/manifests/etcd.yaml");
}

int cluster_node_restart(const struct profile *profile, const struct node *node,
			 const struct strlist *names, int64_t deadline_ms, struct error *err)
{
	static char script[] =
#include "restart.sh.inc"
		;
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	struct process_options options = { .no_stdin = true, .output = "/dev/null" };
	const char *name;
	int r = cluster_node_open(profile, node, &at, err);

	strlist_add_all(&argv, ARGV("sh", "-c", script, "restart"));
	strlist_for_each(name, names)
		strlist_addf(&argv, "%.*s", NAME_OF_PROCESS, name);
	if (r == 0)
		r = at.driver->spawn(&at.spec, argv.items, &options, &process, err);
	return r < 0 ? r : MIN(process_wait(&process, deadline_ms, err), 0);
}
