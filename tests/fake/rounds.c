/* Rounds of a test in fake worlds. */

#include "rounds.h"

#include <sys/wait.h>

#include "fake-world.h"
#include "record/profile.h"
#include "test.h"

char *begin_round(unsigned n)
{
	cleanup_free char *home = xasprintf("%s/home-%u", test_dir(), n);
	char *dir = xasprintf("%s/world-%u", test_dir(), n);

	ASSERT(setenv("MANYKUBE_HOME", home, 1) == 0);
	fake_world_use(dir, 0);
	return dir;
}

bool run_until(const char *dir, unsigned crash_at, int (*work)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		fake_world_use(dir, crash_at);
		_exit(work() == 0 ? 0 : 1);
	}
	ASSERT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == FAKE_CRASHED)
		return false;
	ASSERT_INT(WEXITSTATUS(status), 0);
	return true;
}

void cut_short(int (*before)(void), int (*work)(void), void (*check)(void), unsigned least)
{
	for (unsigned n = 1; n < MANY; n++) {
		cleanup_free char *dir = begin_round(n);
		bool ended;

		ASSERT_INT(before(), 0);
		ended = run_until(dir, n, work);
		check();
		ASSERT_INT(fake_world_inits(), 1);
		if (ended) {
			ASSERT(n > least);
			return;
		}
	}
	ASSERT(!"there is no end of steps");
}

void assert_world(const char *expected)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist lasting = STRLIST_INIT;
	cleanup_free char *text = NULL;
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all)
		if (strncmp(what, "token:", 6) != 0)
			strlist_add(&lasting, what);
	text = strlist_join(&lasting, " ");
	ASSERT_STR(text, expected);
}

void assert_profile(const char *expected)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_free char *text = NULL;
	const struct node *node;
	const char *name;

	ASSERT_OK(profile_load("test", &profile, &err));
	profile_for_each_node(node, &profile)
		strlist_addf(&all, "%s %s %s %s", node->name, node_phase_word(node->phase),
			     node->address, node->pod_cidr);
	strlist_for_each(name, &profile.orphans)
		strlist_addf(&all, "orphan %s", name);
	text = strlist_join(&all, "; ");
	ASSERT_STR(text, expected);
}
