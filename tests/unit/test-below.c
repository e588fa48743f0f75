#include <sys/stat.h>
#include <unistd.h>

#include "base/below.h"
#include "base/file.h"
#include "test.h"

/* A directory that somebody else writes to, and a file outside of it. */
static char *make_theirs(char **ret_outside)
{
	char *theirs = xasprintf("%s/theirs", test_dir());

	*ret_outside = xasprintf("%s/outside", test_dir());
	ASSERT_OK(file_make_dirs(theirs, 0755, &err));
	ASSERT_OK(file_make_dirs(*ret_outside, 0755, &err));
	return theirs;
}

TEST(puts_and_reads_and_makes_the_dirs_between)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *path = xasprintf("%s/etc/a/b", theirs);
	struct stat st;

	ASSERT_OK(below_put(theirs, "etc/a/b", "one", 3, 0600, &err));
	ASSERT_OK(below_put(theirs, "/etc/a/b", "two", 3, 0640, &err));
	ASSERT_OK(below_read(theirs, "etc/a/b", 100, &text, &err));
	ASSERT_STR(text.text, "two");
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0640);
	ASSERT_INT(below_read(theirs, "etc/a/c", 100, &text, NULL), -ENOENT);
}

TEST(a_link_in_the_way_is_not_followed)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *link = xasprintf("%s/etc", theirs);
	cleanup_free char *secret = xasprintf("%s/secret", outside);
	cleanup_free char *victim = xasprintf("%s/file", outside);

	ASSERT_OK(file_put(secret, "s", 1, 0600, &err));
	ASSERT_INT(symlink(outside, link), 0);
	ASSERT_INT(below_put(theirs, "etc/file", "x", 1, 0600, NULL), -ENOTDIR);
	ASSERT_INT(below_make_dir(theirs, "etc/deep/er", 0755, NULL, NULL), -ENOTDIR);
	ASSERT_INT(below_read(theirs, "etc/secret", 100, &text, NULL), -ELOOP);
	ASSERT(!file_exists(victim));
}

/* Replaced, for what is there is theirs; but not what it leads to. */
TEST(a_link_in_the_place_of_the_file_is_replaced)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf there = STRBUF_INIT;
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *link = xasprintf("%s/file", theirs);
	cleanup_free char *secret = xasprintf("%s/secret", outside);

	ASSERT_OK(file_put(secret, "s", 1, 0600, &err));
	ASSERT_INT(symlink(secret, link), 0);
	ASSERT_INT(below_read(theirs, "file", 100, &text, NULL), -ELOOP);
	ASSERT_OK(below_put(theirs, "file", "x", 1, 0600, &err));
	ASSERT_OK(below_read(theirs, "file", 100, &text, &err));
	ASSERT_STR(text.text, "x");
	ASSERT_OK(file_read(secret, 100, &there, &err));
	ASSERT_STR(there.text, "s");
}

/* A temporary name, too: what it leads to, or a reader of it, would be somebody else. */
TEST(links_and_pipes_at_temporary_names_are_replaced)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *temporary = xasprintf("%s/file.new", theirs);
	cleanup_free char *other = xasprintf("%s/other", theirs);
	cleanup_free char *victim = xasprintf("%s/file", outside);

	ASSERT_INT(symlink(victim, temporary), 0);
	ASSERT_OK(below_put(theirs, "file", "x", 1, 0600, &err));
	ASSERT(!file_exists(victim));
	ASSERT_INT(mkfifo(temporary, 0600), 0);
	ASSERT_OK(below_put(theirs, "file", "y", 1, 0600, &err));
	ASSERT_OK(below_read(theirs, "file", 100, &text, &err));
	ASSERT_STR(text.text, "y");
	ASSERT_INT(mkfifo(other, 0600), 0);
	ASSERT_INT(below_read(theirs, "other", 100, &text, NULL), -EINVAL);
	ASSERT_OK(below_put(theirs, "other", "z", 1, 0600, &err));
}

/* Whoever has the old file open does not get to see or change what is in the new one. */
TEST(a_file_at_the_temporary_name_is_not_written_to)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *temporary = xasprintf("%s/file.new", theirs);
	cleanup_free char *kept = xasprintf("%s/kept", theirs);

	ASSERT_OK(file_put(temporary, "old", 3, 0666, &err));
	ASSERT_INT(link(temporary, kept), 0);
	ASSERT_OK(below_put(theirs, "file", "secret", 6, 0600, &err));
	ASSERT_OK(file_read(kept, 100, &text, &err));
	ASSERT_STR(text.text, "old");
}

