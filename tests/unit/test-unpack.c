#include "image/room.h"
#include "image/unpack.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/file.h"
#include "tar-maker.h"
#include "test.h"

#define ADD(...) tar_maker_add(&tar, &(struct tar_member){ __VA_ARGS__ })

/* Unpack TAR into the directory "layer" of the test; errors are told in ERR. */
static int unpack(struct strbuf *tar, uint64_t reserve, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/layer", test_dir());
	cleanup_with(strlist_release) struct strlist made = STRLIST_INIT;
	struct stream_memory memory;
	struct room room;
	cleanup_fd int dir = -1;

	tar_maker_end(tar);
	(void)mkdir(path, 0755);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT(dir >= 0);
	ASSERT_INT(room_open(&room, dir, reserve, NULL), 0);
	stream_memory_open(&memory, tar->text, tar->len);
	return unpack_layer(&memory.stream, dir, &room, &made, err);
}

static void unpack_well(struct strbuf *tar)
{
	struct error err = ERROR_INIT;
	int r = unpack(tar, 1, &err);

	if (r < 0)
		test_fail(__FILE__, __LINE__, "unpacking failed: %s", err.text);
}

static void assert_refused(struct strbuf *tar, const char *part)
{
	struct error err = ERROR_INIT;

	ASSERT(unpack(tar, 1, &err) < 0);
	if (!strstr(err.text, part))
		test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.text, part);
	error_clear(&err);
}

static char *at(const char *path)
{
	return xasprintf("%s/layer/%s", test_dir(), path);
}

static struct stat status_of(const char *path)
{
	cleanup_free char *file = at(path);
	struct stat st;

	if (lstat(file, &st) < 0)
		test_fail(__FILE__, __LINE__, "'%s' is missing", path);
	return st;
}

static bool exists(const char *path)
{
	cleanup_free char *file = at(path);
	struct stat st;

	return lstat(file, &st) == 0;
}

static bool is_opaque(const char *path)
{
	cleanup_free char *file = at(path);
	char value = 0;

	return lgetxattr(file, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

static bool is_whiteout(const char *path)
{
	struct stat st = status_of(path);

	return S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0);
}

static void assert_text(const char *path, const char *expected)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *file = at(path);

	ASSERT_OK(file_read(file, 1 << 20, &text, &err));
	ASSERT_STR(text.text, expected);
}

TEST(owners_modes_and_times_are_those_of_the_layer)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	struct stat st;

	ADD(.path = "./", .type = '5', .mode = 0700, .uid = 9);
	ADD(.path = "./tmp/", .type = '5', .mode = 01777, .mtime = 11);
	ADD(.path = "./tmp/su", .text = "x", .mode = 04755, .uid = 1000, .gid = 50, .mtime = 22);
	ADD(.path = "./tmp/link", .type = '2', .target = "/etc/none", .uid = 5, .mtime = 33);
	ADD(.path = "./tmp/pipe", .type = '6', .mode = 0622);
	unpack_well(&tar);
	/* containerd leaves the root as it is, too. */
	st = status_of("");
	ASSERT_INT(st.st_mode & 07777, 0755);
	ASSERT_INT(st.st_uid, 0);
	st = status_of("tmp");
	ASSERT_INT(st.st_mode & 07777, 01777);
	ASSERT_INT(st.st_mtime, 11);
	st = status_of("tmp/su");
	ASSERT_INT(st.st_mode & 07777, 04755);
	ASSERT_INT(st.st_uid, 1000);
	ASSERT_INT(st.st_gid, 50);
	ASSERT_INT(st.st_mtime, 22);
	st = status_of("tmp/link");
	ASSERT(S_ISLNK(st.st_mode));
	ASSERT_INT(st.st_uid, 5);
	ASSERT_INT(st.st_mtime, 33);
	st = status_of("tmp/pipe");
	ASSERT(S_ISFIFO(st.st_mode));
	ASSERT_INT(st.st_mode & 07777, 0622);
}

TEST(hard_links_share_their_file)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;

	ADD(.path = "a/file", .text = "shared");
	ADD(.path = "b/link", .type = '1', .target = "./a/file");
	unpack_well(&tar);
	assert_text("b/link", "shared");
	ASSERT_INT(status_of("a/file").st_ino, status_of("b/link").st_ino);
	/* Missing directories are made. */
	ASSERT_INT(status_of("b").st_mode & 07777, 0755);
}

