#include "node/copy.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/strlist.h"
#include "node/copy-stream.h"
#include "tar-maker.h"
#include "test.h"

/* Both ends are this host: the same programs do the work on a node. */

static struct strlist given;

static const char *at(const char *path)
{
	strlist_addf(&given, "%s/%s", test_dir(), path);
	return given.items[given.count - 1];
}

static void make(const char *path, const char *text, mode_t mode)
{
	const char *full = at(path);
	cleanup_free char *dir = xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	ASSERT_OK(file_put(full, text, strlen(text), 0600, &err));
	ASSERT_INT(chmod(full, mode), 0);
}

static int copy(const char *from, const char *to, struct error *err)
{
	return copy_path(&(struct copy_end){ NULL, at(from) }, &(struct copy_end){ NULL, at(to) },
			 err);
}

/* The copy must fail with CODE (0: any) and WORDS in what is said. */
static void copy_fails(const char *from, const char *to, int code, const char *words)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = copy(from, to, &why);

	ASSERT(r < 0);
	if (code)
		ASSERT_INT(r, code);
	if (!strstr(why.text, words) && !(why.hint && strstr(why.hint, words)))
		test_fail(__FILE__, __LINE__, "it says \"%s\"", why.text);
}

static void assert_file(const char *path, const char *text, mode_t mode)
{
	cleanup_with(strbuf_release) struct strbuf got = STRBUF_INIT;
	struct stat st;

	ASSERT_OK(file_read(at(path), 65536, &got, &err));
	ASSERT_STR(got.text, text);
	ASSERT_INT(stat(at(path), &st), 0);
	ASSERT_INT(st.st_mode & 07777, mode);
}

/* What is in the directory PATH, so that nothing is left beside a copy. */
static void assert_count(const char *path, unsigned want)
{
	cleanup_dir DIR *stream = opendir(at(path));
	unsigned count = 0;
	struct dirent *entry;

	ASSERT(stream);
	while ((entry = readdir(stream)))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	ASSERT_INT(count, want);
}

TEST(a_file_gets_the_name_it_is_copied_to)
{
	make("from/-a b", "text", 0750);
	make("to/old", "old", 0644);
	ASSERT_OK(copy("from/-a b", "to/new", &err));
	assert_file("to/new", "text", 0750);
	ASSERT_OK(copy("from/-a b", "to/old", &err));
	assert_file("to/old", "text", 0750);
	assert_count("to", 2);
}

TEST(a_file_goes_into_a_dir_with_its_own_name)
{
	make("from/a", "text", 0644);
	ASSERT_INT(symlink("a", at("from/link")), 0);
	make("to/x", "", 0644);
	ASSERT_OK(copy("from/a", "to", &err));
	assert_file("to/a", "text", 0644);
	/* A link that is named is followed. */
	ASSERT_OK(copy("from/link", "to/", &err));
	assert_file("to/link", "text", 0644);
	assert_count("to", 3);
}

