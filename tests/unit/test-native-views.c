#include "base/file.h"
#include "driver/native-views.h"
#include "test.h"

static const char two[] = "processor\t: 0\nmodel\t: x\n\nprocessor\t: 1\nmodel\t: y\n\n";

TEST(a_node_sees_fewer_processors_than_the_host_has)
{
	cleanup_free char *text = native_views_cpuinfo(two, &(struct cpus){ (unsigned[]){ 1 }, 1 });

	ASSERT_STR(text, "processor\t: 1\nmodel\t: x\n\n");
}

TEST(a_node_may_see_more_processors_than_the_host_has)
{
	cleanup_free char *text = native_views_cpuinfo(
		two, &(struct cpus){ (unsigned[]){ 0, 1, 2 }, 3 });

	ASSERT_STR(text, "processor\t: 0\nmodel\t: x\n\nprocessor\t: 1\nmodel\t: y\n\n"
			 "processor\t: 2\nmodel\t: x\n\n");
}

TEST(views_that_are_no_longer_wanted_go_away)
{
	cleanup_free char *memory = xasprintf("%s/meminfo", test_dir());
	cleanup_free char *processors = xasprintf("%s/cpuinfo", test_dir());

	cleanup_with(native_cpus_release) struct native_cpus four = NATIVE_CPUS_INIT;
	struct native_cpus all = NATIVE_CPUS_INIT;

	native_cpus_pick(&(struct node_spec){ .cpus = 4 }, &CPUS_INIT, 4, &four);
	ASSERT_OK(native_views_write(test_dir(), &four, 1 << 20, &err));
	ASSERT(file_exists(memory));
	ASSERT(file_exists(processors));
	ASSERT_OK(native_views_write(test_dir(), &all, 0, &err));
	ASSERT(!file_exists(memory));
	ASSERT(!file_exists(processors));
}

static void assert_cpus(unsigned slot, unsigned cpus, const char *have, const char *expected,
			size_t real)
{
	const struct node_spec spec = { .cluster = "", .slot = slot, .cpus = cpus };
	cleanup_with(native_cpus_release) struct native_cpus picked = NATIVE_CPUS_INIT;
	cleanup_with(cpus_release) struct cpus list = CPUS_INIT;
	cleanup_free char *text = NULL;

	ASSERT_INT(cpus_parse(have, &list), 0);
	native_cpus_pick(&spec, &list, 2, &picked);
	text = cpus_print(&picked.ids);
	ASSERT_STR(text, expected);
	ASSERT_INT(picked.real, real);
	ASSERT_INT(picked.pinned, cpus > 0 && *have);
}

TEST(nodes_are_spread_over_the_cpus)
{
	assert_cpus(1, 2, "0-3", "0-1", 2);
	assert_cpus(2, 2, "0-3", "2-3", 2);
	assert_cpus(3, 2, "0-3", "0-1", 2);
	assert_cpus(2, 3, "0-3", "0-1,3", 3);
	assert_cpus(2, 1, "4,6-7", "6", 1);
}

TEST(a_node_with_more_cpus_than_the_host_runs_on_all)
{
	assert_cpus(3, 4, "0-1", "0-3", 2);
	assert_cpus(1, 0, "0-1", "", 0);
}

TEST(without_cpusets_a_node_sees_the_first_cpus)
{
	assert_cpus(2, 1, "", "0", 1);
	assert_cpus(2, 4, "", "0-3", 2);
}

TEST(lists_of_cpus_are_read_as_the_kernel_writes_them)
{
	static const char *const good[] = { "0", "0-3", "0,2-5,7", "", NULL };
	static const char *const bad[] = { "-", "1-", "3-1", "0-2,1", "x", "0-70000", NULL };

	for (size_t i = 0; good[i]; i++) {
		cleanup_with(cpus_release) struct cpus cpus = CPUS_INIT;
		cleanup_free char *line = xasprintf("%s\n", good[i]);
		cleanup_free char *text = NULL;

		ASSERT_INT(cpus_parse(line, &cpus), 0);
		text = cpus_print(&cpus);
		ASSERT_STR(text, good[i]);
	}
	for (size_t i = 0; bad[i]; i++) {
		struct cpus cpus = CPUS_INIT;

		ASSERT_INT(cpus_parse(bad[i], &cpus), -EINVAL);
		ASSERT_INT(cpus.count, 0);
	}
}
