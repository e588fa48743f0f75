#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "driver/driver.h"
#include "driver/native-create.h"
#include "driver/native-services.h"
#include "driver/tree.h"
#include "test.h"

static char *in_node(const char *name)
{
	return xasprintf("%s/nodes/node-1/%s", test_dir(), name);
}

static char *node(void)
{
	return xasprintf("%s/nodes/node-1", test_dir());
}

static void put(const char *name, const char *text)
{
	cleanup_free char *path = in_node(name);
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	ASSERT_OK(file_make_dirs(parent, 0755, &err));
	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
}

static void assert_holds(const char *name, const char *text)
{
	cleanup_with(strbuf_release) struct strbuf found = STRBUF_INIT;
	cleanup_free char *path = in_node(name);

	ASSERT_OK(file_read(path, 1000, &found, &err));
	ASSERT_STR(found.text, text);
}

static bool is_there(const char *name)
{
	cleanup_free char *path = in_node(name);

	return file_exists(path);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	ASSERT_INT(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* A node as earlier versions left it. */
static void make_old(void)
{
	static const char *const names[] = { "etc/hosts",    "var/lib/data", "root/file",
					     "home/file",    "srv/file",     "mnt/file",
					     "usr/bin/tool", "usr-work/x",   "run/state" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put(names[i], names[i]);
	put("agent.log", "log");
}

static void assert_new(void)
{
	cleanup_free char *dir = node();
	cleanup_free char *tree = node_tree_path(dir);
	cleanup_free char *expected = in_node("tree");

	ASSERT_STR(tree, expected);
	ASSERT_INT(mode_of(tree), 0700);
	assert_holds("tree/etc/hosts", "etc/hosts");
	assert_holds("tree/var/lib/data", "var/lib/data");
	assert_holds("tree/usr/bin/tool", "usr/bin/tool");
	assert_holds("tree/usr-work/x", "usr-work/x");
	assert_holds("tree/mnt/file", "mnt/file");
	assert_holds("agent.log", "log");
	ASSERT(!is_there("etc") && !is_there("var") && !is_there("run") && !is_there("usr-work"));
}

TEST(other_users_can_not_enter_the_tree_of_a_new_node)
{
	cleanup_free char *dir = node();
	cleanup_free char *tree = in_node("tree");
	cleanup_free char *root = in_node("tree/root");
	cleanup_free char *before = node_tree_path(dir);

	ASSERT_STR(before, tree);
	(void)umask(0);
	ASSERT_OK(node_tree_make(dir, &err));
	ASSERT_INT(mode_of(tree), 0700);
	ASSERT_INT(mode_of(root), 0700);
	ASSERT(is_there("tree/usr-work"));
}

/* migrate_cluster() closes nodes: their files may be set-user-ID programs of root. */
TEST(a_closed_node_is_opened_when_all_of_it_is_in_the_tree)
{
	cleanup_free char *dir = node();

	make_old();
	put("tree/srv/file", "another");
	ASSERT_INT(chmod(dir, 0700), 0);
	ASSERT_OK(node_tree_make(dir, &err));
	ASSERT(is_there("srv"));
	ASSERT_INT(mode_of(dir), 0700);
	free(take_ptr(dir));
	dir = in_node("srv");
	ASSERT_OK(file_remove_tree(dir, &err));
	free(take_ptr(dir));
	dir = node();
	ASSERT_OK(node_tree_make(dir, &err));
	ASSERT_INT(mode_of(dir), 0755);
}

TEST(a_node_of_an_earlier_version_works_until_it_is_moved)
{
	cleanup_free char *dir = node();
	cleanup_free char *before = NULL;

	make_old();
	before = node_tree_path(dir);
	ASSERT_STR(before, dir);
	ASSERT_OK(node_tree_make(dir, &err));
	assert_new();
	ASSERT_OK(node_tree_make(dir, &err));
	assert_new();
}

TEST(moving_cut_short_anywhere_is_finished_later)
{
	static const char *const parts[] = { "etc", "var", "root", "home",
					     "srv", "mnt", "usr",  "usr-work" };
	cleanup_free char *dir = node();
	cleanup_free char *tree = in_node("tree");

	for (size_t done = 0; done <= ARRAY_SIZE(parts); done++) {
		make_old();
		ASSERT_INT(mkdir(tree, 0700), 0);
		for (size_t i = 0; i < done; i++) {
			cleanup_free char *from = in_node(parts[i]);
			cleanup_free char *to = xasprintf("%s/%s", tree, parts[i]);

			ASSERT_INT(rename(from, to), 0);
		}
		ASSERT_OK(node_tree_make(dir, &err));
		if (done < ARRAY_SIZE(parts))
			assert_new();
		ASSERT_OK(file_remove_tree(dir, &err));
	}
}

TEST(what_is_there_twice_is_kept)
{
	cleanup_free char *dir = node();

	make_old();
	put("tree/etc/hosts", "newer");
	ASSERT_OK(node_tree_make(dir, &err));
	assert_holds("tree/etc/hosts", "newer");
	assert_holds("etc/hosts", "etc/hosts");
}

TEST(states_are_read_from_the_host_or_of_an_older_agent_from_the_node)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf now = STRBUF_INIT;
	cleanup_free char *dir = node();

	ASSERT_INT(node_tree_read_state(dir, &text, NULL), -ENOENT);
	make_old();
	ASSERT_OK(node_tree_read_state(dir, &text, &err));
	ASSERT_STR(text.text, "run/state");
	put("state", "new");
	ASSERT_OK(node_tree_read_state(dir, &now, &err));
	ASSERT_STR(now.text, "new");
}

TEST(reading_the_state_does_not_block_on_a_fifo_or_link)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *dir = node();
	cleanup_free char *state = NULL;

	make_old();
	state = in_node("run/state");
	ASSERT_INT(unlink(state), 0);
	ASSERT_INT(mkfifo(state, 0600), 0);
	ASSERT_INT(node_tree_read_state(dir, &text, NULL), -EINVAL);
	ASSERT_INT(unlink(state), 0);
	ASSERT_INT(symlink("/etc/passwd", state), 0);
	ASSERT_INT(node_tree_read_state(dir, &text, NULL), -ELOOP);
}

/* A native node that was made once, and something outside of it. */
static struct node_spec spec = { .name = "node-1" };
static char *outside;

static void make_native(void)
{
	cleanup_free char *blob = xasprintf("%s/payload/store/blob", test_dir());
	cleanup_free char *store = xasprintf("%s/payload/store", test_dir());

	if (geteuid() != 0)
		test_skip("needs root");
	spec.dir = node();
	spec.payload = xasprintf("%s/payload", test_dir());
	outside = xasprintf("%s/outside", test_dir());
	ASSERT_OK(file_make_dirs(store, 0755, &err));
	ASSERT_OK(file_put(blob, "blob", 4, 0600, &err));
	ASSERT_INT(mkdir(outside, 0751), 0);
	ASSERT_INT(chmod(outside, 0751), 0);
	ASSERT_OK(native_create(&spec, &err));
	assert_holds("tree/var/lib/containerd/blob", "blob");
}

TEST(a_full_disk_is_called_that)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *images = in_node("tree/var/lib/containerd");
	cleanup_free char *blob = xasprintf("%s/payload/store/blob", test_dir());
	cleanup_free char *large = xcalloc(1, 2 << 20);

	make_native();
	ASSERT_OK(file_remove_tree(images, &err));
	ASSERT_OK(file_put(blob, large, 2 << 20, 0600, &err));
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	ASSERT_INT(mount("small", spec.dir, "tmpfs", 0, "size=1m"), 0);
	ASSERT_INT(native_create(&spec, &why), -ENOSPC);
	ASSERT(why.reason == &reason_storage);
	ASSERT_INT(umount(spec.dir), 0);
}

