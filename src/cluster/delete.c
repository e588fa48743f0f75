/* Deleting a cluster and everything that was created for it. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "home/autostart.h"
#include "home/migrate.h"
#include "host/disk.h"
#include "network/network.h"
#include "node/cluster-node.h"
#include "record/old-home.h"
#include "record/world.h"

static int destroy_nodes(const struct profile *profile, struct observer *observer,
			 struct error *err)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
		int r = cluster_node_open(profile, node, &at, err);

		if (r < 0)
			return r;
		observe_begin(observer, "removing node", node->name);
		r = at.driver->destroy(&at.spec, err);
		observe_end(observer, "removing node", node->name, r == 0);
		if (r < 0)
			return r;
		world->after("destroy node");
	}
	return 0;
}

/* For a cluster whose profile cannot be read: its directory, which determines its bridge. */
static int derive_profile(const char *name, struct profile *ret, struct error *err)
{
	int r;

	ret->name = xstrdup(name);
	r = profile_dir(name, &ret->dir, err);
	if (r == 0)
		ret->bridge = profile_bridge_name(ret->dir);
	return r;
}

/* Remove what nodes share, for every driver that the cluster's nodes may have had. */
static int destroy_shared(const struct profile *profile, struct error *err)
{
	const struct node_driver *driver;
	int r = 0;

	for (size_t i = 0; r == 0 && (driver = node_driver_at(i)); i++)
		if (profile->node_count == 0 || cluster_uses_driver(profile, driver))
			r = driver->destroy_cluster(profile->bridge, err);
	return r;
}

void cluster_forget_context(const char *name)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	if (world->kubeconfig_remove(name, &why) < 0)
		log_warning("cannot remove the cluster from the kubeconfig: %s", why.text);
}

int cluster_delete(const char *name, struct observer *observer, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = profile_load(name, &profile, &why);

	if (r < 0) {
		log_debug("deleting '%s' without its profile: %s", name, why.text);
		r = derive_profile(name, &profile, err);
		if (r < 0)
			return r;
	}
	/* If this is interrupted, nobody takes the rest for a cluster that lost its data.  A record
	 * that cannot be written, or was not read, prevents nothing. */
	profile.deleting = true;
	if (profile.node_count > 0)
		(void)profile_save(&profile, NULL);
	cluster_forget_context(name);
	world->after("remove kubeconfig");
	r = autostart_disable(&profile, err);
	if (r == 0)
		r = world->front_door_down(&profile, err);
	if (r == 0)
		r = destroy_nodes(&profile, observer, err);
	if (r == 0)
		r = fail_leave_host(&profile, err);
	if (r == 0)
		r = world->network_down(&profile, err);
	if (r == 0)
		world->after("remove network");
	if (r == 0)
		r = destroy_shared(&profile, err);
	/* Disks of nodes in a record that cannot be read. */
	if (r == 0)
		r = disk_unmount_below(profile.dir, err);
	/* The record is removed last: until then, the deletion can be repeated. */
	if (r == 0)
		r = migrate_remove(name, profile.dir, err);
	return r;
}
