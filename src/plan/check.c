/* Checks before a start.  Changes nothing. */

#include "plan/check.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "kubeadm/arguments.h"
#include "kubeadm/kubeadm.h"
#include "node/cluster-node.h"
#include "payload/registry.h"
#include "probe/probe.h"
#include "record/options.h"
#include "record/world.h"

bool cluster_takes_part(const struct cluster_options *options, const struct node *node)
{
	if (node->phase == NODE_LEAVING)
		return false;
	return !options->only || strlist_has(options->only, node->name);
}

void check_overcommit(unsigned cpus, uint64_t memory_bytes)
{
	long host_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long long host_bytes = (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

	if (host_cpus > 0 && cpus > (unsigned)host_cpus)
		log_warning("Kubernetes will see %u CPUs on a node, but this host has %ld for "
			    "all of them",
			    cpus, host_cpus);
	if (host_bytes > 0 && memory_bytes > (uint64_t)host_bytes)
		log_warning("Kubernetes will see %llu GiB of memory on a node, but this "
			    "host has %lld for all of them",
			    (unsigned long long)(memory_bytes >> 30), host_bytes >> 30);
}

int check_own_memory(const struct node *node, uint64_t memory_bytes, bool force, struct error *err)
{
	const struct node_driver *driver = node->driver ? node_driver_find(node->driver) : NULL;
	uint64_t host_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	if (!memory_bytes || !driver || !driver->memory_default)
		return 0;
	if (memory_bytes < driver->memory_least)
		(void)error_because(err, &reason_resources, -ERANGE,
				    "node '%s' is a VM, which needs at least %llu MiB of memory",
				    node->name, (unsigned long long)(driver->memory_least >> 20));
	else if (memory_bytes > host_bytes && !force)
		(void)error_because(err, &reason_resources, -ERANGE,
				    "node '%s' is a VM with %llu MiB of memory, but this host has "
				    "%llu MiB",
				    node->name, (unsigned long long)(memory_bytes >> 20),
				    (unsigned long long)(host_bytes >> 20));
	else
		return 0;
	return error_hint(err, -ERANGE,
			  "choose another --memory; if the node exists, 'manykube node set %s "
			  "--memory=SIZE' changes it, and 'manykube node delete %s' removes it",
			  node->name, node->name);
}

static bool has_own_kernel(const struct node *node)
{
	const struct node_driver *driver = node->driver ? node_driver_find(node->driver) : NULL;

	return driver && driver->has_kernel;
}

int check_own_kernel(const struct profile *profile, const struct node *node, struct error *err)
{
	const struct node *other;
	int r;

	if (!node->kernel || has_own_kernel(node))
		return 0;
	/* In a cluster with VMs, that of the cluster is for those. */
	if (profile->kernel && strcmp(profile->kernel, node->kernel) == 0)
		profile_for_each_node(other, profile)
			if (has_own_kernel(other))
				return 0;
	r = error_because(err, &reason_usage, -EINVAL,
			  "node '%s' cannot have the kernel '%s': with --driver=%s, it has that of "
			  "this host",
			  node->name, node->kernel, node->driver);
	return error_hint(err, r, "only VMs have a kernel of their own: --driver=qemu");
}

/* Likewise of all nodes that would be started. */
static int check_own_memories(const struct profile *profile, const struct cluster_options *options,
			      struct error *err)
{
	const struct node *node;
	int r = 0;

	profile_for_each_node(node, profile)
		if (r == 0 && cluster_takes_part(options, node) &&
		    cluster_node_state(profile, node) != NODE_RUNNING)
			r = check_own_memory(node, node->memory_bytes, options->force, err);
	return r;
}

/* Check that there is memory for the nodes that do not run yet, and disk space for new ones. */
static int check_room(const struct profile *profile, const struct cluster_options *options,
		      struct error *err)
{
	const struct node *node;
	uint64_t promised = 0;
	uint64_t memory = 0;
	uint64_t disk = 0;
	unsigned cpus = 0;

	profile_for_each_node(node, profile) {
		enum node_state state;

		if (!cluster_takes_part(options, node))
			continue;
		state = cluster_node_state(profile, node);
		if (state != NODE_RUNNING)
			memory += node->control_plane ? PROBE_CONTROL_PLANE_BYTES
						      : PROBE_WORKER_BYTES;
		if (state == NODE_ABSENT) {
			disk = MAX(disk, PROBE_DISK_BYTES);
			/* A node with its own disk has its own images; other nodes share them. */
			disk += node->disk_bytes ? PROBE_IMAGES_BYTES : 0;
			cpus = MAX(cpus, node->cpus);
			promised = MAX(promised, node->memory_bytes);
		}
	}
	check_overcommit(cpus, promised);
	return world->room(memory, disk, err);
}

/* A deletion that was interrupted can only be finished. */
static int check_leaving(const struct profile *profile, const struct cluster_options *options,
			 struct error *err)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		if (node->phase != NODE_LEAVING)
			continue;
		if (options->only && strlist_has(options->only, node->name)) {
			(void)error_because(err, &reason_usage, -EINVAL,
					    "node '%s' is partly deleted", node->name);
			return error_hint(err, -EINVAL, "'manykube node delete %s' finishes that",
					  node->name);
		}
		if (!options->only)
			log_warning(
				"node '%s' is partly deleted and is not started: 'manykube node delete "
				"%s' finishes that",
				node->name, node->name);
	}
	return 0;
}

