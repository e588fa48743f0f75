/*
 * Nodes made of namespaces, with the agent as PID 1.
 *
 * How a node starts:
 *
 *  1. Old control groups are replaced by new ones; groups of dead containers would keep the kubelet
 *     busy.
 *  2. A user namespace is made, and directories of the host and the node are mapped to it.
 *  3. A first child arranges the mounts, enters the control groups and the user namespace, unshares
 *     all other namespaces, forks PID 1 and reports its pid.
 *  4. The pid is recorded, the network is connected from outside, and only then is PID 1 told to
 *     continue.  If we die before that, PID 1 exits.
 *  5. PID 1 builds its root file system, confines itself (host/confine.h) and executes the agent.
 */

#include "driver/agent-path.h"
#include "driver/driver.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "cgroup/cgroup.h"
#include "cgroup/scope.h"
#include "driver/native-create.h"
#include "driver/native-disk.h"
#include "driver/native-files.h"
#include "driver/native-link.h"
#include "driver/native-root.h"
#include "driver/native-services.h"
#include "driver/native-terminal.h"
#include "driver/native-views.h"
#include "driver/tree.h"
#include "host/confine.h"
#include "host/disk.h"
#include "host/link.h"
#include "host/namespace.h"

#define AGENT_LEAF "manykube"

/* The interval for checking whether a node has stopped. */
#define STOP_POLL_MS 10

static char *group_of(const struct node_spec *spec)
{
	cleanup_free char *cluster = scope_group(spec->cluster);

	return xasprintf("%s/%s", cluster, spec->name);
}

static char *below(const struct node_spec *spec, const char *name)
{
	return xasprintf("%s/%s", spec->dir, name);
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
static pid_t running_pid(const struct node_spec *spec)
{
	uint64_t start_time = 0;
	pid_t pid = recorded_pid(spec, &start_time);

	return process_is(pid, start_time) ? pid : 0;
}

static int not_running(const struct node_spec *spec, struct error *err)
{
	return error_because(err, &reason_node_not_running, -ESRCH, "node '%s' does not run",
			     spec->name);
}

static int probe(bool with_disks, struct error *err)
{
	cleanup_free char *agent = NULL;
	int r = agent_find(&agent, err);

	return r < 0 ? r : probe_required(with_disks, err);
}

/* The data for the first child and PID 1. */
struct birth {
	const struct node_spec *spec;
	const struct native_trees *trees;
	const struct native_cpus *cpus;
	const char *group;
	int userns;
	int go[2];     /* PID 1 continues after reading a byte, and exits if it is closed */
	int number[2]; /* the first child writes the pid of PID 1 */
	int report[2]; /* both write errors; closed by executing the agent */
	int state;     /* the host's file for the state of services */
};

/* Report WHAT, with the reason in errno, to the parent and exit. */
static _Noreturn void give_up(struct birth *birth, const char *what)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%s: %s", what, strerror(errno));
	(void)!write(birth->report[1], text, strlen(text));
	_exit(EXIT_FAILURE);
}

/* Report ERR to the parent and exit. */
static _Noreturn void pass_on(struct birth *birth, const struct error *err)
{
	(void)!write(birth->report[1], err->text, strlen(err->text));
	_exit(EXIT_FAILURE);
}

static _Noreturn void be_init(struct birth *birth)
{
	static char *const environment[] = { NULL };
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	char state[16];
	sigset_t none;
	char byte;
	int null;

	(void)close(birth->go[1]);
	(void)setsid();
	if (native_build_root(birth->spec->name, birth->cpus, birth->spec->memory_bytes,
			      &birth->trees->mounts, &err) < 0)
		pass_on(birth, &err);
	if (read(birth->go[0], &byte, 1) != 1)
		_exit(EXIT_FAILURE);
	if (file_poke("/proc/sys/net/ipv4/ip_forward", "1", NULL) < 0)
		give_up(birth, "cannot turn on forwarding in the node");
	/* All other descriptors are close-on-exec. */
	if (fcntl(birth->state, F_SETFD, 0) < 0)
		give_up(birth, "cannot pass the state file to the agent");
	(void)snprintf(state, sizeof(state), "%d", birth->state);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		give_up(birth, "cannot open /dev/null");
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
	if (confine(&err) < 0)
		pass_on(birth, &err);
	(void)execve("/opt/manykube/agent",
		     ARGV("manykube-agent", "/etc/manykube/agent.conf", "/run/manykube/state",
			  state, "/var/log/agent.log"),
		     environment);
	give_up(birth, "cannot run the agent");
}

