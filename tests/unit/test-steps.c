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

TEST(each_node_can_have_a_line_of_its_own_with_its_time)
{
	const struct steps_look look = { .times = true, .each = true, .since_ms = 1000 };
	struct steps *steps = steps_new(&look);

	steps_begin(steps, "joining node", "node-2", 2000);
	steps_begin(steps, "joining node", "node-3", 2500);
	ASSERT_INT(steps_taken_ms(steps, "joining node", "node-3", 2600), 100);
	steps_end(steps, "joining node", "node-3", true, 3000, &out);
	ASSERT_STR(out.text, "    2.000 * Joining node: node-3 (0.5s)\n");
	strbuf_reset(&out);
	steps_end(steps, "joining node", "node-2", false, 6000, &out);
	ASSERT_STR(out.text, "    5.000 X Joining node: node-2 failed (4.0s)\n");
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

/* Seconds left, of 1000 units that were expected to take 600 s. */
static long long left(int64_t elapsed_s, uint64_t begun, uint64_t done)
{
	return steps_left_ms(elapsed_s * 1000, begun, done, 1000, 600000) / 1000;
}

TEST(an_estimate_moves_from_what_was_expected_to_the_pace_so_far)
{
	/* Nothing is known yet but the expectation. */
	ASSERT_INT(left(0, 0, 0), 600);
	/* As fast as expected. */
	ASSERT_INT(left(60, 0, 100), 540);
	ASSERT_INT(left(540, 0, 900), 60);
	/* Half as fast: beyond a fifth, the expectation is forgotten. */
	ASSERT_INT(left(300, 0, 250), 900);
	ASSERT_INT(left(600, 0, 500), 600);
	/* In between, in between. */
	ASSERT(left(150, 0, 125) > 600 && left(150, 0, 125) < 1050);
	/* At the end nothing is left, however long it took. */
	ASSERT_INT(left(5000, 0, 1000), 0);
}

TEST(a_slow_beginning_does_not_let_an_estimate_grow_without_limit)
{
	/* A tenth as fast as expected until 2 %: 6000 s by that pace. */
	ASSERT(left(120, 0, 20) < 700);
	/* Half as fast until 5 %. */
	ASSERT(left(60, 0, 50) < 620);
	ASSERT_INT(left(240, 0, 200), 960);
}

TEST(an_estimate_does_not_grow_while_one_item_takes_long)
{
	const struct steps_look look = { .columns = 80, .rows = 10 };
	struct steps *steps = steps_new(&look);

	steps_begin(steps, "building", NULL, 0);
	steps_expect(steps, "building", 600000, 0);
	steps_progress(steps, "building", NULL, NULL, 0, 1000, 0);
	steps_progress(steps, "building", NULL, NULL, 500, 1000, 300000);
	/* The next item is begun, but nothing more is done. */
	steps_progress(steps, "building", NULL, "the largest", 500, 1000, 1500000);
	ASSERT_INT(steps_render(steps, 1500000, &out), 1);
	ASSERT_STR(out.text, "- Building [#####.....] 50% 25m00s, about 5m left the largest\n");
	steps_free(steps);
	strbuf_release(&out);
}

TEST(an_estimate_counts_only_the_work_of_this_run)
{
	/* Half was there before; the other half goes as fast as expected. */
	ASSERT_INT(left(0, 500, 500), 300);
	ASSERT_INT(left(150, 500, 750), 150);
	/* What was there before is no pace. */
	ASSERT_INT(left(10, 900, 900), 60);
}

TEST(without_an_expectation_there_is_no_estimate_at_once)
{
	ASSERT_INT(steps_left_ms(1000, 0, 500, 1000, 0), -1);
	ASSERT_INT(steps_left_ms(60000, 0, 1, 1000, 0), -1);
	ASSERT_INT(steps_left_ms(60000, 0, 0, 0, 0), -1);
	ASSERT_INT(steps_left_ms(10000, 0, 500, 1000, 0), 10000);
}

TEST(a_long_step_shows_how_far_it_is_and_what_is_left)
{
	const struct steps_look look = { .columns = 80, .rows = 10 };
	struct steps *steps = steps_new(&look);

	steps_begin(steps, "getting Kubernetes v1.36.3", NULL, 0);
	steps_expect(steps, "getting Kubernetes v1.36.3", 720000, 0);
	steps_progress(steps, "getting Kubernetes v1.36.3", NULL, NULL, 0, 1000, 0);
	ASSERT_INT(steps_render(steps, 0, &out), 1);
	ASSERT_STR(out.text, "- Getting Kubernetes v1.36.3 [..........] 0% 0.0s, about 12m left\n");
	strbuf_reset(&out);
	steps_progress(steps, "getting Kubernetes v1.36.3", NULL, "3 of 7: etcd", 430, 1000,
		       312000);
	ASSERT_INT(steps_render(steps, 312000, &out), 1);
	ASSERT_STR(out.text, "- Getting Kubernetes v1.36.3 [####......] 43% 5m12s, about 7m left "
			     "3 of 7: etcd\n");
	strbuf_reset(&out);
	steps_report(steps, 312000, &out);
	ASSERT_STR(out.text, "  Getting Kubernetes v1.36.3: 43% after 5m12s, about 7m left: "
			     "3 of 7: etcd\n");
	strbuf_reset(&out);
	steps_progress(steps, "getting Kubernetes v1.36.3", NULL, NULL, 990, 1000, 700000);
	ASSERT_INT(steps_render(steps, 700000, &out), 1);
	ASSERT_STR(out.text,
		   "- Getting Kubernetes v1.36.3 [#########.] 99% 11m40s, about 10s left\n");
	steps_free(steps);
	strbuf_release(&out);
}

TEST(a_log_tells_which_steps_take_long)
{
	const struct steps_look look = { .columns = 0 };
	struct steps *steps = steps_new(&look);

	steps_report(steps, 900000, &out);
	steps_begin(steps, "starting node", "node-1", 1000);
	steps_begin(steps, "starting node", "node-2", 1000);
	steps_begin(steps, "starting node", "node-3", 1000);
	steps_begin(steps, "waiting for the API", NULL, 9000);
	steps_report(steps, 10999, &out);
	ASSERT_STR(out.text, "");
	steps_end(steps, "starting node", "node-2", true, 10999, &out);
	steps_report(steps, 11000, &out);
	ASSERT_STR(out.text, "  Starting node: node-1, node-3: still running after 10.0s\n");
	strbuf_reset(&out);
	steps_report(steps, 20000, &out);
	ASSERT_STR(out.text, "  Waiting for the API: still running after 11.0s\n");
	strbuf_reset(&out);
	steps_report(steps, 40999, &out);
	ASSERT_STR(out.text, "");
	steps_report(steps, 41000, &out);
	ASSERT_STR(out.text, "  Starting node: node-1, node-3: still running after 40.0s\n");
	steps_free(steps);
	strbuf_release(&out);
}

TEST(a_log_gets_a_line_every_half_minute_however_much_is_told)
{
	const struct steps_look look = { .columns = 0 };
	struct steps *steps = steps_new(&look);
	unsigned lines = 0;

	steps_begin(steps, "getting Kubernetes", NULL, 1000);
	steps_expect(steps, "getting Kubernetes", 600000, 1000);
	/* Ten minutes, with four packages in a second. */
	for (unsigned i = 0; i <= 2400; i++) {
		cleanup_free char *package = xasprintf("1 of 7: package-%u", i);
		int64_t now = 1000 + i * 250;

		steps_progress(steps, "getting Kubernetes", NULL, package, i, 2400, now);
		strbuf_reset(&out);
		steps_report(steps, now, &out);
		lines += out.len > 0;
		if (i == 120)
			ASSERT_STR(out.text,
				   "  Getting Kubernetes: 5% after 30.0s, about 10m left: "
				   "1 of 7: package-120\n");
	}
	ASSERT_INT(lines, 20);
	steps_free(steps);
	strbuf_release(&out);
}
