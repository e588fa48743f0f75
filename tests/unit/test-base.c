#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/process.h"
#include "node/base-image.h"
#include "test.h"

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", test_dir(), name);
}

static void put(const char *name, const char *text)
{
	cleanup_free char *path = in_dir(name);
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	ASSERT_OK(file_make_dirs(parent, 0755, &err));
	ASSERT_OK(file_replace(path, text, strlen(text), 0755, &err));
}

static void put_link(const char *name, const char *target)
{
	cleanup_free char *path = in_dir(name);

	ASSERT_INT(symlink(target, path), 0);
}

/* What nodes need, in the directory "base". */
static void make_base(void)
{
	put("base/usr/bin/dash", "a shell");
	put_link("base/usr/bin/sh", "dash");
	put("base/usr/bin/mount", "x");
	put("base/usr/bin/umount", "x");
	put("base/usr/sbin/nft-real", "x");
	put("base/etc/hello", "world");
	/* As Debian's alternatives are: absolute links that mean the base's own files. */
	put_link("base/usr/sbin/nft", "/etc/nft");
	put_link("base/etc/nft", "/usr/sbin/nft-real");
	put_link("base/bin", "usr/bin");
}

static void make_tar(const char *how, const char *name)
{
	cleanup_free char *dir = in_dir("base");
	cleanup_free char *path = in_dir(name);

	ASSERT_INT(
		process_run(ARGV("tar", (char *)(uintptr_t)how, path, "-C", dir, "."), NULL, NULL),
		0);
}

/* See that NAME in our directory is refused with words that have PART. */
static void assert_refused(const char *name, const char *part)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = in_dir(name);

	ASSERT_INT(base_check(path, &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	if (!strstr(why.text, part))
		ASSERT_STR(why.text, part);
}

static void assert_accepted(const char *name)
{
	cleanup_free char *path = in_dir(name);

	ASSERT_OK(base_check(path, &err));
}

TEST(a_dir_with_all_that_nodes_need_is_accepted)
{
	make_base();
	assert_accepted("base");
}

TEST(what_is_missing_is_named)
{
	make_base();
	assert_refused("nowhere", "does not exist on this host");
	assert_refused("base/etc", "no directory 'usr'");
	assert_refused("base/etc/hello", "cannot unpack");
	ASSERT_INT(base_check("relative", NULL), -EINVAL);
	ASSERT_INT(base_check("/dev/null", NULL), -EINVAL);
	ASSERT_INT(base_check("/proc/self/exe", NULL), -EINVAL);
}

TEST(a_link_to_a_program_of_the_host_is_none_of_the_base)
{
	cleanup_free char *path = in_dir("base/usr/bin/umount");

	make_base();
	ASSERT_INT(unlink(path), 0);
	put_link("base/usr/bin/umount", "/proc/self/exe");
	assert_refused("base", "need: umount");
}

TEST(dirs_beside_usr_must_be_links_into_it)
{
	make_base();
	put("base/sbin/x", "x");
	assert_refused("base", "'/sbin' must be a link");
	make_tar("-cf", "base.tar");
	assert_refused("base.tar", "'/sbin' must be a link");
}

TEST(a_tar_is_looked_into_before_it_is_unpacked)
{
	cleanup_free char *path = in_dir("base/usr/bin/umount");

	make_base();
	make_tar("-cf", "base.tar");
	make_tar("-czf", "base.tar.gz");
	ASSERT_INT(unlink(path), 0);
	make_tar("-cf", "less.tar");
	assert_accepted("base.tar");
	assert_accepted("base.tar.gz");
	assert_refused("less.tar", "need: umount");
}

/* A profile in our directory with two nodes that have their /usr from NAME. */
static void make_profile(struct profile *profile, const char *name)
{
	for (int i = 0; i < 2; i++) {
		struct node *node = profile_add_node(profile, i ? "node-2" : "node-1");
		cleanup_free char *dir = NULL;

		node->base_image = in_dir(name);
		dir = xasprintf("%s/nodes/%s", test_dir(), node->name);
		ASSERT_OK(file_make_dirs(dir, 0755, &err));
	}
	profile->dir = xstrdup(test_dir());
}

static ino_t number_of(const char *name)
{
	cleanup_free char *path = in_dir(name);
	struct stat st;

	ASSERT_INT(stat(path, &st), 0);
	return st.st_ino;
}

TEST(nodes_share_what_was_unpacked_once)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *first = NULL;
	cleanup_free char *expected = in_dir("nodes/node-1/base");
	cleanup_free char *device = in_dir("nodes/node-1/base/dev");

	make_base();
	put("base/dev/thing", "x");
	make_tar("-czf", "base.tgz");
	make_profile(&profile, "base.tgz");
	first = base_dir(&profile, &profile.nodes[0]);
	ASSERT_STR(first, expected);
	ASSERT_OK(base_make(&profile, &profile.nodes[0], &err));
	ASSERT_OK(base_make(&profile, &profile.nodes[0], &err));
	ASSERT_OK(base_make(&profile, &profile.nodes[1], &err));
	ASSERT_INT(number_of("nodes/node-1/base/usr/bin/dash"),
		   number_of("nodes/node-2/base/usr/bin/dash"));
	ASSERT(number_of("nodes/node-1/base/etc/hello"));
	ASSERT(!file_exists(device));
}

TEST(a_new_tar_is_for_new_nodes_and_the_old_one_is_no_longer_needed)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *tar = in_dir("base.tar");

	make_base();
	make_tar("-cf", "base.tar");
	make_profile(&profile, "base.tar");
	ASSERT_OK(base_make(&profile, &profile.nodes[0], &err));
	put("base/usr/bin/new", "x");
	make_tar("-cf", "base.tar");
	ASSERT_OK(base_make(&profile, &profile.nodes[1], &err));
	ASSERT(number_of("nodes/node-2/base/usr/bin/new"));
	ASSERT_INT(unlink(tar), 0);
	ASSERT_OK(base_make(&profile, &profile.nodes[0], &err));
	ASSERT_OK(base_make(&profile, &profile.nodes[1], &err));
}

TEST(a_dir_is_used_where_it_is_and_missed_when_it_is_gone)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *base = in_dir("base");
	cleanup_free char *found = NULL;

	make_base();
	make_profile(&profile, "base");
	found = base_dir(&profile, &profile.nodes[0]);
	ASSERT_STR(found, base);
	ASSERT_OK(base_make(&profile, &profile.nodes[0], &err));
	ASSERT_OK(file_remove_tree(base, &err));
	ASSERT_INT(base_make(&profile, &profile.nodes[0], &why), -ENOENT);
	ASSERT(strstr(why.text, "the base image of node 'node-1'"));
	free((void *)(uintptr_t)take_ptr(profile.nodes[1].base_image));
	ASSERT_OK(base_make(&profile, &profile.nodes[1], &err));
}