static _Noreturn void be_first_child(struct birth *birth)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	pid_t pid;

	(void)close(birth->report[0]);
	if (native_stage(birth->trees, &err) < 0)
		pass_on(birth, &err);
	if (cgroup_enter(birth->group, getpid(), NULL) < 0)
		give_up(birth, "cannot enter the node's control group");
	if (namespace_new_keyring() < 0)
		give_up(birth, "cannot make the node's keyring");
	if (setns(birth->userns, CLONE_NEWUSER) < 0)
		give_up(birth, "cannot enter the node's user namespace");
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		give_up(birth, "cannot become the node's root");
	if (unshare(CLONE_NEWCGROUP | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC |
		    CLONE_NEWPID) < 0)
		give_up(birth, "cannot make the node's namespaces");
	/* Changing ids made us undumpable; the parent must be able to open our namespaces. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	pid = fork();
	if (pid < 0)
		give_up(birth, "cannot start the node's first process");
	if (pid == 0)
		be_init(birth);
	(void)!write(birth->number[1], &pid, sizeof(pid));
	_exit(EXIT_SUCCESS);
}

static int record(const struct node_spec *spec, pid_t pid, struct error *err)
{
	cleanup_free char *path = below(spec, "pid");
	cleanup_free char *text = xasprintf("%d %llu\n", (int)pid,
					    (unsigned long long)process_start_time(pid));

	return file_put(path, text, strlen(text), 0644, err);
}

/* Wait until PID 1 has executed the agent, which closes the pipe; anything in it is an error. */
static int read_report(int fd, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = file_read_fd(fd, 4096, &text, err);

	if (r == 0 && text.len > 0)
		r = error_set(err, -EIO, "%s", text.text);
	return r;
}