TEST(whiteouts_become_those_of_overlayfs)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;

	ADD(.path = "etc/.wh.gone");
	ADD(.path = "var/", .type = '5');
	ADD(.path = "var/.wh..wh..opq");
	ADD(.path = "var/new", .text = "new");
	ADD(.path = ".wh..wh.plnk/1.2", .text = "of AUFS");
	ADD(.path = ".wh..wh.aufs", .text = "of AUFS");
	unpack_well(&tar);
	ASSERT(is_whiteout("etc/gone"));
	ASSERT(!exists("etc/.wh.gone"));
	ASSERT(is_opaque("var"));
	ASSERT(!is_opaque("etc"));
	assert_text("var/new", "new");
	ASSERT(!exists(".wh..wh.aufs"));
}

TEST(a_whiteout_hides_nothing_of_its_own_layer)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;

	ADD(.path = "file", .text = "kept");
	ADD(.path = ".wh.file");
	ADD(.path = "dir/kept", .text = "kept");
	ADD(.path = ".wh.dir");
	ADD(.path = ".wh.later");
	ADD(.path = "later/", .type = '5');
	unpack_well(&tar);
	assert_text("file", "kept");
	assert_text("dir/kept", "kept");
	ASSERT(is_opaque("dir"));
	ASSERT(is_opaque("later"));
}

TEST(attributes_are_set_but_not_those_of_overlayfs)
{
	static const char capability[20] = { 1, 0, 0, 2, 0, 4 };
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf pax = STRBUF_INIT;
	cleanup_free char *file = at("file");
	char value[64];

	tar_maker_pax(&pax, "SCHILY.xattr.user.note", "text", 4);
	tar_maker_pax(&pax, "SCHILY.xattr.user.overlay.redirect", "/etc", 4);
	tar_maker_pax(&pax, "SCHILY.xattr.trusted.overlay.opaque", "y", 1);
	tar_maker_pax(&pax, "SCHILY.xattr.security.capability", capability, 20);
	ADD(.path = "file", .pax = &pax, .uid = 5);
	unpack_well(&tar);
	ASSERT_INT(getxattr(file, "user.note", value, sizeof(value)), 4);
	ASSERT(getxattr(file, "security.capability", value, sizeof(value)) >= 20);
	ASSERT(getxattr(file, "user.overlay.redirect", value, sizeof(value)) < 0);
	ASSERT(getxattr(file, "trusted.overlay.opaque", value, sizeof(value)) < 0);
}

TEST(later_entries_replace_earlier_ones)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;

	ADD(.path = "a/b/file", .text = "old");
	ADD(.path = "a", .text = "file now");
	ADD(.path = "dir/", .type = '5', .mode = 0700);
	ADD(.path = "dir/file", .text = "stays");
	ADD(.path = "dir", .type = '5', .mode = 0711);
	ADD(.path = "link", .type = '2', .target = "dir");
	ADD(.path = "link", .text = "file now");
	unpack_well(&tar);
	assert_text("a", "file now");
	assert_text("dir/file", "stays");
	ASSERT_INT(status_of("dir").st_mode & 07777, 0711);
	assert_text("link", "file now");
}

TEST(devices_are_left_out)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;

	ADD(.path = "dev/null", .type = '3');
	ADD(.path = "dev/sda", .type = '4');
	unpack_well(&tar);
	ASSERT(exists("dev"));
	ASSERT(!exists("dev/null"));
	ASSERT(!exists("dev/sda"));
}

TEST(links_lead_nowhere_outside)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	cleanup_free char *outside = xasprintf("%s/outside", test_dir());
	cleanup_free char *victim = xasprintf("%s/victim", outside);

	ASSERT_OK(file_make_dirs(outside, 0755, &err));
	ADD(.path = "up", .type = '2', .target = "../outside");
	ADD(.path = "outside/", .type = '5');
	ADD(.path = "up/victim", .text = "inside");
	ADD(.path = "host", .type = '2', .target = outside);
	ADD(.path = "root", .type = '2', .target = "/");
	ADD(.path = "root/victim", .text = "inside");
	ADD(.path = "/absolute/victim", .text = "inside");
	unpack_well(&tar);
	ASSERT(!file_exists(victim));
	assert_text("outside/victim", "inside");
	assert_text("victim", "inside");
	assert_text("absolute/victim", "inside");

	strbuf_reset(&tar);
	ADD(.path = "host/victim", .text = "x");
	assert_refused(&tar, "'host'");
	ASSERT(!file_exists(victim));
}

