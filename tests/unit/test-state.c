/* Directories of root's, in a mount namespace of the test's own. */

#include "record/state.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/process.h"
#include "home/migrate.h"
#include "payload/payload.h"
#include "payload/work.h"
#include "record/old-home.h"
#include "test.h"

static char *home;

/* A host of the test's own, on which the user 12345 called sudo; what fails ends the test.  The
 * home is in the directory ABOVE, which exists then. */
static void use_host_with_home_in(const char *above)
{
	static const char *const places[] = { "/var/lib", "/var/cache" };

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		test_skip("needs root");
	ASSERT_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		ASSERT_INT(mount("test", places[i], "tmpfs", 0, "mode=0755"), 0);
	ASSERT_INT(chmod(test_dir(), 0755), 0);
	home = xasprintf("%s/home", above);
	ASSERT_INT(mkdir(home, 0755), 0);
	ASSERT_INT(chown(home, 12345, 12346), 0);
	ASSERT_INT(setenv("HOME", home, 1), 0);
	ASSERT_INT(setenv("SUDO_UID", "12345", 1), 0);
	ASSERT_INT(setenv("SUDO_GID", "12346", 1), 0);
	ASSERT_INT(unsetenv("MANYKUBE_HOME"), 0);
	ASSERT_INT(unsetenv("MANYKUBE_CACHE"), 0);
}

static void use_host(void)
{
	use_host_with_home_in(test_dir());
}

/* "HOME/PATH", which is made with all above it; FILE: a file, else a directory. */
static char *make(const char *path, bool file, unsigned owner, mode_t mode)
{
	char *full = xasprintf("%s/%s", home, path);
	cleanup_free char *above = xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ASSERT_OK(file_make_dirs(file ? above : full, 0755, &err));
	if (file)
		ASSERT_OK(file_put(full, "x", 1, mode, &err));
	ASSERT_INT(chown(full, owner, owner), 0);
	ASSERT_INT(chmod(full, mode), 0);
	return full;
}

#define MAKE(...)                                             \
	do {                                                  \
		cleanup_free char *made_ = make(__VA_ARGS__); \
		ASSERT(made_);                                \
	} while (0)

/* A cluster as an earlier version left it, stopped. */
static void make_old_cluster(void)
{
	MAKE(".manykube", false, 12345, 0755);
	MAKE(".manykube/profiles", false, 12345, 0755);
	MAKE(".manykube/profiles/dev", false, 12345, 0755);
	MAKE(".manykube/profiles/dev/profile.json", true, 12345, 0644);
	MAKE(".manykube/profiles/dev/kubeconfig", true, 12345, 0600);
	MAKE(".manykube/profiles/dev/logs", false, 0, 0755);
	MAKE(".manykube/profiles/dev/nodes", false, 12345, 0700);
	MAKE(".manykube/profiles/dev/nodes/node-1", false, 0, 0755);
	MAKE(".manykube/profiles/dev/nodes/node-1/usr-work", false, 0, 0755);
}

static bool can(char *what, unsigned uid, char *path)
{
	cleanup_free char *user = xasprintf("--reuid=%u", uid);

	return process_run(
		       ARGV("setpriv", user, "--regid=54321", "--clear-groups", "test", what, path),
		       NULL, NULL) == 0;
}

static char state[] = "/var/lib/manykube/12345";
static char place[] = "/var/lib/manykube/12345/profiles/dev";

TEST(only_the_user_can_enter_and_nobody_but_root_can_write)
{
	cleanup_free char *path = NULL;
	cleanup_free char *locks = NULL;
	struct stat st;

	use_host();
	(void)umask(0077);
	ASSERT_OK(state_ensure(&path, &err));
	ASSERT_OK(state_make("locks", &locks, &err));
	ASSERT_STR(path, state);
	ASSERT_INT(stat(locks, &st), 0);
	ASSERT_INT(st.st_uid, 0);
	ASSERT(can("-x", 12347, (char[]){ "/var/lib/manykube" }));
	ASSERT(can("-x", 12345, locks));
	ASSERT(!can("-w", 12345, path));
	ASSERT(!can("-w", 12345, locks));
	ASSERT(!can("-x", 12347, path));
	ASSERT(!can("-r", 12347, path));
}

TEST(a_user_is_told_that_clusters_are_roots)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	char *path = NULL;

	use_host();
	ASSERT_INT(setresuid(12345, 12345, 12345), 0);
	ASSERT_INT(state_make("profiles", &path, &why), -EPERM);
	ASSERT(why.reason == &reason_not_root);
}