TEST(a_dir_is_copied_with_links_and_modes_but_without_rights)
{
	char target[16] = "";
	struct stat st;

	make("from/d/sub/tool", "tool", 04755);
	make("from/d/a", "a", 0664);
	ASSERT_INT(symlink("/nowhere", at("from/d/link")), 0);
	ASSERT_INT(chmod(at("from/d"), 0711), 0);
	make("to/x", "", 0644);
	ASSERT_OK(copy("from/d", "to", &err));
	assert_file("to/d/sub/tool", "tool", 0755);
	assert_file("to/d/a", "a", 0664);
	ASSERT_INT(readlink(at("to/d/link"), target, sizeof(target) - 1), 8);
	ASSERT_STR(target, "/nowhere");
	ASSERT_INT(stat(at("to/d"), &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0711);
	ASSERT_OK(copy("from/d", "to/named", &err));
	assert_file("to/named/a", "a", 0664);
	assert_count("to", 3);
}

TEST(copying_into_an_existing_dir_keeps_its_mode)
{
	struct stat st;

	make("from/d/a", "new", 0644);
	make("from/d/sub/b", "b", 0644);
	make("to/d/a", "old", 0600);
	make("to/d/mine", "mine", 0600);
	ASSERT_INT(chmod(at("to/d"), 0700), 0);
	ASSERT_OK(copy("from/d", "to", &err));
	assert_file("to/d/a", "new", 0644);
	assert_file("to/d/sub/b", "b", 0644);
	assert_file("to/d/mine", "mine", 0600);
	ASSERT_INT(stat(at("to/d"), &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0700);
	assert_count("to", 1);
	/* Only what is in it. */
	ASSERT_OK(copy("from/d/.", "to", &err));
	assert_file("to/a", "new", 0644);
}

TEST(what_cannot_be_copied_says_why_and_leaves_nothing)
{
	static const struct {
		const char *from, *to, *words;
		int exit_status;
	} cases[] = {
		{ "absent", "to/x", "absent' does not exist", 35 },
		{ "from/a", "absent/x", "absent' is not a directory", 35 },
		{ "from/a", "absent/", "absent/' is not a directory", 35 },
		{ "from/a", "to", "/to/a' is a directory, the source is a file", 80 },
		{ "from", "to/file", "/to/file' is a file, the source is a directory", 80 },
	};

	make("from/a", "a", 0644);
	make("to/a/x", "x", 0644);
	make("to/file", "x", 0644);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		ASSERT(copy(cases[i].from, cases[i].to, &why) < 0);
		if (!strstr(why.text, cases[i].words))
			test_fail(__FILE__, __LINE__, "it says \"%s\"", why.text);
		ASSERT_INT(why.reason->exit_status, cases[i].exit_status);
		assert_count("to", 2);
	}
}

TEST(a_file_of_the_kernel_is_refused_instead_of_copied_as_empty)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	make("from/empty", "", 0644);
	make("to/x", "", 0644);
	ASSERT_INT(copy_path(&(struct copy_end){ NULL, "/proc/version" },
			     &(struct copy_end){ NULL, at("to") }, &why),
		   -EINVAL);
	ASSERT_STR(why.text, "'/proc/version' has contents but no size, like the files of /proc");
	ASSERT_STR(why.hint, "'cat /proc/version' prints it");
	ASSERT_INT(why.reason->exit_status, 80);
	assert_count("to", 1);
	ASSERT_OK(copy("from/empty", "to", &err));
	assert_file("to/empty", "", 0644);
}

/* Be the user 12345 under sudo, who owns TO. */
static void call_by_sudo(const char *to)
{
	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(chmod(test_dir(), 0755), 0);
	ASSERT_INT(setenv("SUDO_UID", "12345", 1), 0);
	ASSERT_INT(setenv("SUDO_GID", "12346", 1), 0);
	ASSERT_INT(chown(at(to), 12345, 12346), 0);
}

TEST(under_sudo_the_copy_belongs_to_the_person)
{
	struct stat st;

	make("from/d/a", "a", 0644);
	make("from/d/closed/b", "b", 0400);
	make("to/x", "", 0644);
	ASSERT_INT(chmod(at("from/d/closed"), 0500), 0);
	call_by_sudo("to");
	ASSERT_INT(chown(at("from/d/closed"), 12345, 12346), 0);
	ASSERT_INT(chown(at("from/d/closed/b"), 12345, 12346), 0);
	/* Also where it adds to a directory. */
	for (int i = 0; i < 2; i++) {
		ASSERT_OK(copy("from/d", "to", &err));
		ASSERT_INT(stat(at("to/d/a"), &st), 0);
		ASSERT_INT(st.st_uid, 12345);
		ASSERT_INT(st.st_gid, 12346);
		ASSERT_INT(stat(at("to/d/closed"), &st), 0);
		ASSERT_INT(st.st_mode & 07777, i ? 0700 : 0500);
		assert_file("to/d/closed/b", "b", 0400);
		ASSERT_INT(chmod(at("to/d/closed"), 0700), 0);
	}
	assert_count("to", 2);
	ASSERT_INT(geteuid(), 0);
}

TEST(under_sudo_nothing_is_written_where_the_person_may_not)
{
	make("from/a", "a", 0644);
	make("to/x", "", 0644);
	make("closed/x", "x", 0644);
	call_by_sudo("to");
	copy_fails("from/a", "closed", -EACCES, "rights of user 12345");
	assert_count("closed", 1);
	/* Nor by a link of the person's. */
	ASSERT_INT(symlink(at("closed/x"), at("to/link")), 0);
	copy_fails("from/a", "to/link", -EACCES, "cannot");
	assert_file("closed/x", "x", 0644);
	assert_count("closed", 1);
}

TEST(under_sudo_nothing_is_read_that_the_person_may_not)
{
	make("from/secret", "x", 0600);
	make("closed/a", "x", 0644);
	make("to/x", "", 0644);
	call_by_sudo("to");
	ASSERT_INT(chmod(at("closed"), 0700), 0);
	copy_fails("from/secret", "to", 0, "Permission denied");
	copy_fails("closed/a", "to", -EACCES, "Permission denied");
	assert_count("to", 1);
}

