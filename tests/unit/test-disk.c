#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/log.h"
#include "driver/native-create.h"
#include "driver/native-disk.h"
#include "host/disk.h"
#include "test.h"

#define MIB (UINT64_C(1) << 20)

static struct node_spec spec = { .name = "node-9", .disk_bytes = 64 * MIB };

static char *in_node(const char *name)
{
	return xasprintf("%s/%s", spec.dir, name);
}

/* A node with nothing but a disk, in mounts of its own: what a failed test leaves goes with it. */
static void begin(void)
{
	if (geteuid() != 0 || !file_exists("/dev/loop-control"))
		test_skip("needs root and loop devices");
	ASSERT_INT(unshare(CLONE_NEWNS), 0);
	ASSERT_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	spec.dir = xasprintf("%s/node", test_dir());
	ASSERT_OK(native_disk_up(&spec, &err));
}

static bool is_gone(void)
{
	cleanup_free char *var = in_node("tree/var");
	cleanup_free char *image = in_node("disk.img");

	return !disk_is_mounted(var) && !disk_is_attached(image);
}

static void put(const char *name, const char *text)
{
	cleanup_free char *path = in_node(name);

	ASSERT_OK(file_replace(path, text, strlen(text), 0644, &err));
}

static void assert_kept(const char *name, const char *text)
{
	cleanup_with(strbuf_release) struct strbuf found = STRBUF_INIT;
	cleanup_free char *path = in_node(name);

	ASSERT_OK(file_read(path, 1 << 20, &found, &err));
	ASSERT_STR(found.text, text);
}

static uint64_t size(void)
{
	cleanup_free char *image = in_node("disk.img");
	uint64_t bytes = 0;

	ASSERT_OK(disk_read_size(image, &bytes, &err));
	return bytes;
}

TEST(a_disk_is_as_large_as_asked_and_no_larger)
{
	cleanup_free char *var = NULL;
	cleanup_free char *path = NULL;
	cleanup_free char *block = NULL;
	struct statvfs st;
	int fd;
	int r = 0;

	begin();
	var = in_node("tree/var");
	path = in_node("tree/var/fill");
	block = xcalloc(1, MIB);
	ASSERT_INT(size(), 64 * MIB);
	ASSERT_INT(statvfs(var, &st), 0);
	ASSERT(st.f_blocks * st.f_frsize <= 64 * MIB && st.f_blocks * st.f_frsize > 50 * MIB);
	ASSERT(st.f_flag & ST_NOSUID);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < 70 && r == 0; i++)
		r = file_write_all(fd, block, MIB);
	ASSERT_INT(r, -ENOSPC);
	ASSERT(native_disk_used(&spec) > 50 * MIB);
	(void)close(fd);
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT(is_gone());
}

TEST(what_is_on_it_stays_when_it_is_unmounted_and_mounted)
{
	begin();
	put("tree/var/kept", "text");
	ASSERT_OK(native_disk_up(&spec, &err));
	assert_kept("tree/var/kept", "text");
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT(is_gone());
	ASSERT_INT(native_disk_used(&spec), 0);
	ASSERT_OK(native_disk_up(&spec, &err));
	assert_kept("tree/var/kept", "text");
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
}

/* As when the host's power fails: the journal is all there is. */
TEST(a_disk_that_was_not_unmounted_is_repaired)
{
	begin();
	put("tree/var/kept", "text");
	native_disk_abandon(&spec);
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT_OK(native_disk_up(&spec, &err));
	assert_kept("tree/var/kept", "text");
	put("tree/var/kept", "more");
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
}

TEST(it_grows_and_never_shrinks)
{
	begin();
	put("tree/var/kept", "text");
	spec.disk_bytes = 200 * MIB;
	ASSERT_OK(native_disk_up(&spec, &err));
	ASSERT_INT(size(), 200 * MIB);
	assert_kept("tree/var/kept", "text");
	spec.disk_bytes = 64 * MIB;
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT_OK(native_disk_up(&spec, &err));
	ASSERT_INT(size(), 200 * MIB);
	assert_kept("tree/var/kept", "text");
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
}

TEST(an_image_larger_than_its_file_system_works)
{
	cleanup_free char *image = NULL;

	begin();
	image = in_node("disk.img");
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT_INT(truncate(image, (off_t)(200 * MIB)), 0);
	spec.disk_bytes = 200 * MIB;
	ASSERT_OK(native_disk_up(&spec, &err));
	ASSERT_INT(size(), 200 * MIB);
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
}

TEST(what_is_no_file_system_is_never_made_one)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	begin();
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	put("disk.img", "precious");
	ASSERT(native_disk_up(&spec, &why) < 0);
	ASSERT(strstr(why.text, "disk of node 'node-9'"));
	ASSERT(strstr(why.hint, "e2fsck"));
	assert_kept("disk.img", "precious");
	ASSERT(is_gone());
}

