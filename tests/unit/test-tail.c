#include "base/file.h"
#include "cli/tail.h"
#include "test.h"

static struct strbuf out = STRBUF_INIT;
static char *path;

static struct tail open_with(const char *text)
{
	struct tail tail = { .fd = -1 };

	path = xasprintf("%s/log", test_folder());
	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
	ASSERT_OK(tail_open(test_folder(), "log", &tail, &err));
	return tail;
}

static const char *last(const char *text, unsigned lines)
{
	struct tail tail = open_with(text);

	strbuf_reset(&out);
	ASSERT_OK(tail_last(&tail, lines, &out, &err));
	tail_release(&tail);
	free(path);
	return out.text;
}

TEST(shows_the_last_lines)
{
	ASSERT_STR(last("a\nb\nc\n", 2), "b\nc\n");
	ASSERT_STR(last("a\nb\nc", 2), "b\nc");
	ASSERT_STR(last("a\n\n\n", 2), "\n\n");
	ASSERT_STR(last("a\nb\n", 9), "a\nb\n");
	ASSERT_STR(last("a\nb\n", 0), "");
	ASSERT_STR(last("", 3), "");
	strbuf_release(&out);
}

TEST(finds_lines_across_blocks)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < 40000; i++)
		strbuf_addf(&text, "line %u\n", i);
	ASSERT_INT(strlen(last(text.text, 30000)), strlen(strstr(text.text, "line 10000\n")));
	ASSERT_STR(last(text.text, 1), "line 39999\n");
	strbuf_release(&out);
}

TEST(goes_on_behind_a_rotation)
{
	cleanup_with(tail_release) struct tail tail = open_with("a\n");
	cleanup_free char *old = xasprintf("%s.1", path);

	ASSERT_OK(tail_last(&tail, 5, &out, &err));
	ASSERT_OK(tail_more(&tail, &out, &err));
	ASSERT_STR(out.text, "a\n");
	ASSERT_INT(rename(path, old), 0);
	ASSERT_OK(file_put(path, "b\n", 2, 0644, &err));
	ASSERT_OK(tail_more(&tail, &out, &err));
	ASSERT_OK(tail_more(&tail, &out, &err));
	ASSERT_STR(out.text, "a\nb\n");
	strbuf_release(&out);
	free(path);
}

TEST(follows_no_link_out_of_the_folder)
{
	cleanup_free char *inside = xasprintf("%s/inside", test_folder());
	cleanup_free char *link = xasprintf("%s/inside/log", test_folder());
	cleanup_free char *above = xasprintf("%s/inside/above", test_folder());
	cleanup_free char *pipe = xasprintf("%s/inside/pipe", test_folder());
	struct tail tail = { .fd = -1 };

	ASSERT_OK(file_make_dirs(inside, 0755, &err));
	ASSERT_INT(symlink("/etc/passwd", link), 0);
	ASSERT_INT(symlink("..", above), 0);
	ASSERT_INT(mkfifo(pipe, 0600), 0);
	ASSERT_INT(tail_open(inside, "log", &tail, NULL), -ELOOP);
	ASSERT_INT(tail_open(inside, "above/inside/log", &tail, NULL), -ELOOP);
	ASSERT_INT(tail_open(inside, "../inside/log", &tail, NULL), -EXDEV);
	ASSERT_INT(tail_open(inside, "pipe", &tail, NULL), -EINVAL);
}