TEST(a_link_that_is_replaced_is_not_followed)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	cleanup_free char *victim = xasprintf("%s/victim", test_dir());

	ASSERT_OK(file_put(victim, "unharmed", 8, 0600, &err));
	ADD(.path = "file", .type = '2', .target = victim);
	ADD(.path = "file", .text = "new", .mode = 0777, .uid = 7);
	ADD(.path = "again", .type = '2', .target = victim);
	ADD(.path = "again", .type = '5', .mode = 0777);
	unpack_well(&tar);
	assert_text("file", "new");
	assert_text("../victim", "unharmed");
	ASSERT_INT(status_of("../victim").st_mode & 07777, 0600);
}

TEST(names_that_lead_out_are_refused)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;

	ADD(.path = "../victim", .text = "x");
	assert_refused(&tar, "leads out of the layer");
	strbuf_reset(&tar);
	ADD(.path = "a/../../victim", .text = "x");
	assert_refused(&tar, "leads out of the layer");
	strbuf_reset(&tar);
	ADD(.path = "link", .type = '1', .target = "../../etc/passwd");
	assert_refused(&tar, "leads out of the layer");
	strbuf_reset(&tar);
	ADD(.path = "link", .type = '1', .target = "/etc/passwd");
	assert_refused(&tar, "'link'");
	strbuf_reset(&tar);
	ADD(.path = "a/.wh...");
	assert_refused(&tar, "hides nothing");
	strbuf_reset(&tar);
	ADD(.path = "a/.wh.");
	assert_refused(&tar, "hides nothing");
}

TEST(hard_links_do_not_leave_through_symbolic_ones)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	cleanup_free char *secret = xasprintf("%s/secret", test_dir());

	ASSERT_OK(file_put(secret, "secret", 6, 0600, &err));
	ADD(.path = "up", .type = '2', .target = test_dir());
	ADD(.path = "link", .type = '1', .target = "up/secret");
	assert_refused(&tar, "'link'");
}

TEST(what_needs_the_layers_below_is_refused)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;

	ADD(.path = "bin", .type = '2', .target = "usr/bin");
	ADD(.path = "bin/extra", .text = "x");
	assert_refused(&tar, "'bin' is a symbolic link to a directory that is not in the same");
	strbuf_reset(&tar);
	ADD(.path = "link", .type = '1', .target = "file");
	assert_refused(&tar, "'link' is a hard link to 'file', which is not in the same layer");
	strbuf_reset(&tar);
	ADD(.path = "link", .type = '1', .target = "a/b/file");
	assert_refused(&tar, "'link' is a hard link to 'a/b/file', which is not in the same");
}

TEST(owners_that_no_node_has_are_refused)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf pax = STRBUF_INIT;

	tar_maker_pax(&pax, "uid", "8388608", 7);
	ADD(.path = "file", .pax = &pax);
	assert_refused(&tar, "the owner of 'file'");
}

TEST(the_disk_is_not_filled)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	struct error err = ERROR_INIT;

	ADD(.path = "file", .text = "x");
	ASSERT_INT(unpack(&tar, UINT64_C(1) << 60, &err), -ENOSPC);
	ASSERT(err.reason == &reason_storage);
	error_clear(&err);
}

TEST(entries_without_contents_count_as_well)
{
	struct room room;
	cleanup_fd int dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = 0;

	ASSERT_INT(room_open(&room, dir, UINT64_C(1) << 60, NULL), 0);
	room.unchecked = 0;
	for (unsigned i = 0; r == 0 && i < 10000; i++)
		r = room_take(&room, 4096, NULL);
	ASSERT_INT(r, -ENOSPC);
}

TEST(a_disk_on_which_images_hardly_fit_is_known_beforehand)
{
	struct statvfs disk = { .f_frsize = 4096, .f_blocks = 1400 << 8, .f_bavail = 1400 << 8 };

	/* 1400 MiB: 1024 of them stay free. */
	ASSERT_INT(room_reserve(&disk) >> 20, 1024);
	ASSERT(room_is_scarce(&disk));
	disk.f_bavail = disk.f_blocks = 3000 << 8;
	ASSERT(!room_is_scarce(&disk));
	/* 5 % of 100 GiB. */
	disk.f_blocks = 100 << 18;
	disk.f_bavail = 5 << 18;
	ASSERT_INT(room_reserve(&disk) >> 30, 5);
	ASSERT(room_is_scarce(&disk));
}