/* Have tar pack what the shell commands SCRIPT make in an empty directory,
 * whatever is asked for. */
static void pack_instead(const char *script)
{
	cleanup_free char *path = xasprintf("%s/bin:%s", test_dir(), getenv("PATH"));
	cleanup_free char *text = xasprintf("#!/bin/sh\n"
					    "case $* in *--create*) cd %s/hostile; %s;; esac\n"
					    "exec /bin/tar \"$@\"\n",
					    test_dir(), script);

	ASSERT_OK(process_run(ARGV("rm", "-rf", (char *)(uintptr_t)at("hostile")), NULL, &err));
	ASSERT_INT(mkdir(at("hostile"), 0755), 0);
	make("bin/tar", text, 0755);
	if (strncmp(getenv("PATH"), test_dir(), strlen(test_dir())) != 0)
		ASSERT_INT(setenv("PATH", path, 1), 0);
}

TEST(an_archive_with_a_link_in_the_place_of_the_source_is_refused)
{
	char target[256];

	make("from/a", "a", 0644);
	make("from/d/a", "a", 0644);
	make("victim/secret", "secret", 0600);
	make("to/a", "old", 0644);
	make("to/d/old", "old", 0644);
	/* A file, new and there already. */
	pack_instead("ln -sf ../victim/secret a; exec /bin/tar -cf - ./a");
	copy_fails("from/a", "to", -EBADMSG, "was replaced meanwhile");
	copy_fails("from/a", "to/new", -EBADMSG, "was replaced meanwhile");
	ASSERT_INT(readlink(at("to/a"), target, sizeof(target)), -1);
	/* A directory that is added to. */
	pack_instead("ln -sf ../../victim d; exec /bin/tar -cf - ./d");
	copy_fails("from/d", "to", 0, "");
	assert_count("to/d", 1);
	assert_count("to", 2);
	assert_file("victim/secret", "secret", 0600);
}

TEST(a_second_copy_does_not_follow_links_of_the_first)
{
	make("from/d/a", "a", 0644);
	make("victim/file", "kept", 0644);
	make("to/x", "", 0644);
	pack_instead("mkdir d; ln -s ../../victim d/sub; ln -s ../../victim/file d/link; "
		     "exec /bin/tar -cf - ./d");
	ASSERT_OK(copy("from/d", "to", &err));
	pack_instead("mkdir -p d/sub; echo evil >d/link; echo evil >d/sub/file; "
		     "exec /bin/tar -cf - ./d");
	copy_fails("from/d", "to", -ENOTDIR, "cannot add to 'sub'");
	assert_file("victim/file", "kept", 0644);
	assert_count("victim", 1);
	assert_count("to", 2);
}

TEST(names_in_an_archive_do_not_lead_outside)
{
	make("from/d/a", "a", 0644);
	make("victim/file", "kept", 0644);
	make("to/x", "", 0644);
	pack_instead(
		"ln -s ../../victim d; mkdir -p e/sub; echo evil >e/file; cp -r e f;"
		"exec /bin/tar -cPf - --transform=s,^./e,./d, --transform=s,^./f,../../victim, "
		"./d ./e ./f");
	copy_fails("from/d", "to", 0, "");
	assert_file("victim/file", "kept", 0644);
	assert_count("victim", 1);
	assert_count("to", 1);
}

TEST(pipes_are_left_out)
{
	make("from/d/a", "a", 0644);
	make("to/x", "", 0644);
	ASSERT_INT(mkfifo(at("from/d/pipe"), 0644), 0);
	ASSERT_OK(copy("from/d", "to", &err));
	assert_count("to/d", 1);
}

TEST(what_a_program_says_is_shown_without_control_characters)
{
	make("from/a", "a", 0644);
	make("to/x", "", 0644);
	pack_instead("printf 'tar: \\033]0;evil\\007\\n' >&2; exit 2");
	copy_fails("from/a", "to", 0, "^[]0;evil^G");
}

/* Run instead of each program in a node. */
static int spawn_evil(arg_unused const struct node_spec *spec, arg_unused char *const *argv,
		      const struct process_options *options, struct process *ret, struct error *why)
{
	return process_spawn(ARGV("sh", "-c", "printf '\\033]0;evil\\007' >&2; exit 1"), options,
			     ret, why);
}