/* Let the driver of NODE get what it needs. */
static int prepare_node(const struct profile *profile, const struct node *node,
			const struct cluster_options *options, struct observer *observer,
			struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	at.spec.demanding = node->control_plane && node->phase == NODE_PLANNED && !options->force;
	return r == 0 && at.driver->prepare ? at.driver->prepare(&at.spec, observer, err) : r;
}

int cluster_get_payloads(const struct profile *profile, const struct cluster_options *options,
			 struct observer *observer, struct payload *ret, struct error *err)
{
	const struct payload_source source = { .binary_mirror = options->binary_mirror,
					       .offline = profile->offline };
	const struct node *node;
	cleanup_free char *registry = NULL;
	int r = world->payload(profile->kubernetes_version, &source, observer, ret, err);

	if (r == 0 && profile->registry_port)
		r = registry_program_ensure(&source, observer, &registry, err);
	profile_for_each_node(node, profile) {
		cleanup_with(payload_release) struct payload other = PAYLOAD_INIT;

		if (r == 0 && cluster_node_differs(profile, node) &&
		    cluster_takes_part(options, node))
			r = world->payload(node->kubernetes_version, &source, observer, &other,
					   err);
		if (r == 0 && cluster_takes_part(options, node))
			r = prepare_node(profile, node, options, observer, err);
	}
	return r;
}

int cluster_check_arguments(const struct profile *profile, const struct cluster_options *options,
			    const struct payload *payload, struct error *err)
{
	cleanup_with(strlist_release) struct strlist checked = STRLIST_INIT;
	const struct node *node;
	int r = 0;

	profile_for_each_node(node, profile)
		if (r == 0 && node->phase == NODE_PLANNED && cluster_takes_part(options, node))
			r = arguments_check(profile, node, payload, &checked, err);
	return r;
}

int cluster_rehearse(const char *name, const struct cluster_options *options, struct plan *ret,
		     struct error *err)
{
	cleanup_with(plan_release) struct plan plan = PLAN_INIT;
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	int r = cluster_plan(name, options, &plan, err);

	if (r == 0 && payload_open(plan.profile.kubernetes_version, &payload, NULL) == 0)
		r = cluster_check_arguments(&plan.profile, options, &payload, err);
	if (r < 0)
		return r;
	*ret = plan;
	plan = PLAN_INIT;
	return 0;
}

/* Ask the drivers of PROFILE's nodes whether this host has what they need. */
static int check_drivers(const struct profile *profile, const struct cluster_options *options,
			 struct error *err)
{
	const struct node_driver *driver;
	int r = 0;

	for (size_t i = 0; r == 0 && (driver = node_driver_at(i)); i++) {
		const struct node *node;
		bool with_disks = false;

		profile_for_each_node(node, profile)
			with_disks |= node->disk_bytes && cluster_takes_part(options, node) &&
				      node_driver_find(node->driver) == driver;
		if (cluster_uses_driver(profile, driver))
			r = driver->probe(with_disks, err);
	}
	return r;
}

int cluster_plan(const char *name, const struct cluster_options *options, struct plan *ret,
		 struct error *err)
{
	cleanup_with(plan_release) struct plan plan = PLAN_INIT;
	const struct profile *profile = &plan.profile;
	const struct node *node;
	int r = plan_profile(name, options, &plan, err);

	if (r == 0 && profile->recovering && !options->recovering) {
		r = error_because(err, &reason_control_plane, -EBUSY,
				  "a recovery of cluster '%s' was not finished", profile->name);
		(void)error_hint(err, r, "'manykube node recover' finishes it");
	}
	if (r == 0)
		r = check_leaving(profile, options, err);
	profile_for_each_node(node, profile)
		if (r == 0 && node->phase == NODE_PLANNED) {
			r = check_own_kernel(profile, node, err);
			if (r == 0)
				r = kubeadm_check_patches(profile, node, err);
		}
	if (r < 0)
		return r;
	r = check_own_memories(profile, options, err);
	if (r == 0 && !options->force)
		r = check_drivers(profile, options, err);
	if (r == 0 && !options->force)
		r = check_room(profile, options, err);
	if (r < 0)
		return r;
	*ret = plan;
	plan = PLAN_INIT;
	return 0;
}
