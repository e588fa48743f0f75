#include <sys/wait.h>

#include "cgroup/cgroup.h"
#include "cgroup/scope.h"
#include "test.h"

TEST(a_cluster_has_a_scope_where_systemd_runs_and_a_group_elsewhere)
{
	cleanup_free char *scope = scope_group_in("mk01234567", true);
	cleanup_free char *group = scope_group_in("mk01234567", false);

	ASSERT_STR(scope, "machine.slice/manykube-mk01234567.scope");
	ASSERT_STR(group, "manykube/mk01234567");
}

static void need_scopes(void)
{
	if (geteuid() != 0 || !scope_is_used())
		test_skip("needs root and systemd with cgroup v2");
}

/* A child that does nothing. */
static pid_t make_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			(void)pause();
	return pid;
}

TEST(a_scope_lives_as_long_as_what_it_adopted)
{
	cleanup_free char *cluster = xasprintf("test-%d", (int)getpid());
	cleanup_free char *group = scope_group(cluster);
	pid_t pid;

	need_scopes();
	pid = make_child();
	ASSERT_OK(scope_adopt(cluster, "test", "leaf", pid, &err));
	ASSERT_OK(scope_adopt(cluster, "test", "leaf", pid, &err));
	ASSERT(cgroup_has_processes(group));
	ASSERT_OK(scope_destroy(cluster, &err));
	ASSERT(waitpid(pid, NULL, 0) == pid);
	ASSERT(!cgroup_has_processes(group));
	ASSERT_OK(scope_destroy(cluster, &err));
}

TEST(a_scope_that_has_just_ended_can_be_made_anew)
{
	cleanup_free char *cluster = xasprintf("test-%d", (int)getpid());

	need_scopes();
	for (int i = 0; i < 3; i++) {
		cleanup_with(scope_release) struct scope scope = SCOPE_INIT;

		ASSERT_OK(scope_open(cluster, "test", &scope, &err));
	}
	ASSERT_OK(scope_destroy(cluster, &err));
}

TEST(a_host_without_scopes_needs_none)
{
	cleanup_with(scope_release) struct scope scope = SCOPE_INIT;

	if (scope_is_used())
		test_skip("this host has scopes");
	ASSERT_OK(scope_open("mk01234567", "test", &scope, &err));
	ASSERT_INT(scope.hold, -1);
	ASSERT_OK(scope_adopt("mk01234567", "test", "leaf", getpid(), &err));
}