TEST(only_directories_that_are_made_get_the_mode)
{
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *old = xasprintf("%s/old", theirs);
	cleanup_free char *new = xasprintf("%s/old/new", theirs);
	struct stat st;

	(void)umask(077);
	ASSERT_INT(mkdir(old, 0711), 0);
	ASSERT_INT(chmod(old, 0711), 0);
	ASSERT_OK(below_make_dir(theirs, "old/new", 01777, NULL, &err));
	ASSERT_OK(below_make_dir(theirs, "old/new", 0700, NULL, &err));
	ASSERT_INT(stat(old, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0711);
	ASSERT_INT(stat(new, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 01777);
}

TEST(nothing_is_made_outside_of_the_dir)
{
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);

	ASSERT_INT(below_make_dir(theirs, "../escaped", 0755, NULL, NULL), -EXDEV);
	ASSERT_INT(below_put(theirs, "a/../../escaped", "x", 1, 0644, NULL), -EXDEV);
}

/* Open PATH with below_follow(), THEIRS being what others write to; 0 if it is EXPECTED, which may
 * be NULL. */
static int try_follow(const char *theirs, const char *path, const char *expected)
{
	cleanup_with(strlist_release) struct strlist writable = STRLIST_INIT;
	cleanup_fd int fd = -1;
	struct stat here;
	struct stat there;
	int r;

	strlist_add(&writable, "/missing");
	strlist_add(&writable, theirs);
	r = below_follow(path, &writable, &fd, NULL);
	if (r < 0 || !expected)
		return r;
	ASSERT_INT(fstat(fd, &here), 0);
	ASSERT_INT(stat(expected, &there), 0);
	return here.st_ino == there.st_ino && here.st_dev == there.st_dev ? 0 : 1;
}

TEST(links_of_the_host_are_followed_and_those_of_others_are_not)
{
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *dir = xasprintf("%s/sub", theirs);
	cleanup_free char *inner = xasprintf("%s/inner", theirs);
	cleanup_free char *up = xasprintf("%s/up", theirs);
	cleanup_free char *away = xasprintf("%s/away", theirs);
	cleanup_free char *ours = xasprintf("%s/ours", outside);
	cleanup_free char *relative = xasprintf("%s/relative", outside);
	cleanup_free char *through = xasprintf("%s/ours/away", outside);
	cleanup_free char *good = xasprintf("%s/relative/sub", outside);
	cleanup_free char *circle = xasprintf("%s/circle", outside);

	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	ASSERT_INT(symlink("sub", inner), 0);
	ASSERT_INT(symlink("../outside", up), 0);
	ASSERT_INT(symlink("/", away), 0);
	ASSERT_INT(symlink(theirs, ours), 0);
	ASSERT_INT(symlink("../theirs", relative), 0);
	ASSERT_INT(symlink("circle", circle), 0);
	ASSERT_INT(try_follow(theirs, "/", "/"), 0);
	ASSERT_INT(try_follow(theirs, theirs, theirs), 0);
	ASSERT_INT(try_follow(theirs, ours, theirs), 0);
	ASSERT_INT(try_follow(theirs, dir, dir), 0);
	ASSERT_INT(try_follow(theirs, good, dir), 0);
	ASSERT_INT(try_follow(theirs, inner, NULL), -ELOOP);
	ASSERT_INT(try_follow(theirs, up, NULL), -ELOOP);
	ASSERT_INT(try_follow(theirs, away, NULL), -ELOOP);
	ASSERT_INT(try_follow(theirs, through, NULL), -ELOOP);
	ASSERT_INT(try_follow(theirs, circle, NULL), -ELOOP);
	ASSERT_INT(try_follow("/", through, "/"), 0);
}

/* It is writable itself, so all below its target seems to be:
 * not a wider place for links to lead. */
TEST(a_writable_directory_replaced_by_a_link_to_its_parent_is_not_followed)
{
	cleanup_with(strlist_release) struct strlist writable = STRLIST_INIT;
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *up = xasprintf("%s/up", theirs);
	int fd;

	ASSERT_INT(symlink("..", up), 0);
	strlist_add(&writable, theirs);
	strlist_add(&writable, up);
	ASSERT_INT(below_follow(up, &writable, &fd, NULL), -ELOOP);
}

TEST(a_link_of_a_user_leads_only_to_files_of_that_user)
{
	cleanup_free char *outside = NULL;
	cleanup_free char *theirs = make_theirs(&outside);
	cleanup_free char *link = xasprintf("%s/link", outside);
	cleanup_free char *second = xasprintf("%s/second", outside);

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(symlink(theirs, link), 0);
	ASSERT_INT(lchown(link, 12345, 12345), 0);
	ASSERT_INT(chown(theirs, 0, 0), 0);
	ASSERT_INT(try_follow("/missing", link, NULL), -EXDEV);
	ASSERT_INT(chown(theirs, 12345, 12345), 0);
	ASSERT_INT(try_follow("/missing", link, theirs), 0);
	/* Nor through that of another user. */
	ASSERT_INT(symlink(link, second), 0);
	ASSERT_INT(lchown(second, 12346, 12346), 0);
	ASSERT_INT(try_follow("/missing", second, NULL), -EXDEV);
}