TEST(what_was_made_half_is_made_anew)
{
	cleanup_free char *image = NULL;
	cleanup_free char *part = NULL;

	begin();
	image = in_node("disk.img");
	part = in_node("disk.img.part");
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT_INT(rename(image, part), 0);
	ASSERT_INT(truncate(part, 4096), 0);
	ASSERT_OK(native_disk_up(&spec, &err));
	ASSERT_INT(size(), 64 * MIB);
	ASSERT(!file_exists(part));
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
}

/* A mount of somebody else's, as a running node's, keeps the same disk in use. */
TEST(a_disk_in_use_is_not_attached_twice)
{
	cleanup_free char *image = NULL;
	cleanup_free char *var = NULL;
	char byte;
	int go[2];
	pid_t pid;

	begin();
	image = in_node("disk.img");
	var = in_node("tree/var");
	ASSERT_INT(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		(void)unshare(CLONE_NEWNS);
		(void)!write(go[1], "x", 1);
		for (;;)
			(void)pause();
	}
	ASSERT_INT(read(go[0], &byte, 1), 1);
	ASSERT_INT(umount(var), 0);
	ASSERT(disk_is_attached(image));
	ASSERT_OK(native_disk_up(&spec, &err));
	put("tree/var/kept", "text");
	(void)kill(pid, SIGKILL);
	ASSERT_INT(waitpid(pid, NULL, 0), pid);
	assert_kept("tree/var/kept", "text");
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT(is_gone());
}

/* Such a disk can't grow, and that is said. */
TEST(a_disk_that_another_process_has_mounted_does_not_grow)
{
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;
	cleanup_free char *log = xasprintf("%s/log", test_dir());
	cleanup_free char *expected = NULL;
	char byte;
	int go[2];
	pid_t pid;

	begin();
	ASSERT_INT(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)unshare(CLONE_NEWNS);
		(void)!write(go[1], "x", 1);
		for (;;)
			(void)pause();
	}
	ASSERT_INT(read(go[0], &byte, 1), 1);
	ASSERT_OK(log_open(log, &err));
	spec.disk_bytes = 200 * MIB;
	ASSERT_OK(native_disk_up(&spec, &err));
	ASSERT_INT(native_disk_size(&spec), 64 * MIB);
	ASSERT_OK(file_read(log, 1 << 20, &words, &err));
	expected = xasprintf("'node-9' did not grow: process %d still has it mounted", (int)pid);
	ASSERT(strstr(words.text, expected));
	(void)kill(pid, SIGKILL);
	ASSERT_INT(waitpid(pid, NULL, 0), pid);
	ASSERT_OK(native_disk_up(&spec, &err));
	ASSERT_INT(native_disk_size(&spec), 200 * MIB);
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT_INT(native_disk_size(&spec), 200 * MIB);
}

TEST(what_a_stopped_node_keeps_can_be_looked_at)
{
	int status;
	pid_t pid;

	begin();
	put("tree/var/kept", "text");
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	pid = fork();
	if (pid == 0) {
		cleanup_free char *path = in_node("tree/var/kept");
		int r = native_disk_show(&spec, NULL);

		_exit(r == 0 && file_exists(path) && unlink(path) < 0 && errno == EROFS ? 0 : 1);
	}
	ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
	ASSERT(is_gone());
}

TEST(a_node_without_a_disk_has_none)
{
	cleanup_free char *image = NULL;

	spec.dir = test_dir();
	spec.disk_bytes = 0;
	image = in_node("disk.img");
	ASSERT_OK(native_disk_up(&spec, &err));
	ASSERT_OK(disk_unmount_below(spec.dir, &err));
	ASSERT_OK(native_disk_show(&spec, &err));
	ASSERT(!file_exists(image));
}

/* Names of directories may have what mountinfo writes otherwise. */
TEST(mounts_are_found_by_their_names)
{
	cleanup_free char *dir = xasprintf("%s/a b\\c", test_dir());
	cleanup_free char *deep = xasprintf("%s/d\n/e", dir);
	cleanup_free char *beside = xasprintf("%s-beside", dir);

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		test_skip("needs root");
	ASSERT_OK(file_make_dirs(deep, 0755, &err));
	ASSERT_OK(file_make_dirs(beside, 0755, &err));
	ASSERT_INT(mount("one", deep, "tmpfs", 0, NULL), 0);
	ASSERT_INT(mount("two", deep, "tmpfs", 0, NULL), 0);
	ASSERT_INT(mount("three", beside, "tmpfs", 0, NULL), 0);
	ASSERT_OK(disk_unmount_below(dir, &err));
	ASSERT(!disk_is_mounted(deep));
	ASSERT(disk_is_mounted(beside));
	ASSERT_OK(disk_unmount_below("/nonexistent", &err));
}
