#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "host/cgroup.h"
#include "test.h"

static char *group;

static void need_groups(void)
{
	group = xasprintf("manykube-test-%d", (int)getpid());
	if (geteuid() != 0 || cgroup_create(group, NULL) < 0)
		test_skip("needs root and writable cgroups");
}

TEST(a_group_is_made_and_removed_as_often_as_one_likes)
{
	need_groups();
	ASSERT_OK(cgroup_create(group, &err));
	ASSERT(!cgroup_has_processes(group));
	ASSERT_OK(cgroup_remove(group, &err));
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
	ASSERT_OK(cgroup_enter(path, NULL, pid, &err));
	return pid;
}

TEST(killing_a_group_ends_what_is_in_it_and_below)
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

TEST(killing_a_group_ends_also_what_is_frozen_by_itself)
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