TEST(a_stopped_cluster_is_moved_and_becomes_roots)
{
	cleanup_free char *kubeconfig = xasprintf("%s/kubeconfig", place);
	cleanup_free char *nodes = xasprintf("%s/nodes", place);
	cleanup_free char *node = xasprintf("%s/node-1", nodes);
	cleanup_free char *old = NULL;
	cleanup_free char *dir = NULL;
	cleanup_fd int held = -1;
	struct stat st;

	use_host();
	make_old_cluster();
	old = xasprintf("%s/.manykube/profiles/dev", home);
	ASSERT_OK(profile_dir("dev", &dir, &err));
	ASSERT_STR(dir, old);
	/* What the user holds open must not be what root reads. */
	free(old);
	old = xasprintf("%s/.manykube/profiles/dev/profile.json", home);
	held = open(old, O_WRONLY | O_CLOEXEC);
	ASSERT_OK(migrate_cluster("dev", &err));
	ASSERT_INT(write(held, "evil", 4), 4);
	free(dir);
	ASSERT_OK(profile_dir("dev", &dir, &err));
	ASSERT_STR(dir, place);
	ASSERT(can("-r", 12345, kubeconfig));
	ASSERT(!can("-w", 12345, kubeconfig));
	ASSERT(!can("-w", 12345, place));
	ASSERT(can("-x", 12345, nodes));
	ASSERT(!can("-w", 12345, nodes));
	ASSERT(!can("-x", 12347, nodes));
	ASSERT(!can("-x", 12345, node));
	free(old);
	old = xasprintf("%s/profile.json", place);
	ASSERT_INT(stat(old, &st), 0);
	ASSERT_INT(st.st_size, 1);
	free(old);
	old = xasprintf("%s/.manykube/profiles", home);
	ASSERT(!file_exists(old));
	ASSERT_OK(migrate_cluster("dev", &err));
}

static char *in_place(const char *path)
{
	return xasprintf("%s/%s", place, path);
}

/* What the user may read of a cluster that was moved from HOME. */
static void check_what_can_be_read(void)
{
	static const struct {
		const char *path;
		bool exists;
		bool readable;
	} expected[] = {
		{ "logs/public", true, true },
		{ "logs/own", true, true },
		{ "logs/closed", true, false },
		{ "logs/root-only", true, false },
		{ "logs/second-name", false, false },
		{ "logs/link", false, false },
		{ "closed", true, false },
		{ "other/node-9/program", true, false },
		{ "nodes/.hidden", true, false },
	};
	cleanup_free char *own = in_place("logs/own");
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		cleanup_free char *path = in_place(expected[i].path);

		if ((lstat(path, &st) == 0) != expected[i].exists)
			test_fail(__FILE__, __LINE__, "'%s' %s", path,
				  expected[i].exists ? "is gone" : "is there");
		if (can("-r", 12345, path) != expected[i].readable)
			test_fail(__FILE__, __LINE__, "'%s' %s", path,
				  expected[i].readable ? "is closed" : "is open");
	}
	ASSERT_INT(stat(own, &st), 0);
	ASSERT_INT(st.st_uid, 0);
	ASSERT_INT(st.st_mode & 07777, 0640);
}

/* ABOVE: see use_host_with_home_in(). */
static void move_with_closed_files(const char *above)
{
	cleanup_free char *secret = NULL;
	cleanup_free char *name = NULL;
	cleanup_free char *link = NULL;

	use_host_with_home_in(above);
	make_old_cluster();
	MAKE(".manykube/profiles/dev/logs/public", true, 0, 0644);
	MAKE(".manykube/profiles/dev/logs/own", true, 12345, 04600);
	MAKE(".manykube/profiles/dev/logs/root-only", true, 0, 0600);
	MAKE(".manykube/profiles/dev/logs/closed", false, 0, 0700);
	MAKE(".manykube/profiles/dev/closed", false, 0, 0700);
	/* As in the nodes of another cluster. */
	MAKE(".manykube/profiles/dev/other", false, 12345, 0755);
	MAKE(".manykube/profiles/dev/other/node-9", false, 0, 0755);
	MAKE(".manykube/profiles/dev/other/node-9/program", true, 0, 04755);
	MAKE(".manykube/profiles/dev/nodes/.hidden", false, 0, 0755);
	secret = make("secret", true, 0, 0600);
	name = xasprintf("%s/.manykube/profiles/dev/logs/second-name", home);
	link = xasprintf("%s/.manykube/profiles/dev/logs/link", home);
	ASSERT_INT(linkat(AT_FDCWD, secret, AT_FDCWD, name, 0), 0);
	ASSERT_INT(symlink(secret, link), 0);
	ASSERT_OK(migrate_cluster("dev", &err));
	check_what_can_be_read();
	ASSERT(file_exists(secret));
}