static int give_birth(struct birth *birth, struct error *err)
{
	pid_t child;
	pid_t pid = 0;
	int status;
	int r = 0;

	child = fork();
	if (child < 0)
		return error_sys(err, "cannot start a process");
	if (child == 0)
		be_first_child(birth);
	(void)close(take_fd(birth->report[1]));
	(void)close(take_fd(birth->number[1]));
	(void)close(take_fd(birth->go[0]));
	if (read(birth->number[0], &pid, sizeof(pid)) != sizeof(pid)) {
		r = read_report(birth->report[0], err);
		if (r == 0)
			r = error_set(err, -EIO, "the node's first process exited at once");
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (r == 0)
		r = record(birth->spec, pid, err);
	if (r == 0)
		r = native_link_plug_in(birth->spec, pid, err);
	if (r == 0 && write(birth->go[1], "x", 1) != 1)
		r = error_sys(err, "cannot tell the node to continue");
	(void)close(take_fd(birth->go[1]));
	if (r == 0)
		r = read_report(birth->report[0], err);
	return r;
}

static void release_birth(struct birth *birth)
{
	for (int i = 0; i < 2; i++) {
		cleanup_fd_(&birth->go[i]);
		cleanup_fd_(&birth->number[i]);
		cleanup_fd_(&birth->report[i]);
	}
	cleanup_fd_(&birth->state);
}

/* Set the limits of the node's GROUP and choose its CPUs.  If cpusets fail, the quota still limits
 * it. */
static int limit_group(const struct node_spec *spec, const char *group, struct native_cpus *ret,
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

static int start_in_group(const struct node_spec *spec, const char *group, struct error *err)
{
	cleanup_with(native_trees_release) struct native_trees trees = NATIVE_TREES_INIT;
	cleanup_with(native_cpus_release) struct native_cpus cpus = NATIVE_CPUS_INIT;
	cleanup_with(release_birth) struct birth birth = {
		.spec = spec,
		.trees = &trees,
		.cpus = &cpus,
		.group = group,
		.go = { -1, -1 },
		.number = { -1, -1 },
		.report = { -1, -1 },
		.state = -1,
	};
	cleanup_free char *views = below(spec, "views");
	cleanup_free char *agent = NULL;
	uid_t uid = NAMESPACE_UID_FIRST + spec->slot * NAMESPACE_IDS;
	cleanup_fd int userns = -1;
	int r;

	r = cgroup_create(group, err);
	if (r == 0)
		r = limit_group(spec, group, &cpus, err);
	if (r == 0)
		r = native_views_write(views, &cpus, spec->memory_bytes, err);
	if (r == 0)
		r = cgroup_delegate(group, uid, uid, err);
	if (r == 0)
		r = namespace_new_user(uid, &userns, err);
	if (r == 0)
		r = agent_find(&agent, err);
	if (r == 0)
		r = native_trees_open(spec, agent, userns, uid, &trees, err);
	if (r == 0)
		r = native_open_state(spec, &birth.state, err);
	if (r < 0)
		return r;
	if (pipe2(birth.go, O_CLOEXEC) < 0 || pipe2(birth.number, O_CLOEXEC) < 0 ||
	    pipe2(birth.report, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	birth.userns = userns;
	return give_birth(&birth, err);
}

static int start(const struct node_spec *spec, struct error *err)
{
	cleanup_with(scope_release) struct scope scope = SCOPE_INIT;
	cleanup_free char *group = group_of(spec);
	pid_t pid = running_pid(spec);
	int r;

	if (pid && native_has_namespaces(pid))
		return 0;
	r = cgroup_kill(group, err);
	if (r == 0)
		r = cgroup_remove(group, err);
	if (r == 0)
		r = scope_open(spec->cluster, spec->profile, &scope, err);
	if (r == 0)
		r = start_in_group(spec, group, err);
	return r < 0 ? error_reason(err, error_prefix(err, r, "cannot start node '%s'", spec->name),
				    &reason_node_failed)
		     : 0;
}

static int stop(const struct node_spec *spec, unsigned grace_seconds, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	int64_t deadline = clock_now_ms() + (int64_t)grace_seconds * 1000;
	cleanup_free char *group = group_of(spec);
	cleanup_free char *link = native_link_name(spec);
	cleanup_free char *path = below(spec, "pid");
	pid_t pid = running_pid(spec);
	int r;

	/* Frozen processes do not handle signals. */
	(void)cgroup_freeze(group, false, NULL);
	if (pid && grace_seconds > 0 && kill(pid, SIGTERM) == 0)
		while (running_pid(spec) && clock_poll(deadline, STOP_POLL_MS))
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
	return 0;
}

static int freeze(const struct node_spec *spec, bool frozen, struct error *err)
{
	cleanup_free char *group = group_of(spec);
	int r;

	if (frozen && !running_pid(spec))
		return not_running(spec, err);
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
	r = stop(spec, 0, err);
	return r < 0 ? r : file_remove_tree(spec->dir, err);
}

static int destroy_cluster(const char *cluster, struct error *err)
{
	int r = native_link_remove_all(cluster, err);

	return r < 0 ? r : scope_destroy(cluster, err);
}

static enum node_state query(const struct node_spec *spec)
{
	if (running_pid(spec))
		return NODE_RUNNING;
	return file_exists(spec->dir) ? NODE_STOPPED : NODE_ABSENT;
}

static void measure(const struct node_spec *spec, struct node_usage *ret_usage)
{
	cleanup_free char *group = group_of(spec);
	pid_t pid = running_pid(spec);

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
	pid_t pid = running_pid(spec);

	if (!pid)
		return not_running(spec, err);
	measure(spec, &usage);
	if (usage.paused) {
		(void)error_because(err, &reason_node_paused, -EBUSY, "node '%s' is paused",
				    spec->name);
		return error_hint(err, -EBUSY, "'manykube unpause -n %s' resumes it", spec->name);
	}
	*ret_pid = pid;
	return 0;
}

static int spawn(const struct node_spec *spec, char *const *argv,
		 const struct process_options *options, struct process *ret_process,
		 struct error *err)
{
	cleanup_free char *group = group_of(spec);
	struct namespace_target target = { .cgroup = group, .leaf = AGENT_LEAF };
	int r = need_awake(spec, &target.pid, err);

	return r < 0 ? r : namespace_spawn(&target, argv, options, ret_process, err);
}

static int call(const struct node_spec *spec, int (*work)(const void *arg), const void *arg,
		const int *fds, size_t count, struct process *ret_process, struct error *err)
{
	pid_t pid;
	int r = need_awake(spec, &pid, err);

	return r < 0 ? r : namespace_start(pid, work, arg, fds, count, ret_process, err);
}

static unsigned signal_program(const struct node_spec *spec, const char *name, int signal)
{
	cleanup_free char *group = group_of(spec);

	return cgroup_signal_program(group, name, signal);
}

static int open_terminal(const struct node_spec *spec, int *ret_ours, int *ret_theirs,
			 struct error *err)
{
	pid_t pid;
	int r = need_awake(spec, &pid, err);

	return r < 0 ? r : native_terminal_open(spec->name, pid, ret_ours, ret_theirs, err);
}

static int limit(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *group = group_of(spec);
	cleanup_free char *views = below(spec, "views");
	cleanup_with(native_cpus_release) struct native_cpus cpus = NATIVE_CPUS_INIT;
	pid_t pid = running_pid(spec);
	int r;

	if (!pid)
		return not_running(spec, err);
	r = limit_group(spec, group, &cpus, err);
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

static int route(const struct node_spec *spec, struct in_addr pods, unsigned prefix,
		 struct in_addr via, bool remove, struct error *err)
{
	pid_t pid = running_pid(spec);

	return pid ? native_link_route(spec, pid, pods, prefix, via, remove, err) : 0;
}

static int reach(const struct node_spec *spec, struct in_addr address, unsigned port,
		 int timeout_ms, struct error *err)
{
	pid_t pid = running_pid(spec);
	cleanup_fd int netns = -1;
	int r = pid ? native_link_open_network(spec, pid, &netns, err) : not_running(spec, err);

	return r < 0 ? r : link_try_in(netns, address, port, timeout_ms, err);
}

static int ask(const struct node_spec *spec, const char *place, const char *words, int timeout_ms,
	       struct error *err)
{
	pid_t pid;
	int r = need_awake(spec, &pid, err);

	return r < 0 ? r : native_ask(pid, place, words, timeout_ms, err);
}

static bool lacks_programs(const struct node_spec *spec)
{
	pid_t pid = running_pid(spec);

	return pid && native_lacks_programs(pid);
}

const struct node_driver node_driver_native = {
	.name = "native",
	.summary = "nodes made of Linux namespaces; needs no container engine and no VM",
	.needs_root = true,
	.probe = probe,
	.check_host = probe_each,
	.create = native_create,
	.start = start,
	.limit = limit,
	.stop = stop,
	.freeze = freeze,
	.destroy = destroy,
	.destroy_cluster = destroy_cluster,
	.query = query,
	.files = &native_files,
	.measure = measure,
	.signal = signal_program,
	.spawn = spawn,
	.call = call,
	.open_terminal = open_terminal,
	.reach = reach,
	.ask = ask,
	.lacks_programs = lacks_programs,
	.route = route,
};
