/*
 * Nodes made of namespaces, with the agent as PID 1; see birth.h.
 *
 * At each start, old control groups are replaced by new ones; groups of dead containers would keep
 * the kubelet busy.
 */

#include "driver/birth.h"
#include "driver/driver.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "cgroup/cgroup.h"
#include "cgroup/scope.h"
#include "driver/agent-path.h"
#include "driver/inside.h"
#include "driver/native-create.h"
#include "driver/native-disk.h"
#include "driver/native-files.h"
#include "driver/native-link.h"
#include "driver/native-services.h"

static int probe(bool with_disks, struct error *err)
{
	cleanup_free char *agent = NULL;
	int r = agent_find(&agent, err);

	return r < 0 ? r : probe_required(with_disks, err);
}

static int start(const struct node_spec *spec, struct error *err)
{
	cleanup_with(scope_release) struct scope scope = SCOPE_INIT;
	cleanup_free char *group = inside_group(spec);
	pid_t pid = inside_pid(spec);
	int r;

	if (pid && native_has_namespaces(pid))
		return 0;
	r = cgroup_kill(group, err);
	if (r == 0)
		r = cgroup_remove(group, err);
	if (r == 0)
		r = scope_open(spec->cluster, spec->profile, &scope, err);
	if (r == 0)
		r = cgroup_create(group, err);
	if (r == 0)
		r = birth_give(spec, &(struct birth_place){ .group = group }, inside_record, err);
	return r < 0 ? error_reason(err, error_prefix(err, r, "cannot start node '%s'", spec->name),
				    &reason_node_failed)
		     : 0;
}

static int freeze(const struct node_spec *spec, bool frozen, struct error *err)
{
	cleanup_free char *group = inside_group(spec);
	int r;

	if (frozen && !inside_pid(spec))
		return inside_not_running(spec, err);
	r = cgroup_freeze(group, frozen, err);
	if (r == 0)
		return 0;
	error_prefix(err, r, "cannot %s node '%s'", frozen ? "pause" : "unpause", spec->name);
	return error_reason(err, r, &reason_node_failed);
}

static int destroy(const struct node_spec *spec, struct error *err)
{
	int r;

	native_disk_abandon(spec);
	r = inside_stop(spec, 0, err);
	return r < 0 ? r : file_remove_tree(spec->dir, err);
}

static int destroy_cluster(const char *cluster, struct error *err)
{
	int r = native_link_remove_all(cluster, err);

	return r < 0 ? r : scope_destroy(cluster, err);
}

const struct node_driver node_driver_native = {
	.name = "native",
	.summary = "nodes made of Linux namespaces; needs no container engine and no VM",
	.needs_root = true,
	.probe = probe,
	.check_host = probe_each,
	.create = native_create,
	.start = start,
	.limit = inside_limit,
	.stop = inside_stop,
	.freeze = freeze,
	.destroy = destroy,
	.destroy_cluster = destroy_cluster,
	.query = inside_query,
	.files = &native_files,
	.measure = inside_measure,
	.signal = inside_signal,
	.spawn = inside_spawn,
	.call = inside_call,
	.open_terminal = inside_open_terminal,
	.reach = inside_reach,
	.ask = inside_ask,
	.lacks_programs = inside_lacks_programs,
	.route = inside_route,
	.route6 = inside_route6,
	.filter = inside_filter,
};
