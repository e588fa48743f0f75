#include "base/strbuf.h"
#include "cli/steps.h"
#include "cli/text.h"
#include "test.h"

static struct strbuf out = STRBUF_INIT;

TEST(a_step_has_one_line_when_its_last_node_ended)
{
	const struct steps_look look = { .times = true };
	struct steps *steps = steps_new(&look);

	steps_begin(steps, "starting node", "node-1", 0);
	steps_begin(steps, "starting node", "node-2", 100);
	steps_begin(steps, "making the network", NULL, 100);
	steps_end(steps, "starting node", "node-2", true, 900, &out);
	ASSERT_STR(out.text, "");
	steps_end(steps, "starting node", "node-1", true, 1500, &out);
	ASSERT_STR(out.text, "* Starting node: node-1, node-2 (1.5s)\n");
	strbuf_reset(&out);
	steps_end(steps, "making the network", NULL, true, 125000, &out);
	ASSERT_STR(out.text, "* Making the network (2m04s)\n");
	strbuf_reset(&out);
	ASSERT_INT(steps_render(steps, 0, &out), 0);
	steps_free(steps);
	strbuf_release(&out);
}

TEST(what_failed_is_told_apart)
{
	const struct steps_look look = { .columns = 0 };
	struct steps *steps = steps_new(&look);

	steps_begin(steps, "joining", "a", 0);
	steps_begin(steps, "joining", "b", 0);
	steps_end(steps, "joining", "a", false, 1, &out);
	steps_end(steps, "joining", "b", true, 1, &out);
	ASSERT_STR(out.text, "* Joining: b\nX Joining: a failed\n");
	steps_free(steps);
	strbuf_release(&out);
}

TEST(running_steps_show_a_bar_the_time_and_their_nodes)
{
	const struct steps_look look = { .columns = 60, .rows = 10 };
	struct steps *steps = steps_new(&look);

	steps_progress(steps, "building", NULL, "kubelet\033[2J", 1, 2, 0);
	steps_begin(steps, "starting node", "node-1", 0);
	steps_begin(steps, "starting node", "node-2", 0);
	steps_end(steps, "starting node", "node-1", true, 100, &out);
	ASSERT_INT(steps_render(steps, 200, &out), 3);
	ASSERT_STR(out.text, "| Building [##########..........] 50% 0.2s kubelet [2J\n"
			     "| Starting node 0.2s\n"
			     "  + node-1  | node-2\n");
	steps_free(steps);
	strbuf_release(&out);
}

TEST(no_line_is_longer_than_the_terminal_is_wide)
{
	for (unsigned columns = 10; columns < 70; columns++) {
		struct steps_look look = { .columns = columns, .rows = 8, .unicode = columns % 2 };
		struct steps *steps = steps_new(&look);
		unsigned lines, counted = 0;

		steps_progress(steps, "downloading a very long thing", NULL,
			       "https://example.org/über/lang", 3, 7, 0);
		for (unsigned i = 0; i < 12; i++) {
			cleanup_free char *node = xasprintf("a-long-name-of-a-node-%u", i);

			steps_progress(steps, "joining", i % 3 ? node : node + 7, NULL, i, 12, 0);
		}
		strbuf_reset(&out);
		lines = steps_render(steps, 123456, &out);
		for (char *line = out.text; *line; counted++) {
			size_t len = strcspn(line, "\n");

			line[len] = '\0';
			if (text_width(line) >= columns)
				test_fail(__FILE__, __LINE__, "%u columns: '%s'", columns, line);
			line += len + 1;
		}
		ASSERT_INT(counted, lines);
		ASSERT(lines <= 8);
		steps_free(steps);
	}
	strbuf_release(&out);
}

TEST(notes_are_wrapped_on_a_terminal_only)
{
	struct steps_look look = { .columns = 20 };
	struct steps *narrow = steps_new(&look);
	struct steps *log;

	look.columns = 0;
	log = steps_new(&look);
	steps_note(narrow, "a sentence that the person should read", &out);
	ASSERT_STR(out.text, "* a sentence that\n  the person should\n  read\n");
	strbuf_reset(&out);
	steps_note(log, "a sentence that the person should read", &out);
	ASSERT_STR(out.text, "* a sentence that the person should read\n");
	steps_free(narrow);
	steps_free(log);
	strbuf_release(&out);
}
