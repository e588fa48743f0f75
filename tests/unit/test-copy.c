#include "cluster/copy.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/strlist.h"
#include "test.h"

/* Both ends are this host: the same programs do the work on a node. */

static struct strlist given;

static const char *at(const char *path)
{
	strlist_addf(&given, "%s/%s", test_folder(), path);
	return given.items[given.count - 1];
}

static void make(const char *path, const char *text, mode_t mode)
{
	const char *full = at(path);
	cleanup_free char *folder = xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ASSERT_OK(file_make_dirs(folder, 0755, &err));
	ASSERT_OK(file_put(full, text, strlen(text), 0600, &err));
	ASSERT_INT(chmod(full, mode), 0);
}

static int copy(const char *from, const char *to, struct error *err)
{
	return copy_path(&(struct copy_end){ NULL, at(from) }, &(struct copy_end){ NULL, at(to) },
			 err);
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

/* What is in the folder PATH, so that nothing is left beside a copy. */
static void assert_count(const char *path, unsigned want)
{
	cleanup_dir DIR *dir = opendir(at(path));
	unsigned count = 0;
	struct dirent *entry;

	ASSERT(dir);
	while ((entry = readdir(dir)))
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

TEST(a_file_goes_into_a_folder_with_its_own_name)
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

TEST(a_folder_is_copied_with_links_and_modes_but_without_rights)
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

TEST(a_folder_adds_to_one_that_is_there_and_leaves_its_mode)
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
		{ "from/a", "absent/x", "absent' is not a folder", 35 },
		{ "from/a", "absent/", "absent/' is not a folder", 35 },
		{ "from/a", "to", "/to/a' is a folder, the source is a file", 80 },
		{ "from", "to/file", "/to/file' is a file, the source is a folder", 80 },
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

TEST(under_sudo_the_copy_belongs_to_the_person)
{
	struct stat st;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(setenv("SUDO_UID", "12345", 1), 0);
	ASSERT_INT(setenv("SUDO_GID", "12346", 1), 0);
	make("from/d/a", "a", 0644);
	make("to/x", "", 0644);
	/* Also where it adds to a folder, which stays whose it is. */
	for (int i = 0; i < 2; i++) {
		ASSERT_OK(copy("from/d", "to", &err));
		ASSERT_INT(stat(at("to/d/a"), &st), 0);
		ASSERT_INT(st.st_uid, 12345);
		ASSERT_INT(st.st_gid, 12346);
	}
	ASSERT_INT(stat(at("to"), &st), 0);
	ASSERT_INT(st.st_uid, 0);
}