/* What the node's root does to the directory NAME of its tree. */
static void turn_into_link(const char *name, const char *target)
{
	cleanup_free char *path = in_node(name);

	ASSERT_OK(file_remove_tree(path, &err));
	ASSERT_INT(symlink(target, path), 0);
}

static void assert_outside_untouched(void)
{
	ASSERT_INT(mode_of(outside), 0751);
	ASSERT_INT(rmdir(outside), 0);
}

TEST(links_that_replace_directories_are_not_followed)
{
	static const char *const names[] = { "tree/var/cache", "tree/var/tmp", "tree/var/log",
					     "tree/var/lib/etcd", "tree/var/lib/kubelet" };

	make_native();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		turn_into_link(names[i], outside);
	ASSERT_OK(native_create(&spec, &err));
	assert_outside_untouched();
}

TEST(a_link_that_replaces_the_images_directory_is_not_followed)
{
	make_native();
	turn_into_link("tree/var/lib", outside);
	ASSERT_OK(native_create(&spec, &err));
	assert_outside_untouched();
}

TEST(incomplete_images_are_made_again_without_following_links)
{
	cleanup_free char *images = NULL;
	cleanup_free char *part = NULL;

	make_native();
	images = in_node("tree/var/lib/containerd");
	part = in_node("tree/var/lib/containerd.part");
	ASSERT_OK(file_remove_tree(images, &err));
	ASSERT_INT(symlink(outside, part), 0);
	ASSERT_OK(native_create(&spec, &err));
	assert_holds("tree/var/lib/containerd/blob", "blob");
	/* With images of its own in another place, a node keeps them there. */
	turn_into_link("tree/var/lib/containerd", outside);
	ASSERT_OK(native_create(&spec, &err));
	assert_outside_untouched();
}

TEST(a_fifo_that_replaces_a_directory_is_left_alone)
{
	cleanup_free char *path = NULL;
	struct stat st;

	make_native();
	path = in_node("tree/var/cache");
	ASSERT_INT(rmdir(path), 0);
	ASSERT_INT(mkfifo(path, 0600), 0);
	ASSERT_OK(native_create(&spec, &err));
	ASSERT_INT(lstat(path, &st), 0);
	ASSERT(S_ISFIFO(st.st_mode));
}

TEST(modes_that_the_node_has_chosen_stay)
{
	cleanup_free char *path = NULL;

	make_native();
	path = in_node("tree/var/tmp");
	ASSERT_INT(mode_of(path), 01777);
	ASSERT_INT(chmod(path, 0700), 0);
	ASSERT_OK(native_create(&spec, &err));
	ASSERT_INT(mode_of(path), 0700);
}

/* A process that takes no SIGTERM. */
static pid_t begin_deaf(void)
{
	sigset_t term;
	pid_t pid;

	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	ASSERT_INT(sigprocmask(SIG_BLOCK, &term, NULL), 0);
	pid = fork();
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	return pid;
}

TEST(a_node_shuts_down_as_soon_as_its_agent_is_told_to)
{
	cleanup_free char *dir = node();
	pid_t pid = begin_deaf();

	ASSERT(!native_is_stopping(dir, pid));
	ASSERT_INT(kill(pid, SIGTERM), 0);
	ASSERT(native_is_stopping(dir, pid));
	ASSERT_INT(kill(pid, SIGKILL), 0);
	ASSERT_INT(waitpid(pid, NULL, 0), pid);
	ASSERT(!native_is_stopping(dir, pid));
}
