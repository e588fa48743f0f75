#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "cgroup/cgroup.h"
#include "test.h"

static char *group;

static void need_groups(void)
{
	group = xasprintf("manykube-test-%d", (int)getpid());
	if (geteuid() != 0 || cgroup_create(group, NULL) < 0)
		test_skip("needs root and writable cgroups");
}

TEST(a_group_can_be_made_and_removed_repeatedly)
{
	need_groups();
	ASSERT_OK(cgroup_create(group, &err));
	ASSERT(!cgroup_has_processes(group));
	ASSERT_OK(cgroup_remove(group, &err));
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

static void assert_group(const char *text, const char *expected)
{
	cleanup_free char *found = cgroup_of_text(text);

	if (expected)
		ASSERT_STR(found, expected);
	else
		ASSERT(!found);
}

TEST(the_group_of_a_process_is_found_on_v1_and_v2)
{
	assert_group("0::/system.slice/docker-ab.scope\n", "system.slice/docker-ab.scope");
	assert_group("5:memory:/docker/ab\n1:name=systemd:/x\n0::/\n", "docker/ab");
	assert_group("0::/\n", NULL);
	assert_group("5:memory:/\n0::/unified\n", NULL);
	assert_group("0::/../other\n", NULL);
	assert_group("0\n0:\nmemory\n", NULL);
	assert_group("", NULL);
}

TEST(a_group_of_others_is_completed)
{
	need_groups();
	ASSERT_OK(cgroup_complete(group, &err));
	ASSERT_OK(cgroup_enter(group, getpid(), &err));
	ASSERT_OK(cgroup_enter("", getpid(), &err));
	ASSERT_OK(cgroup_remove(group, &err));
	ASSERT_OK(cgroup_complete(group, &err));
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

/* A child that does nothing, in the group PATH. */
static pid_t put_child(const char *path)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			(void)pause();
	ASSERT_OK(cgroup_enter(path, pid, &err));
	return pid;
}

TEST(killing_a_group_kills_all_processes_in_it_and_below)
{
	cleanup_free char *deep = NULL;
	int status;
	pid_t pid;

	need_groups();
	deep = xasprintf("%s/deep", group);
	ASSERT_OK(cgroup_create(deep, &err));
	pid = put_child(deep);
	ASSERT(cgroup_has_processes(group));
	ASSERT_OK(cgroup_freeze(group, true, &err));
	ASSERT(cgroup_is_frozen(group));
	ASSERT(cgroup_is_frozen(deep));
	ASSERT_OK(cgroup_freeze(group, false, &err));
	while (cgroup_is_frozen(deep))
		clock_rest_ms(1);
	ASSERT(cgroup_memory_bytes(group) > 0);
	ASSERT_OK(cgroup_kill(group, &err));
	ASSERT(!cgroup_has_processes(group));
	ASSERT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

TEST(killing_a_group_without_processes_succeeds_even_after_the_deadline)
{
	need_groups();
	ASSERT_OK(cgroup_kill_until(group, clock_now_ms() - 1, &err));
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

TEST(a_signal_reaches_only_the_named_program)
{
	cleanup_free char *deep = NULL;
	pid_t named;
	pid_t other;
	int status;

	need_groups();
	deep = xasprintf("%s/deep", group);
	ASSERT_OK(cgroup_create(deep, &err));
	other = put_child(deep);
	ASSERT(prctl(PR_SET_NAME, "fifteen-letters") == 0);
	named = put_child(deep);
	ASSERT(prctl(PR_SET_NAME, "test-cgroup") == 0);
	ASSERT_INT(cgroup_signal_program(group, "fifteen", 0), 0);
	ASSERT_INT(cgroup_signal_program(group, "fifteen-letters", 0), 1);
	ASSERT_INT(cgroup_signal_program(group, "fifteen-letters", SIGTERM), 1);
	ASSERT(waitpid(named, &status, 0) == named && WTERMSIG(status) == SIGTERM);
	ASSERT_INT(cgroup_signal_program(group, "fifteen-letters", SIGTERM), 0);
	ASSERT(waitpid(other, &status, WNOHANG) == 0);
	ASSERT_OK(cgroup_kill(group, &err));
	ASSERT(waitpid(other, &status, 0) == other);
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

TEST(killing_a_group_also_kills_frozen_groups_below_it)
{
	cleanup_free char *awake = NULL;
	cleanup_free char *frozen = NULL;
	pid_t pids[2];
	int status;

	need_groups();
	awake = xasprintf("%s/awake", group);
	frozen = xasprintf("%s/frozen", group);
	ASSERT_OK(cgroup_create(awake, &err));
	ASSERT_OK(cgroup_create(frozen, &err));
	pids[0] = put_child(awake);
	pids[1] = put_child(frozen);
	ASSERT_OK(cgroup_freeze(frozen, true, &err));
	ASSERT(!cgroup_is_frozen(awake));
	ASSERT_OK(cgroup_freeze(group, true, &err));
	ASSERT_OK(cgroup_kill(group, &err));
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		ASSERT(waitpid(pids[i], &status, 0) == pids[i] && WIFSIGNALED(status));
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

TEST(limits_are_the_kernels_own)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *v1 = NULL;
	cleanup_free char *v2 = NULL;

	need_groups();
	ASSERT_OK(cgroup_limit(group, 1, 64 << 20, &err));
	v1 = xasprintf("/sys/fs/cgroup/memory/%s/memory.limit_in_bytes", group);
	v2 = xasprintf("/sys/fs/cgroup/%s/memory.max", group);
	ASSERT_OK(file_read(file_exists(v1) ? v1 : v2, 100, &text, &err));
	strbuf_trim_end(&text);
	ASSERT_STR(text.text, "67108864");
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

/* The value of FILE in the group, from whichever hierarchy has it; for the caller to free. */
static char *value_of(const char *v1_controller, const char *file)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *v1 = xasprintf("/sys/fs/cgroup/%s/%s/%s", v1_controller, group, file);
	cleanup_free char *v2 = xasprintf("/sys/fs/cgroup/%s/%s", group, file);

	ASSERT_OK(file_read(file_exists(v1) ? v1 : v2, 100, &text, &err));
	strbuf_trim_end(&text);
	return xstrdup(text.text);
}

/* On how many CPUs the process PID may run. */
static int affinity_of(pid_t pid)
{
	cpu_set_t set;

	ASSERT_INT(sched_getaffinity(pid, sizeof(set), &set), 0);
	return CPU_COUNT(&set);
}

TEST(processes_run_on_the_cpus_of_their_group)
{
	cleanup_with(cpus_release) struct cpus all = CPUS_INIT;
	cleanup_with(cpus_release) struct cpus last = CPUS_INIT;
	cleanup_with(cpus_release) struct cpus first = CPUS_INIT;
	cleanup_free char *deep = NULL;
	pid_t pid;
	int status;

	need_groups();
	cgroup_cpus_above(group, &all);
	if (all.count < 2)
		test_skip("there are no cpusets, or there is one CPU only");
	deep = xasprintf("%s/below/deeper", group);
	ASSERT_OK(cgroup_create(deep, &err));
	pid = put_child(deep);
	cpus_choose(&all, 1, all.count - 1, &last);
	cpus_choose(&all, 1, 0, &first);
	ASSERT_OK(cgroup_pin(group, &last, &err));
	ASSERT_INT(affinity_of(pid), 1);
	/* The groups below have none of the new CPUs yet. */
	ASSERT_OK(cgroup_pin(group, &first, &err));
	ASSERT_INT(affinity_of(pid), 1);
	ASSERT_OK(cgroup_pin(group, &CPUS_INIT, &err));
	ASSERT_INT(affinity_of(pid), (int)all.count);
	ASSERT_OK(cgroup_kill(group, &err));
	ASSERT(waitpid(pid, &status, 0) == pid);
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

TEST(a_node_has_a_share_of_the_hosts_processes)
{
	cleanup_free char *limit = NULL;

	ASSERT_INT(cgroup_pids_share(32768, 192700), 8192);
	ASSERT_INT(cgroup_pids_share(4194304, 192700), 48175);
	ASSERT_INT(cgroup_pids_share(4194304, 4000), 2000);
	need_groups();
	ASSERT_OK(cgroup_limit(group, 0, 0, &err));
	limit = value_of("pids", "pids.max");
	ASSERT(strcmp(limit, "max") != 0);
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

/* A chain of DEPTH groups below the test's in the hierarchy that is mounted at TOP, made by name
 * from one to the next: its path is too long for any call. */
static int make_chain(const char *top, int depth)
{
	cleanup_free char *path = xasprintf("%s/%s", top, group);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i < depth; i++) {
		int next;

		ASSERT_INT(mkdirat(fd, ".deep", 0755), 0);
		next = openat(fd, ".deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT(next >= 0);
		(void)close(fd);
		fd = next;
	}
	return fd;
}

TEST(a_process_is_found_however_deep_its_group_is)
{
	cleanup_fd int deepest = -1;
	cleanup_fd int procs = -1;
	cleanup_free char *who = NULL;
	bool v1 = file_exists("/sys/fs/cgroup/pids");
	int status;
	pid_t pid;

	need_groups();
	deepest = make_chain(v1 ? "/sys/fs/cgroup/pids" : "/sys/fs/cgroup", 1000);
	ASSERT(deepest >= 0);
	pid = put_child(group);
	who = xasprintf("%d", (int)pid);
	procs = openat(deepest, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	ASSERT(write(procs, who, strlen(who)) > 0);
	ASSERT(cgroup_has_processes(group));
	ASSERT_OK(cgroup_kill(group, &err));
	ASSERT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	ASSERT(!cgroup_has_processes(group));
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

/* Processes that each fork another and end, as fast as they can. */
static _Noreturn void run_away(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
	}
}

static void kill_runaways(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	need_groups();
	ASSERT_INT(pipe(ready), 0);
	ASSERT_OK(cgroup_limit(group, 0, 0, &err));
	for (int i = 0; i < 20; i++) {
		pid = fork();
		if (pid == 0) {
			if (cgroup_enter(group, getpid(), NULL) < 0 || write(ready[1], "x", 1) < 0)
				_exit(1);
			run_away();
		}
		ASSERT(pid > 0);
	}
	for (int i = 0; i < 20; i++)
		ASSERT_INT(read(ready[0], &byte, 1), 1);
	ASSERT_OK(cgroup_kill(group, &err));
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	clock_rest_ms(20);
	ASSERT(!cgroup_has_processes(group));
	ASSERT_OK(cgroup_remove(group, &err));
	free(group);
}

TEST(a_process_that_forks_while_being_killed_is_killed)
{
	kill_runaways();
}

TEST(a_process_that_forks_while_being_killed_is_killed_without_cgroup_kill)
{
	if (geteuid() != 0 || !file_exists("/sys/fs/cgroup/pids"))
		test_skip("needs root and controllers on cgroup v1");
	ASSERT_INT(unshare(CLONE_NEWNS), 0);
	ASSERT_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	(void)umount2("/sys/fs/cgroup/unified", MNT_DETACH);
	kill_runaways();
}
