/* How a node comes to be. */

#include "driver/birth.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/enter.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "cgroup/cgroup.h"
#include "driver/agent-path.h"
#include "driver/inside.h"
#include "driver/native-link.h"
#include "driver/native-root.h"
#include "driver/native-services.h"
#include "driver/native-views.h"
#include "host/confine.h"
#include "host/namespace.h"

/* How long the first process of a container may take to begin. */
#define SUCCESSOR_MS      10000
#define SUCCESSOR_POLL_MS 2

/* The data for the first child and PID 1. */
struct birth {
	const struct node_spec *spec;
	const struct native_trees *trees;
	const struct native_cpus *cpus;
	const struct birth_place *place;
	int userns;
	int go[2];     /* PID 1 continues after reading a byte, and exits if it is closed */
	int number[2]; /* the first child writes the pid of PID 1, and that its own if it is not 1
			*/
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

/* Execute the agent; returns only on failure. */
static void become_agent(struct birth *birth)
{
	static char *const environment[] = { NULL };
	char state[16];
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* All other descriptors are close-on-exec. */
	if (fcntl(birth->state, F_SETFD, 0) < 0)
		give_up(birth, "cannot pass the state file to the agent");
	(void)snprintf(state, sizeof(state), "%d", birth->state);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		give_up(birth, "cannot open /dev/null");
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
	if (confine() < 0)
		give_up(birth, "cannot confine the node");
	(void)execve("/opt/manykube/agent",
		     ARGV("manykube-agent", "/etc/manykube/agent.conf", "/run/manykube/state",
			  state, "/var/log/agent.log"),
		     environment);
	give_up(birth, "cannot run the agent");
}

/* Wait to be replaced by PID 1 of the container, which takes the two descriptors and kills us. */
static _Noreturn void hold_place(struct birth *birth)
{
	pid_t pid = getpid();
	int go = fcntl(birth->go[0], F_DUPFD_CLOEXEC, ENTER_REPORT_FD + 1);
	int number = fcntl(birth->number[1], F_DUPFD_CLOEXEC, ENTER_REPORT_FD + 1);
	int report = fcntl(birth->report[1], F_DUPFD_CLOEXEC, ENTER_REPORT_FD + 1);
	int state = fcntl(birth->state, F_DUPFD_CLOEXEC, ENTER_REPORT_FD + 1);
	char byte;

	if (go < 0 || number < 0 || report < 0 || state < 0 || dup2(state, ENTER_STATE_FD) < 0 ||
	    dup2(report, ENTER_REPORT_FD) < 0)
		give_up(birth, "cannot arrange the node's descriptors");
	/* After the other pid, and then wait for the end. */
	if (read(go, &byte, 1) == 1 && write(number, &pid, sizeof(pid)) == sizeof(pid))
		(void)!read(go, &byte, 1);
	_exit(EXIT_FAILURE);
}

/* The node forwards between its pods and others.  Its links have no other router than this host,
 * and no address of theirs is anybody else's, so nobody waits for duplicates. */
static void prepare_ipv6(struct birth *birth)
{
	static const char *const settings[][2] = {
		{ "default/accept_ra", "0" },
		{ "default/accept_dad", "0" },
		{ "default/disable_ipv6", "0" },
		{ "all/forwarding", "1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cleanup_free char *path = xasprintf("/proc/sys/net/ipv6/conf/%s", settings[i][0]);

		if (file_poke(path, settings[i][1], NULL) < 0)
			give_up(birth, "cannot turn on IPv6 in the node");
	}
}

static _Noreturn void be_init(struct birth *birth)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	char byte;

	(void)close(birth->go[1]);
	(void)setsid();
	if (native_build_root(birth->spec->name, birth->cpus, birth->spec->memory_bytes,
			      &birth->trees->mounts, &err) < 0)
		pass_on(birth, &err);
	if (file_poke("/proc/sys/net/ipv4/ip_forward", "1", NULL) < 0)
		give_up(birth, "cannot turn on forwarding in the node");
	if (birth->spec->has_ipv6)
		prepare_ipv6(birth);
	if (birth->place->container)
		hold_place(birth);
	if (read(birth->go[0], &byte, 1) != 1)
		_exit(EXIT_FAILURE);
	become_agent(birth);
	_exit(EXIT_FAILURE);
}

/* Let children be in the pid namespace of the container, and mount its /proc for the node. */
static void join_container(struct birth *birth)
{
	cleanup_fd int container = pidfd_open(birth->place->container, 0);
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	int status;
	pid_t pid;

	if (container < 0 || setns(container, CLONE_NEWPID) < 0)
		give_up(birth, "cannot enter the container");
	pid = fork();
	if (pid == 0) {
		if (native_stage_proc(&err) < 0)
			pass_on(birth, &err);
		_exit(EXIT_SUCCESS);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		give_up(birth, "cannot start a process in the container");
	if (status != 0)
		_exit(EXIT_FAILURE);
}

static _Noreturn void be_first_child(struct birth *birth)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	pid_t pid;

	(void)close(birth->report[0]);
	if (native_stage(birth->trees, &err) < 0)
		pass_on(birth, &err);
	if (birth->place->container)
		join_container(birth);
	if (cgroup_enter(birth->place->group, getpid(), NULL) < 0)
		give_up(birth, "cannot enter the node's control group");
	if (namespace_new_keyring() < 0)
		give_up(birth, "cannot make the node's keyring");
	if (setns(birth->userns, CLONE_NEWUSER) < 0)
		give_up(birth, "cannot enter the node's user namespace");
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		give_up(birth, "cannot become the node's root");
	if (unshare(CLONE_NEWCGROUP | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC |
		    (birth->place->container ? 0 : CLONE_NEWPID)) < 0)
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

/* Wait until PID 1 has executed the agent, which closes the pipe; anything in it is an error. */
static int read_report(int fd, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = file_read_fd(fd, 4096, &text, err);

	if (r == 0 && text.len > 0)
		r = error_set(err, -EIO, "%s", text.text);
	return r;
}

/* Tell PID 1 of the container, once it waits for that, the pid of the process to replace. */
static int call_successor(struct birth *birth, struct error *err)
{
	int64_t deadline = clock_now_ms() + SUCCESSOR_MS;
	union sigval value = { .sival_int = 0 };
	pid_t inside;

	/* Nothing comes if the process failed; its report says why. */
	if (read(birth->number[0], &inside, sizeof(inside)) != sizeof(inside))
		return 0;
	value.sival_int = inside;
	while (!native_blocks_signal(birth->place->container, SIGUSR1))
		if (!clock_poll(deadline, SUCCESSOR_POLL_MS))
			return error_set(
				err, -ETIMEDOUT,
				"the container's first process does not wait for the node");
	return sigqueue(birth->place->container, SIGUSR1, value) < 0
		       ? error_sys(err, "cannot tell the container to become the node")
		       : 0;
}

static int deliver(struct birth *birth, birth_record_fn record, struct error *err)
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
	if (r == 0 && record)
		r = record(birth->spec, pid, err);
	if (r == 0)
		r = native_link_plug_in(birth->spec, pid, err);
	if (r == 0 && write(birth->go[1], "x", 1) != 1)
		r = error_sys(err, "cannot tell the node to continue");
	if (r == 0 && birth->place->container)
		r = call_successor(birth, err);
	/* The process that holds the place of another is ended by that one. */
	if (r < 0 || !birth->place->container)
		(void)close(take_fd(birth->go[1]));
	return r < 0 ? r : read_report(birth->report[0], err);
}

static void release(struct birth *birth)
{
	for (int i = 0; i < 2; i++) {
		cleanup_fd_(&birth->go[i]);
		cleanup_fd_(&birth->number[i]);
		cleanup_fd_(&birth->report[i]);
	}
	cleanup_fd_(&birth->state);
}

int birth_give(const struct node_spec *spec, const struct birth_place *place,
	       birth_record_fn record, struct error *err)
{
	cleanup_with(native_trees_release) struct native_trees trees = NATIVE_TREES_INIT;
	cleanup_with(native_cpus_release) struct native_cpus cpus = NATIVE_CPUS_INIT;
	cleanup_with(release) struct birth birth = {
		.spec = spec,
		.trees = &trees,
		.cpus = &cpus,
		.place = place,
		.go = { -1, -1 },
		.number = { -1, -1 },
		.report = { -1, -1 },
		.state = -1,
	};
	cleanup_free char *views = xasprintf("%s/views", spec->dir);
	cleanup_free char *agent = NULL;
	uid_t uid = NAMESPACE_UID_FIRST + spec->slot * NAMESPACE_IDS;
	cleanup_fd int userns = -1;
	int r;

	r = inside_limit_group(spec, place->group, &cpus, err);
	if (r == 0)
		r = native_views_write(views, &cpus, spec->memory_bytes, err);
	if (r == 0)
		r = cgroup_delegate(place->group, uid, uid, err);
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
	return deliver(&birth, record, err);
}
