#include "base/file.h"
#include "fake-files.h"
#include "fake-world.h"
#include "look/log-reader.h"
#include "test.h"

static struct strbuf out = STRBUF_INIT;
static char *path;

/* A log of the host, and one of a node. */
static struct profile profile;
static struct log_source of_host;
static struct log_source of_node;

static void prepare(void)
{
	cleanup_free char *world_dir = xasprintf("%s/world", test_dir());
	struct node *node;

	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	fake_world_use(world_dir, 0);
	profile = (struct profile){ .name = xstrdup("dev"),
				    .dir = xstrdup(test_dir()),
				    .subnet = xstrdup("192.168.39.0/24"),
				    .gateway = xstrdup("192.168.39.1") };
	node = profile_add_node(&profile, "node-1");
	node->driver = xstrdup(fake_world_driver);
	node->address = xstrdup("192.168.39.2");
	of_host = (struct log_source){ .path = "log" };
	of_node = (struct log_source){ .node = (char *)(uintptr_t)node->name,
				       .path = "/var/log/log",
				       .in_node = true };
}

static void put(const char *text)
{
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	ASSERT_OK(file_make_dirs(parent, 0755, &err));
	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
}

static struct log_reader open_with(const struct log_source *log, const char *text)
{
	struct log_reader reader = LOG_READER_INIT;

	path = log->in_node ? fake_files_path(log->node, log->path)
			    : xasprintf("%s/log", test_dir());
	put(text);
	ASSERT_OK(log_reader_open(&profile, log, &reader, &err));
	return reader;
}

static const char *last(const char *text, unsigned lines)
{
	struct log_reader reader = open_with(&of_host, text);

	strbuf_reset(&out);
	ASSERT_OK(log_reader_last(&reader, lines, &out, &err));
	log_reader_release(&reader);
	free(path);
	return out.text;
}

TEST(shows_the_last_lines)
{
	prepare();
	ASSERT_STR(last("a\nb\nc\n", 2), "b\nc\n");
	ASSERT_STR(last("a\nb\nc", 2), "b\nc");
	ASSERT_STR(last("a\n\n\n", 2), "\n\n");
	ASSERT_STR(last("a\nb\n", 9), "a\nb\n");
	ASSERT_STR(last("a\nb\n", 0), "");
	ASSERT_STR(last("", 3), "");
	strbuf_release(&out);
	profile_release(&profile);
}

TEST(finds_lines_in_more_than_is_read_at_first)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	prepare();
	for (unsigned i = 0; i < 40000; i++)
		strbuf_addf(&text, "line %u\n", i);
	ASSERT_INT(strlen(last(text.text, 30000)), strlen(strstr(text.text, "line 10000\n")));
	ASSERT_STR(last(text.text, 1), "line 39999\n");
	strbuf_release(&out);
	profile_release(&profile);
}

static void rotate(const struct log_source *log)
{
	cleanup_with(log_reader_release) struct log_reader reader = open_with(log, "a\n");
	cleanup_free char *old = xasprintf("%s.1", path);

	strbuf_reset(&out);
	ASSERT_OK(log_reader_last(&reader, 5, &out, &err));
	ASSERT_OK(log_reader_more(&reader, &out, &err));
	ASSERT_STR(out.text, "a\n");
	ASSERT_INT(rename(path, old), 0);
	put("b\n");
	ASSERT_OK(log_reader_more(&reader, &out, &err));
	ASSERT_OK(log_reader_more(&reader, &out, &err));
	ASSERT_STR(out.text, "a\nb\n");
	free(path);
}

TEST(continues_after_a_rotation_on_the_host_and_in_a_node)
{
	prepare();
	rotate(&of_host);
	rotate(&of_node);
	strbuf_release(&out);
	profile_release(&profile);
}

TEST(follows_no_link_out_of_the_dir)
{
	cleanup_free char *inside = xasprintf("%s/inside", test_dir());
	cleanup_free char *link = xasprintf("%s/inside/log", test_dir());
	cleanup_free char *above = xasprintf("%s/inside/above", test_dir());
	cleanup_free char *pipe = xasprintf("%s/inside/pipe", test_dir());
	struct tail tail = TAIL_INIT;

	ASSERT_OK(file_make_dirs(inside, 0755, &err));
	ASSERT_INT(symlink("/etc/passwd", link), 0);
	ASSERT_INT(symlink("..", above), 0);
	ASSERT_INT(mkfifo(pipe, 0600), 0);
	ASSERT_INT(tail_end(inside, "log", 9, &tail, &out, NULL), -ELOOP);
	ASSERT_INT(tail_end(inside, "above/inside/log", 9, &tail, &out, NULL), -ELOOP);
	ASSERT_INT(tail_end(inside, "../inside/log", 9, &tail, &out, NULL), -EXDEV);
	ASSERT_INT(tail_end(inside, "pipe", 9, &tail, &out, NULL), -EINVAL);
}
