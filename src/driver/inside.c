/* Operations on a node that is a set of namespaces and a control group of this host. */

#include "driver/inside.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "cgroup/cgroup.h"
#include "cgroup/scope.h"
#include "driver/native-disk.h"
#include "driver/native-filter.h"
#include "driver/native-link.h"
#include "driver/native-services.h"
#include "driver/native-terminal.h"
#include "driver/native-views.h"
#include "host/disk.h"
#include "host/link.h"
#include "host/namespace.h"

#define AGENT_LEAF "manykube"

/* The interval for checking whether a node has stopped. */
#define STOP_POLL_MS 10

/* The longest path of a control group. */
#define GROUP_MOST 4096

static char *below(const struct node_spec *spec, const char *name)
{
	return xasprintf("%s/%s", spec->dir, name);
}

char *inside_group(const struct node_spec *spec)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = below(spec, "group");
	cleanup_free char *cluster = NULL;

	if (file_read(path, GROUP_MOST, &text, NULL) == 0 && text.len > 0) {
		strbuf_trim_end(&text);
		return strbuf_take(&text);
	}
	cluster = scope_group(spec->cluster);
	return xasprintf("%s/%s", cluster, spec->name);
}

int inside_record_group(const struct node_spec *spec, const char *group, struct error *err)
{
	cleanup_free char *path = below(spec, "group");

	return file_put(path, group, strlen(group), 0644, err);
}

/* The recorded pid and start time of the agent; 0 if there is no record. */
static pid_t recorded_pid(const struct node_spec *spec, uint64_t *ret_start_time)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_free char *path = below(spec, "pid");
	unsigned long long pid;
	unsigned long long start;

	if (file_read(path, 256, &text, NULL) < 0)
		return 0;
	strbuf_trim_end(&text);
	strlist_split(&words, text.text, ' ');
	if (words.count != 2 || parse_number(words.items[0], 1, INT32_MAX, &pid, NULL) < 0 ||
	    parse_number(words.items[1], 1, UINT64_MAX, &start, NULL) < 0)
		return 0;
	*ret_start_time = start;
	return (pid_t)pid;
}

/* The agent's pid if it runs, else 0. */
pid_t inside_pid(const struct node_spec *spec)
{
	uint64_t start_time = 0;
	pid_t pid = recorded_pid(spec, &start_time);

	return process_is(pid, start_time) ? pid : 0;
}

int inside_not_running(const struct node_spec *spec, struct error *err)
{
	return error_because(err, &reason_node_not_running, -ESRCH, "node '%s' does not run",
			     spec->name);
}

int inside_record(const struct node_spec *spec, pid_t pid, struct error *err)
{
	cleanup_free char *path = below(spec, "pid");
	cleanup_free char *text = xasprintf("%d %llu\n", (int)pid,
					    (unsigned long long)process_start_time(pid));

	return file_put(path, text, strlen(text), 0644, err);
}

int inside_stop(const struct node_spec *spec, unsigned grace_seconds, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	int64_t deadline = clock_now_ms() + (int64_t)grace_seconds * 1000;
	cleanup_free char *group = inside_group(spec);
	cleanup_free char *link = native_link_name(spec);
	cleanup_free char *path = below(spec, "pid");
	cleanup_free char *made_by_others = below(spec, "group");
	pid_t pid = inside_pid(spec);
	int r;

	/* Frozen processes do not handle signals. */
	(void)cgroup_freeze(group, false, NULL);
	if (pid && grace_seconds > 0 && kill(pid, SIGTERM) == 0)
		while (inside_pid(spec) && clock_poll(deadline, STOP_POLL_MS))
			;
	r = cgroup_kill(group, err);
	if (r == 0)
		r = cgroup_remove(group, err);
	if (r == 0)
		r = link_open(&host, err);
	if (r == 0)
		r = link_delete(host, link, err);
	if (r == 0)
		r = disk_unmount_below(spec->dir, err);
	if (r < 0)
		return error_prefix(err, r, "cannot stop node '%s'", spec->name);
	(void)unlink(path);
	(void)unlink(made_by_others);
	return 0;
}

enum node_state inside_query(const struct node_spec *spec)
{
	if (inside_pid(spec))
		return NODE_RUNNING;
	return file_exists(spec->dir) ? NODE_STOPPED : NODE_ABSENT;
}

void inside_measure(const struct node_spec *spec, struct node_usage *ret_usage)
{
	cleanup_free char *group = inside_group(spec);
	pid_t pid = inside_pid(spec);

	*ret_usage = (struct node_usage){ .memory_bytes = cgroup_memory_bytes(group),
					  .disk_bytes = native_disk_used(spec),
					  .disk_size_bytes = native_disk_size(spec),
					  .paused = cgroup_is_frozen(group),
					  .stopping = pid && native_is_stopping(spec->dir, pid),
					  .halted = pid && process_is_halted(pid) };
}

