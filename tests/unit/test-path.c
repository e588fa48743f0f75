#include "base/path.h"

#include "test.h"

static void use(const char *home, const char *one, const char *cache, const char *sudo)
{
	ASSERT_INT(home ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
	ASSERT_INT(one ? setenv("MANYKUBE_HOME", one, 1) : unsetenv("MANYKUBE_HOME"), 0);
	ASSERT_INT(cache ? setenv("MANYKUBE_CACHE", cache, 1) : unsetenv("MANYKUBE_CACHE"), 0);
	ASSERT_INT(sudo ? setenv("SUDO_UID", sudo, 1) : unsetenv("SUDO_UID"), 0);
}

static void assert_places(const char *user, const char *state, const char *cache)
{
	cleanup_free char *got_user = NULL;
	cleanup_free char *got_state = NULL;
	cleanup_free char *got_cache = NULL;

	ASSERT_OK(path_user(&got_user, &err));
	ASSERT_OK(path_state(&got_state, &err));
	ASSERT_OK(path_cache(&got_cache, &err));
	ASSERT_STR(got_user, user);
	ASSERT_STR(got_state, state);
	ASSERT_STR(got_cache, cache);
}

TEST(what_root_acts_on_is_in_directories_of_roots)
{
	cleanup_free char *state = xasprintf("/var/lib/manykube/%u", geteuid());

	use("/home/ann", NULL, NULL, NULL);
	assert_places("/home/ann/.manykube", state, "/var/cache/manykube");
	use("/home/ann", NULL, "/srv/cache", NULL);
	assert_places("/home/ann/.manykube", state, "/srv/cache");
}

TEST(under_sudo_the_clusters_are_the_callers)
{
	cleanup_free char *state = NULL;

	use("/root", NULL, NULL, "12345");
	ASSERT_OK(path_state(&state, &err));
	ASSERT_STR(state, geteuid() == 0 ? "/var/lib/manykube/12345" : state);
}

TEST(one_home_has_everything)
{
	use("/home/ann", "/srv/one", NULL, "12345");
	assert_places("/srv/one", "/srv/one", "/srv/one/cache");
	ASSERT(path_is_one_home());
	use("/home/ann", "/srv/one", "/srv/cache", NULL);
	assert_places("/srv/one", "/srv/one", "/srv/cache");
	use("/home/ann", "", "", NULL);
	ASSERT(!path_is_one_home());
}

TEST(a_path_that_is_not_absolute_is_refused)
{
	char *path = NULL;

	use("/home/ann", "one", NULL, NULL);
	ASSERT_INT(path_state(&path, NULL), -EINVAL);
	ASSERT_INT(path_user(&path, NULL), -EINVAL);
	ASSERT_INT(path_cache(&path, NULL), -EINVAL);
	use("/home/ann", NULL, "cache", NULL);
	ASSERT_INT(path_cache(&path, NULL), -EINVAL);
	ASSERT(!path);
}
