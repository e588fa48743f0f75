#include "base/file.h"
#include "node/native-views.h"
#include "test.h"

static const char two[] = "processor\t: 0\nmodel\t: x\n\nprocessor\t: 1\nmodel\t: y\n\n";

TEST(a_node_sees_fewer_processors_than_the_host_has)
{
	cleanup_free char *text = native_views_cpuinfo(two, 1);

	ASSERT_STR(text, "processor\t: 0\nmodel\t: x\n\n");
}

TEST(a_node_may_see_more_processors_than_the_host_has)
{
	cleanup_free char *text = native_views_cpuinfo(two, 3);

	ASSERT_STR(text, "processor\t: 0\nmodel\t: x\n\nprocessor\t: 1\nmodel\t: y\n\n"
			 "processor\t: 2\nmodel\t: x\n\n");
}

TEST(views_that_are_no_longer_wanted_go_away)
{
	cleanup_free char *memory = xasprintf("%s/meminfo", test_folder());
	cleanup_free char *processors = xasprintf("%s/cpuinfo", test_folder());

	ASSERT_OK(native_views_write(test_folder(), 4, 1 << 20, &err));
	ASSERT(file_exists(memory));
	ASSERT(file_exists(processors));
	ASSERT_OK(native_views_write(test_folder(), 0, 0, &err));
	ASSERT(!file_exists(memory));
	ASSERT(!file_exists(processors));
}