TEST(a_move_lets_the_user_read_nothing_new)
{
	move_with_closed_files("/var/lib");
}

TEST(a_copy_to_another_file_system_lets_the_user_read_nothing_new)
{
	move_with_closed_files(test_dir());
}

/* A cp that first exchanges a directory, as the user could while it copies. */
TEST(the_user_can_change_nothing_that_is_being_copied)
{
	cleanup_free char *bin = xasprintf("%s/bin", test_dir());
	cleanup_free char *cp = xasprintf("%s/cp", bin);
	cleanup_free char *path = xasprintf("%s:%s", bin, getenv("PATH"));
	cleanup_free char *log = in_place("logs/own");
	cleanup_free char *script = NULL;

	use_host();
	make_old_cluster();
	MAKE(".manykube/profiles/dev/logs", false, 12345, 0755);
	MAKE(".manykube/profiles/dev/logs/own", true, 12345, 0644);
	script = xasprintf("#!/bin/sh\ncd '%s/.manykube/profiles/dev' || exit\n"
			   "setpriv --reuid=12345 --regid=12346 --clear-groups sh -c "
			   "'mv logs gone; mv logs/own logs/gone; rm logs/own; mv nodes gone'\n"
			   "PATH=${PATH#*:} exec cp \"$@\"\n",
			   home);
	ASSERT_OK(file_make_dirs(bin, 0755, &err));
	ASSERT_OK(file_put(cp, script, strlen(script), 0755, &err));
	ASSERT_INT(setenv("PATH", path, 1), 0);
	ASSERT_OK(migrate_cluster("dev", &err));
	ASSERT(file_exists(log));
}

/* Else what is another user's would be removed with this cluster. */
TEST(a_record_in_a_home_does_not_name_the_bridge)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *own = NULL;
	cleanup_free char *path = NULL;
	const char *text = "{\"format\": 1, \"name\": \"dev\", \"bridge\": \"mk01234567\"}";

	use_host();
	make_old_cluster();
	path = xasprintf("%s/.manykube/profiles/dev/profile.json", home);
	ASSERT_OK(file_replace(path, text, strlen(text), 0644, &err));
	ASSERT_OK(profile_load("dev", &profile, &err));
	own = profile_bridge_name(profile.dir);
	ASSERT(strstr(profile.dir, home));
	ASSERT_STR(profile.bridge, own);
}

TEST(an_interrupted_move_is_finished)
{
	cleanup_free char *moving = xasprintf("%s/moving/dev", state);
	cleanup_free char *dir = NULL;
	cleanup_free char *old = NULL;
	cleanup_free char *above = NULL;

	use_host();
	make_old_cluster();
	ASSERT_OK(profile_dir("dev", &dir, &err));
	ASSERT_OK(state_make("moving", &above, &err));
	old = xasprintf("%s/.manykube/profiles/dev", home);
	/* On another file system, it is copied: both are there. */
	ASSERT_INT(process_run(ARGV("cp", "-a", old, moving), NULL, NULL), 0);
	free(dir);
	ASSERT_OK(profile_dir("dev", &dir, &err));
	ASSERT_STR(dir, moving);
	ASSERT_OK(migrate_cluster("dev", &err));
	ASSERT(file_exists(place));
	ASSERT(!file_exists(moving));
	ASSERT(!file_exists(old));
}

/* The user may exchange the cluster for a link just before it is renamed. */
TEST(a_link_that_was_moved_is_no_cluster)
{
	cleanup_free char *moving = xasprintf("%s/moving/dev", state);
	cleanup_free char *above = NULL;
	cleanup_free char *found = NULL;
	cleanup_free char *old = NULL;

	use_host_with_home_in("/var/lib");
	make_old_cluster();
	old = xasprintf("%s/.manykube/profiles/dev", home);
	ASSERT_OK(state_make("moving", &above, &err));
	ASSERT_INT(symlink(old, moving), 0);
	found = old_home_find("dev");
	ASSERT_STR(found, old);
	ASSERT_OK(migrate_cluster("dev", &err));
	ASSERT(file_exists(place));
	ASSERT(!file_exists(moving));
}

