#include "home/purge.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "test.h"

static unsigned warnings;

static void count_warning(arg_unused const char *text)
{
	warnings++;
}

static char *home;

/* A home with what manykube makes in it, but for profiles. */
static void use_home(void)
{
	free(home);
	home = xasprintf("%s/home", test_dir());
	ASSERT_INT(setenv("MANYKUBE_HOME", home, 1), 0);
	ASSERT_INT(unsetenv("MANYKUBE_CACHE"), 0);
	log_show_warnings_with(count_warning);
}

static void make(const char *path)
{
	cleanup_free char *full = xasprintf("%s/%s", home, path);
	cleanup_free char *dir = xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	ASSERT_OK(file_put(full, "x", 1, 0644, &err));
}

static bool has(const char *path)
{
	cleanup_free char *full = xasprintf("%s/%s", home, path);

	return file_exists(full);
}

TEST(a_home_of_ours_goes_altogether)
{
	use_home();
	make("cache/v1.36.3/bin/kubectl");
	make("cache/vm/base-1/disk");
	make("cache/registry-v3.1.2/bin/registry");
	make("cache/v1.36.3.lock");
	make("locks/dev");
	make("locks/.network");
	make("config.json");
	make("logs/audit.json");
	ASSERT_OK(purge(&err));
	ASSERT(!file_exists(home));
	ASSERT_INT(warnings, 0);
	ASSERT_OK(purge(&err));
}

TEST(what_is_not_ours_stays_with_all_that_others_could_have_made)
{
	use_home();
	make("thesis.txt");
	make("logs/mine.log");
	make("config.json");
	make("cache/v1.36.3/bin/kubectl");
	make("locks/dev");
	ASSERT_OK(purge(&err));
	ASSERT(has("thesis.txt"));
	ASSERT(has("logs/mine.log"));
	ASSERT(has("config.json"));
	ASSERT(!has("cache"));
	ASSERT(!has("locks"));
	ASSERT_INT(warnings, 1);
}

TEST(a_cache_of_somebody_else_stays)
{
	static const char *const foreign[] = { "cache/apt/x", "cache/v1/x", "cache/v1.2/x",
					       "cache/version/x", "cache/v1.2.x/x" };

	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		use_home();
		make("cache/v1.36.3/bin/kubectl");
		make(foreign[i]);
		ASSERT_OK(purge(&err));
		ASSERT(has(foreign[i]));
		ASSERT(has("cache/v1.36.3/bin/kubectl"));
		ASSERT_OK(file_remove_tree(home, &err));
	}
	ASSERT(warnings >= ARRAY_SIZE(foreign));
}

TEST(a_cache_elsewhere_stays_since_others_may_use_it)
{
	cleanup_free char *cache = xasprintf("%s/elsewhere", test_dir());
	cleanup_free char *version = xasprintf("%s/v1.36.3", cache);

	use_home();
	make("config.json");
	ASSERT_INT(setenv("MANYKUBE_CACHE", cache, 1), 0);
	ASSERT_OK(file_make_dirs(version, 0755, &err));
	ASSERT_OK(purge(&err));
	ASSERT(!file_exists(home));
	ASSERT(file_exists(version));
	ASSERT_INT(warnings, 1);
}

TEST(a_cache_named_by_a_link_is_the_homes_own)
{
	cleanup_free char *link = xasprintf("%s/link", test_dir());
	cleanup_free char *cache = NULL;

	use_home();
	make("cache/v1.36.3/bin/kubectl");
	cache = xasprintf("%s/cache", home);
	ASSERT_INT(symlink(cache, link), 0);
	ASSERT_INT(setenv("MANYKUBE_CACHE", link, 1), 0);
	ASSERT_OK(purge(&err));
	ASSERT(!file_exists(home));
	ASSERT_INT(warnings, 0);
}

/* A user's link must not tell what another user has, or whether it is there. */
TEST(links_are_removed_without_a_look_at_their_targets)
{
	cleanup_free char *secret = xasprintf("%s/secret", test_dir());
	cleanup_free char *inner = xasprintf("%s/name", secret);
	cleanup_free char *cache = NULL;
	cleanup_free char *locks = NULL;

	use_home();
	make("config.json");
	cache = xasprintf("%s/cache", home);
	locks = xasprintf("%s/locks", home);
	ASSERT_OK(file_make_dirs(inner, 0755, &err));
	ASSERT_INT(symlink(secret, cache), 0);
	ASSERT_INT(symlink("/no/such", locks), 0);
	ASSERT_OK(purge(&err));
	ASSERT_INT(warnings, 0);
	ASSERT(!file_exists(home));
	ASSERT(file_exists(inner));
}

TEST(a_cluster_that_is_still_there_stays)
{
	use_home();
	make("profiles/dev/profile.json");
	ASSERT_OK(purge(&err));
	ASSERT(has("profiles/dev/profile.json"));
}

TEST(the_root_and_a_persons_home_are_refused)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	use_home();
	make("config.json");
	ASSERT_INT(setenv("HOME", home, 1), 0);
	ASSERT_INT(unsetenv("SUDO_UID"), 0);
	ASSERT_INT(purge(&why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(has("config.json"));
	ASSERT_INT(setenv("MANYKUBE_HOME", "/", 1), 0);
	ASSERT_INT(purge_check(NULL), -EINVAL);
	ASSERT_INT(setenv("MANYKUBE_HOME", "/usr/..", 1), 0);
	ASSERT_INT(purge_check(NULL), -EINVAL);
}
