#include "data/dockerignore.h"
#include "test.h"

/* Whether PATH and the directories above it, looked at one after the other, are ignored under the
 * rules TEXT. */
static bool is_ignored(const char *text, const char *path)
{
	cleanup_with(dockerignore_release) struct dockerignore ignore = DOCKERIGNORE_INIT;
	bool matched[2][16] = { { false } };
	bool has_above = false;
	bool result = false;

	ASSERT_OK(dockerignore_parse("file", text, strlen(text), &ignore, &err));
	ASSERT(ignore.count <= 16);
	for (size_t end = strcspn(path, "/");; end += 1 + strcspn(path + end + 1, "/")) {
		cleanup_free char *part = xstrndup(path, end);

		result = dockerignore_match(&ignore, part, has_above ? matched[0] : NULL,
					    matched[1]);
		memcpy(matched[0], matched[1], sizeof(matched[0]));
		has_above = true;
		if (!path[end])
			return result;
	}
}

TEST(a_pattern_ignores_a_path_and_all_below_it)
{
	ASSERT(is_ignored("a\n", "a"));
	ASSERT(is_ignored("a\n", "a/b/c"));
	ASSERT(is_ignored("/a/\n", "a/b"));
	ASSERT(is_ignored("./a/../b//c/\n", "b/c"));
	ASSERT(!is_ignored("a\n", "ab"));
	ASSERT(!is_ignored("a\n", "b/a"));
	ASSERT(!is_ignored("", "a"));
	ASSERT(!is_ignored("/\n.\n", "a"));
}

TEST(comments_and_blanks_are_no_patterns)
{
	ASSERT(is_ignored("\xef\xbb\xbf# x\n\n  a \t\r\n", "a"));
	ASSERT(!is_ignored("#a\n", "#a"));
	/* A blank before it makes a pattern of a comment. */
	ASSERT(is_ignored(" #a\n", "#a"));
}

TEST(asterisks_stay_in_a_directory)
{
	ASSERT(is_ignored("*.txt", "a.txt"));
	ASSERT(!is_ignored("*.txt", "b/a.txt"));
	ASSERT(is_ignored("*/*.txt", "b/a.txt"));
	ASSERT(is_ignored("*", "b/a.txt"));
	ASSERT(is_ignored("a?c", "abc"));
	ASSERT(is_ignored("a?c", "a\xc3\xa4"
				 "c"));
	ASSERT(!is_ignored("a?c", "a/c"));
}

TEST(two_asterisks_are_any_number_of_directories)
{
	ASSERT(is_ignored("**/a", "a"));
	ASSERT(is_ignored("**/a", "x/y/a"));
	ASSERT(!is_ignored("**/a", "x/ya"));
	ASSERT(is_ignored("**a", "x/ya"));
	ASSERT(is_ignored("x/**/a", "x/a"));
	ASSERT(is_ignored("x/**/a", "x/y/z/a"));
	ASSERT(!is_ignored("x/**/a", "x/ya"));
	ASSERT(is_ignored("x/**", "x/y"));
	ASSERT(!is_ignored("x/**", "x"));
	ASSERT(is_ignored("**", "x/y"));
	ASSERT(is_ignored("**/*.go", "x/y.go"));
	ASSERT(is_ignored("**/x/**", "a/x/y"));
	ASSERT(is_ignored("*/**/x*", "a/b/c/xy"));
}

TEST(classes_are_those_of_go)
{
	ASSERT(is_ignored("[a-c]x", "bx"));
	ASSERT(!is_ignored("[^a-c]x", "bx"));
	ASSERT(is_ignored("[^a-c]x", "dx"));
	ASSERT(is_ignored("[!a]x", "!x"));
	ASSERT(is_ignored("[\\]]x", "]x"));
	ASSERT(is_ignored("\\*x", "*x"));
	ASSERT(!is_ignored("\\*x", "yx"));
	ASSERT(is_ignored("a.+(b)|{$", "a.+(b)|{$"));
	ASSERT(!is_ignored("a.*", "ab"));
}

TEST(the_last_pattern_that_matches_decides)
{
	static const char rules[] = "*.txt\n!keep.txt\ndir\n! dir/keep/me\n";

	ASSERT(is_ignored(rules, "a.txt"));
	ASSERT(!is_ignored(rules, "keep.txt"));
	ASSERT(is_ignored(rules, "dir/keep/other"));
	ASSERT(!is_ignored(rules, "dir/keep/me"));
	ASSERT(!is_ignored(rules, "dir/keep/me/too"));
	ASSERT(is_ignored("!a\na\n", "a"));
}

TEST(ignored_directories_with_exceptions_are_looked_into)
{
	cleanup_with(dockerignore_release) struct dockerignore ignore = DOCKERIGNORE_INIT;
	static const char rules[] = "*\n!a/b/c\n";

	ASSERT_OK(dockerignore_parse("file", rules, strlen(rules), &ignore, &err));
	ASSERT(dockerignore_excepts_below(&ignore, "a"));
	ASSERT(dockerignore_excepts_below(&ignore, "a/b"));
	ASSERT(!dockerignore_excepts_below(&ignore, "a/b/c"));
	ASSERT(!dockerignore_excepts_below(&ignore, "ab"));
	dockerignore_release(&ignore);
	ASSERT_OK(dockerignore_parse("file", "!**/x", 5, &ignore, &err));
	ASSERT(dockerignore_excepts_below(&ignore, "anything"));
}

TEST(wrong_patterns_are_refused_with_their_line)
{
	static const char *const wrong[] = { "!",     "a[",    "a[]", "a[b-a]",
					     "a[-b]", "a[b-]", "a\\", "a[b\\" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_with(dockerignore_release) struct dockerignore ignore = DOCKERIGNORE_INIT;
		cleanup_with(error_clear) struct error err = ERROR_INIT;
		cleanup_free char *text = xasprintf("good\n%s\n", wrong[i]);

		ASSERT_INT(dockerignore_parse("f", text, strlen(text), &ignore, &err), -EINVAL);
		ASSERT(strncmp(err.text, "f:2: ", 5) == 0);
	}
}

TEST(many_asterisks_take_no_time)
{
	cleanup_free char *path = xmalloc(4001);

	memset(path, 'a', 4000);
	path[4000] = '\0';
	ASSERT(!is_ignored("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", path));
	ASSERT(!is_ignored("x/**/a/**/a/**/a/**/a/**/b", path));
}