TEST(nodes_that_are_not_roots_are_refused_and_stay)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *dir = NULL;

	use_host();
	make_old_cluster();
	ASSERT_OK(profile_dir("dev", &dir, &err));
	MAKE(".manykube/profiles/dev/nodes/node-2", false, 12345, 0755);
	ASSERT_INT(migrate_cluster("dev", &why), -EPERM);
	ASSERT(why.reason == &reason_host_config);
	ASSERT(file_exists(dir));
	ASSERT(!file_exists(place));
}

TEST(a_cluster_without_nodes_of_roots_is_none_for_root)
{
	static const char *const gone[] = { "nodes/node-1/usr-work", "nodes/node-1", "nodes" };
	cleanup_free char *found = NULL;

	use_host();
	make_old_cluster();
	for (size_t i = 0; i < ARRAY_SIZE(gone); i++) {
		cleanup_free char *path = xasprintf("%s/.manykube/profiles/dev/%s", home, gone[i]);
		cleanup_free char *dir = NULL;

		ASSERT_INT(rmdir(path), 0);
		ASSERT_OK(profile_dir("dev", &dir, &err));
		ASSERT_STR(dir, place);
		ASSERT_OK(file_remove_tree(state, &err));
	}
	/* To the user it is as good as it was. */
	ASSERT_INT(setresuid(12345, 12345, 12345), 0);
	found = old_home_find("dev");
	ASSERT(found);
}

TEST(a_cluster_that_appears_in_a_home_later_is_not_used_by_root)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *path = NULL;
	cleanup_free char *dir = NULL;

	use_host();
	ASSERT_OK(state_ensure(&path, &err));
	make_old_cluster();
	ASSERT_OK(profile_dir("dev", &dir, &err));
	ASSERT_STR(dir, place);
	ASSERT_OK(profile_list(&names, &err));
	ASSERT_INT(names.count, 0);
}

TEST(links_in_the_home_lead_to_nothing_of_others)
{
	cleanup_free char *other = NULL;
	cleanup_free char *profiles = NULL;
	cleanup_free char *dir = NULL;
	cleanup_free char *kept = NULL;

	use_host();
	make_old_cluster();
	ASSERT_OK(profile_dir("dev", &dir, &err));
	other = make("other", false, 0, 0755);
	kept = make("other/dev", false, 0, 0755);
	profiles = xasprintf("%s/.manykube/profiles", home);
	ASSERT_OK(file_remove_tree(profiles, &err));
	ASSERT_INT(symlink(other, profiles), 0);
	ASSERT_INT(migrate_cluster("dev", NULL), -EPERM);
	ASSERT_INT(migrate_remove("dev", dir, NULL), -EPERM);
	ASSERT(file_exists(kept));
	ASSERT(!file_exists(place));
}

static bool can_open_payload(void)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

	return payload_open("v1.2.3", &payload, NULL) == 0;
}

/*
 * That a file in a home belongs to root does not say that root has written it: a node's root may
 * have, in its tree, to which a link can lead, or in a directory of root's that was mounted.
 */
TEST(a_payload_in_a_home_is_none_for_root)
{
	cleanup_free char *text = xasprintf("{\"format\": %d, \"pauseImage\": \"p\", "
					    "\"etcdVersion\": \"e\", \"corednsVersion\": \"c\"}",
					    PAYLOAD_FORMAT);
	cleanup_free char *cache = NULL;
	cleanup_free char *elsewhere = NULL;
	cleanup_free char *json = NULL;

	use_host();
	MAKE(".manykube", false, 12345, 0755);
	cache = make(".manykube/cache", false, 0, 0755);
	MAKE(".manykube/cache/v1.2.3/bin/kubectl", true, 0, 0755);
	json = make(".manykube/cache/v1.2.3/payload.json", true, 0, 0644);
	ASSERT_OK(file_put(json, text, strlen(text), 0644, &err));
	ASSERT(!can_open_payload());
	elsewhere = xasprintf("%s/tree", test_dir());
	ASSERT_INT(rename(cache, elsewhere), 0);
	ASSERT_INT(symlink(elsewhere, cache), 0);
	ASSERT(!can_open_payload());
	ASSERT(!file_exists("/var/cache/manykube"));
	/* The user may run it as before. */
	ASSERT_INT(setresuid(12345, 12345, 12345), 0);
	ASSERT(can_open_payload());
}