/* The pid of a node in which programs can run; in a paused node, a program would never start. */
static int need_awake(const struct node_spec *spec, pid_t *ret_pid, struct error *err)
{
	struct node_usage usage;
	pid_t pid = inside_pid(spec);

	if (!pid)
		return inside_not_running(spec, err);
	inside_measure(spec, &usage);
	if (usage.paused) {
		(void)error_because(err, &reason_node_paused, -EBUSY, "node '%s' is paused",
				    spec->name);
		return error_hint(err, -EBUSY, "'manykube unpause -n %s' resumes it", spec->name);
	}
	*ret_pid = pid;
	return 0;
}

int inside_spawn(const struct node_spec *spec, char *const *argv,
		 const struct process_options *options, struct process *ret_process,
		 struct error *err)
{
	cleanup_free char *group = inside_group(spec);
	struct namespace_target target = { .cgroup = group, .leaf = AGENT_LEAF };
	int r = need_awake(spec, &target.pid, err);

	return r < 0 ? r : namespace_spawn(&target, argv, options, ret_process, err);
}

int inside_call(const struct node_spec *spec, int (*work)(const void *arg), const void *arg,
		const int *fds, size_t count, struct process *ret_process, struct error *err)
{
	pid_t pid;
	int r = need_awake(spec, &pid, err);

	return r < 0 ? r : namespace_start(pid, work, arg, fds, count, ret_process, err);
}

unsigned inside_signal(const struct node_spec *spec, const char *name, int signal)
{
	cleanup_free char *group = inside_group(spec);

	return cgroup_signal_program(group, name, signal);
}

int inside_open_terminal(const struct node_spec *spec, int *ret_ours, int *ret_theirs,
			 struct error *err)
{
	pid_t pid;
	int r = need_awake(spec, &pid, err);

	return r < 0 ? r : native_terminal_open(spec->name, pid, ret_ours, ret_theirs, err);
}

/* Set the limits of the node's GROUP and choose its CPUs.  If cpusets fail, the quota still limits
 * it. */
int inside_limit_group(const struct node_spec *spec, const char *group, struct native_cpus *ret,
		       struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = cgroup_limit(group, spec->cpus, spec->memory_bytes, err);

	if (r < 0)
		return r;
	native_cpus_choose(spec, group, ret);
	if (cgroup_pin(group, &(struct cpus){ ret->ids.ids, ret->pinned ? ret->real : 0 }, &why) <
	    0)
		log_debug("node '%s' runs on all CPUs: %s", spec->name, why.text);
	return 0;
}

int inside_limit(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *group = inside_group(spec);
	cleanup_free char *views = below(spec, "views");
	cleanup_with(native_cpus_release) struct native_cpus cpus = NATIVE_CPUS_INIT;
	pid_t pid = inside_pid(spec);
	int r;

	if (!pid)
		return inside_not_running(spec, err);
	r = inside_limit_group(spec, group, &cpus, err);
	if (r == -EBUSY) {
		(void)error_because(err, &reason_resources, r,
				    "node '%s' currently uses more memory than that", spec->name);
		return error_hint(err, r, "give it more, or stop it first: 'manykube node stop %s'",
				  spec->name);
	}
	if (r == 0)
		r = native_views_renew(views, pid, &cpus, spec->memory_bytes, err);
	return r < 0 ? error_prefix(err, r, "cannot limit node '%s'", spec->name) : 0;
}

int inside_route6(const struct node_spec *spec, const struct subnet6 *to,
		  const struct in6_addr *via, bool remove, struct error *err)
{
	pid_t pid = inside_pid(spec);

	/* A stopped node has no routes; start() sets those that it needs. */
	return pid ? native_link_route6(spec, pid, to, via, remove, err) : 0;
}

int inside_filter(const struct node_spec *spec, const char *name, const char *rules,
		  struct error *err)
{
	pid_t pid = inside_pid(spec);

	return pid ? native_filter(spec, pid, name, rules, err) : inside_not_running(spec, err);
}

int inside_route(const struct node_spec *spec, struct in_addr pods, unsigned prefix,
		 struct in_addr via, bool remove, struct error *err)
{
	pid_t pid = inside_pid(spec);

	return pid ? native_link_route(spec, pid, pods, prefix, via, remove, err) : 0;
}

int inside_reach(const struct node_spec *spec, struct in_addr address, unsigned port,
		 int timeout_ms, struct error *err)
{
	pid_t pid = inside_pid(spec);
	cleanup_fd int netns = -1;
	int r = pid ? native_link_open_network(spec, pid, &netns, err)
		    : inside_not_running(spec, err);

	return r < 0 ? r : link_try_in(netns, address, port, timeout_ms, err);
}

int inside_ask(const struct node_spec *spec, const char *place, const char *words, int timeout_ms,
	       struct error *err)
{
	pid_t pid;
	int r = need_awake(spec, &pid, err);

	return r < 0 ? r : native_ask(pid, place, words, timeout_ms, err);
}

bool inside_lacks_programs(const struct node_spec *spec)
{
	pid_t pid = inside_pid(spec);

	return pid && native_lacks_programs(pid);
}
