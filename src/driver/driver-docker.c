/*
 * Nodes in containers of an engine with Docker's API.
 *
 * The engine makes, lists, stops and kills the container, whose control group and pid namespace
 * hold the node's processes.  All else is as in native nodes: the user namespace and its ids, the
 * root file system, the tree of files, the link on the cluster's bridge.  So such a node can do no
 * more than a native one, and what is known of its pid and its control group suffices to work in it
 * (inside.h).
 *
 * The pid is recorded when the node runs.  A container without a recorded process was started by
 * somebody else, or its start was interrupted; the next start begins again.
 */

#include "driver/birth.h"
#include "driver/driver.h"

#include <sys/resource.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "cgroup/cgroup.h"
#include "driver/agent-path.h"
#include "driver/inside.h"
#include "driver/native-create.h"
#include "driver/native-disk.h"
#include "driver/native-files.h"
#include "driver/native-link.h"
#include "driver/native-services.h"
#include "driver/tree.h"
#include "engine/box.h"
#include "host/namespace.h"

/* Open an engine that can make nodes. */
static int open_engine(struct engine *ret, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	cleanup_with(engine_info_release) struct engine_info info = ENGINE_INFO_INIT;
	int r = engine_open(&engine, err);

	if (r == 0)
		r = engine_look(&engine, &info, err);
	if (r == 0)
		r = engine_check(&info, err);
	if (r < 0)
		return r;
	*ret = engine;
	engine = ENGINE_INIT;
	return 0;
}

static int probe(bool with_disks, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	cleanup_free char *agent = NULL;
	int r = agent_find(&agent, err);

	if (r == 0)
		r = probe_required(with_disks, err);
	return r < 0 ? r : open_engine(&engine, err);
}

/* What native nodes need as well is checked with them, because clusters have that driver by default
 * and `doctor` always asks it. */
static int check_host(probe_fn fn, void *data)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	cleanup_with(engine_info_release) struct engine_info info = ENGINE_INFO_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *text = NULL;
	struct probe_result result = { .name = "container engine",
				       .purpose = "nodes of the driver 'docker'",
				       .reason = &reason_host_missing_tool };
	int r = engine_open(&engine, &why);

	if (r == 0)
		r = engine_look(&engine, &info, &why);
	if (r == 0)
		r = engine_check(&info, &why);
	if (r < 0) {
		result.state = PROBE_MISSING;
		result.text = why.text;
		result.remedy = error_advice(&why);
		result.reason = why.reason ?: result.reason;
	} else {
		text = xasprintf("version %s at '%s'", info.version, engine.socket);
		result.text = text;
	}
	return fn(&result, data);
}

static struct box box_of(const struct node_spec *spec)
{
	return (struct box){ .cluster = spec->cluster,
			     .node = spec->name,
			     .profile = spec->profile,
			     .user = NAMESPACE_UID_FIRST + spec->slot * NAMESPACE_IDS };
}

static int make_box(const struct engine *engine, const struct node_spec *spec, struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_free char *var = xasprintf("%s/var", tree);
	cleanup_free char *agent = NULL;
	struct box box = box_of(spec);
	int r = agent_find(&agent, err);

	if (r < 0)
		return r;
	box.agent = agent;
	box.var = var;
	return box_make(engine, &box, err);
}

/* A node's root derives from its address. */
static int check_user(const struct node_spec *spec, struct error *err)
{
	struct box box = box_of(spec);
	unsigned most = (BOX_USER_MOST - NAMESPACE_UID_FIRST) / NAMESPACE_IDS;
	int r;

	if (box.user <= BOX_USER_MOST)
		return 0;
	r = error_because(err, &reason_usage, -EINVAL,
			  "node '%s' cannot be a container: its address is number %u of the "
			  "cluster's network, and container engines allow at most %u",
			  spec->name, spec->slot, most);
	return error_hint(err, r, "give it another address with --static-ip, or the native driver");
}

static int create(const struct node_spec *spec, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	int r = check_user(spec, err);

	if (r == 0)
		r = native_create(spec, err);
	if (r < 0 || inside_query(spec) == NODE_RUNNING)
		return r;
	r = open_engine(&engine, err);
	if (r == 0)
		r = make_box(&engine, spec, err);
	return r < 0 ? error_prefix(err, r, "the container of node '%s'", spec->name) : 0;
}

/* Give PID our limits of resources instead of the engine's, as far as this host allows. */
static void pass_limits_on(pid_t pid)
{
	for (int resource = 0; resource < RLIMIT_NLIMITS; resource++) {
		struct rlimit limit;

		if (getrlimit((__rlimit_resource_t)resource, &limit) == 0 &&
		    prlimit(pid, (__rlimit_resource_t)resource, &limit, NULL) < 0)
			log_debug("resource limit %d of process %d stays as it is", resource,
				  (int)pid);
	}
}