TEST(what_a_node_says_while_it_is_looked_at_is_not_printed)
{
	static const struct node_driver evil = { .spawn = spawn_evil };
	const struct cluster_node node = { .spec = { .name = "node-1" }, .driver = &evil };
	cleanup_with(strbuf_release) struct strbuf said = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_fd int terminal = open(at("terminal"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cleanup_fd int before = dup(STDERR_FILENO);

	ASSERT_INT(dup2(terminal, STDERR_FILENO), STDERR_FILENO);
	ASSERT_INT(copy_path(&(struct copy_end){ &node, "/etc/x" },
			     &(struct copy_end){ NULL, at("to") }, &why),
		   -ENOENT);
	ASSERT_INT(dup2(before, STDERR_FILENO), STDERR_FILENO);
	ASSERT_OK(file_read(at("terminal"), 4096, &said, &err));
	ASSERT_STR(said.text, "");
}

/* Pack a member of TYPE that says it has SIZE bytes, in 12 characters, and then what MORE prints.
 */
static void pack_member(char type, const char *size, const char *more)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	cleanup_free char *script = xasprintf("cat %s/header; %s; exit 0", test_dir(), more);

	tar_maker_add(&tar, &(struct tar_member){ .path = "./a", .type = type });
	memcpy(tar.text + 124, size, 12);
	tar_maker_seal(&tar, 0);
	ASSERT_OK(file_replace(at("header"), tar.text, 512, 0644, &err));
	pack_instead(script);
}

TEST(an_archive_takes_no_more_memory_than_its_limit)
{
	make("from/a", "a", 0644);
	make("to/x", "", 0644);
	/* A long name of 512 MiB. */
	pack_member('L', "04000000000", "head -c 536870912 /dev/zero");
	copy_fails("from/a", "to", 0, "emory exhausted");
	assert_count("to", 1);
}

TEST(an_archive_does_not_fill_the_disk)
{
	if (geteuid() != 0)
		test_skip("needs root");
	make("from/a", "a", 0644);
	make("to/x", "", 0644);
	ASSERT_INT(unshare(CLONE_NEWNS), 0);
	ASSERT_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ASSERT_INT(mount("none", at("to"), "tmpfs", 0, "size=64m"), 0);
	pack_member('0', "\200\0\0\0\0\4\0\0\0\0\0", "exec cat /dev/zero");
	copy_fails("from/a", "to", -ENOSPC, "free some space");
	assert_count("to", 0);
	/* Nor is it read for ever after its end, nor while somebody else holds its pipe. */
	pack_member('0', "00000000000", "exec cat /dev/zero");
	copy_fails("from/a", "to", 0, "");
	pack_member('0', "00000000000", "sleep 20 2>/dev/null & head -c 10240 /dev/zero");
	ASSERT_OK(copy("from/a", "to", &err));
	assert_count("to", 1);
}

TEST(a_node_that_sends_nothing_is_given_up)
{
	cleanup_with(process_release) struct process packer = PROCESS_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_fd int dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct process_options options = { .no_stdin = true };
	int64_t begin_ms = clock_now_ms();
	int ends[2];

	ASSERT_INT(pipe2(ends, O_CLOEXEC), 0);
	options.stdout_fd = ends[1];
	/* It has written something before, and each block counts. */
	ASSERT_OK(process_spawn(ARGV("sh", "-c", "sleep 0.7; echo; sleep 0.7; echo; sleep 60"),
				&options, &packer, &err));
	ASSERT_INT(copy_stream(ends[0], null, &packer, dir, 0, 1, &(int){ 0 }, &why), -ETIMEDOUT);
	ASSERT(strstr(why.text, "the node has sent nothing"));
	ASSERT(clock_now_ms() - begin_ms >= 2300);
	ASSERT(clock_now_ms() - begin_ms < 20000);
}

TEST(a_small_copy_needs_no_reserve)
{
	cleanup_with(process_release) struct process packer = PROCESS_INIT;
	cleanup_fd int dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const uint64_t reserve = UINT64_C(1) << 60;
	const int interrupted = 1;
	struct process_options options = { .no_stdin = true };
	int ends[2];

	ASSERT_INT(pipe(ends), 0);
	options.stdout_fd = ends[1];
	ASSERT_OK(process_spawn(ARGV("head", "-c", "16000000", "/dev/zero"), &options, &packer,
				&err));
	ASSERT_OK(copy_stream(ends[0], null, &packer, dir, reserve, 60, &(int){ 0 }, &err));
	ASSERT_INT(copy_stream(ends[0], null, &packer, dir, reserve, 60, &interrupted, NULL),
		   -EINTR);
}