/* Make a node of the container whose first process is PID. */
static int settle(const struct node_spec *spec, pid_t pid, struct error *err)
{
	cleanup_free char *group = cgroup_of(pid);
	struct birth_place place = { .group = group, .container = pid };
	struct box box = box_of(spec);
	int r;

	if (!group)
		return error_set(err, -ENOENT, "the container has no control group of its own");
	pass_limits_on(pid);
	r = inside_record_group(spec, group, err);
	if (r == 0)
		r = cgroup_complete(group, err);
	if (r == 0)
		r = cgroup_enter(group, pid, err);
	if (r == 0)
		r = birth_give(spec, &place, NULL, err);
	if (r == 0 && (box_waits(&box, pid) || !native_has_namespaces(pid)))
		r = error_set(err, -EIO, "the container's first process did not become the node");
	return r < 0 ? r : inside_record(spec, pid, err);
}

static int start_container(const struct engine *engine, const struct node_spec *spec,
			   struct error *err)
{
	struct box box = box_of(spec);
	pid_t pid;
	int r = box_start(engine, &box, &pid, err);

	return r < 0 ? r : settle(spec, pid, err);
}

static int start(const struct node_spec *spec, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	cleanup_free char *group = inside_group(spec);
	struct box box = box_of(spec);
	pid_t pid = inside_pid(spec);
	int r;

	if (pid && native_has_namespaces(pid))
		return 0;
	/* What is left of an earlier container; create() has mounted the disk, which stays. */
	r = cgroup_kill(group, err);
	if (r == 0)
		r = cgroup_remove(group, err);
	if (r == 0)
		r = open_engine(&engine, err);
	if (r == 0)
		r = make_box(&engine, spec, err);
	if (r == 0) {
		r = start_container(&engine, spec, err);
		/* Nothing of a node that did not start goes on. */
		if (r < 0 && inside_stop(spec, 0, NULL) == 0)
			(void)box_order(&engine, &box, "stop?t=0", NULL);
	}
	return r < 0 ? error_reason(err, error_prefix(err, r, "cannot start node '%s'", spec->name),
				    &reason_node_failed)
		     : 0;
}

/* Without the engine, no container runs, so only those that the engine knows need to be stopped. */
static int stop(const struct node_spec *spec, unsigned grace_seconds, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	cleanup_with(
		engine_container_release) struct engine_container found = ENGINE_CONTAINER_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct box box = box_of(spec);
	bool has_engine = engine_open(&engine, &why) == 0;
	bool is_known = has_engine && box_find(&engine, &box, &found, &why) == 0;
	int r;

	if (is_known && found.paused)
		(void)box_order(&engine, &box, "unpause", NULL);
	r = inside_stop(spec, grace_seconds, err);
	if (r == 0 && is_known && found.running)
		r = box_order(&engine, &box, "stop?t=0", err);
	if (r == 0 && !is_known)
		log_debug("the container of node '%s' is not asked: %s", spec->name, why.text);
	return r;
}

static int freeze(const struct node_spec *spec, bool frozen, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	struct box box = box_of(spec);
	struct node_usage usage;
	int r;

	if (!inside_pid(spec))
		return frozen ? inside_not_running(spec, err) : 0;
	inside_measure(spec, &usage);
	if (usage.paused == frozen)
		return 0;
	r = engine_open(&engine, err);
	if (r == 0)
		r = box_order(&engine, &box, frozen ? "pause" : "unpause", err);
	if (r == 0)
		return 0;
	error_prefix(err, r, "cannot %s node '%s'", frozen ? "pause" : "unpause", spec->name);
	return error_reason(err, r, &reason_node_failed);
}

/* Remove the container.  Where the engine itself was removed, there is none. */
static int remove_container(const struct node_spec *spec, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct box box = box_of(spec);
	int r = engine_open(&engine, &why);

	if (r == -ENOENT && engine_is_gone()) {
		log_debug("node '%s' has no engine any more: %s", spec->name, why.text);
		return 0;
	}
	if (r == 0)
		r = box_remove(&engine, &box, &why);
	return r < 0 ? error_move(err, r, &why) : 0;
}

static int destroy(const struct node_spec *spec, struct error *err)
{
	int r;

	native_disk_abandon(spec);
	r = stop(spec, 0, err);
	if (r == 0)
		r = remove_container(spec, err);
	if (r < 0)
		return error_prefix(err, r, "cannot remove node '%s'", spec->name);
	return file_remove_tree(spec->dir, err);
}

static int destroy_cluster(const char *cluster, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = native_link_remove_all(cluster, err);

	if (r < 0)
		return r;
	/* Nodes in the record are gone by now, for which the engine was needed. */
	if (engine_open(&engine, &why) < 0) {
		log_debug("no containers are looked for: %s", why.text);
		return 0;
	}
	return box_remove_all(&engine, cluster, err);
}

const struct node_driver node_driver_docker = {
	.name = "docker",
	.summary = "nodes in containers of Docker, or of an engine with its API",
	.needs_root = true,
	.probe = probe,
	.check_host = check_host,
	.create = create,
	.start = start,
	.limit = inside_limit,
	.stop = stop,
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
