#include "base/strlist.h"
#include "test.h"

TEST(splits_and_joins)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	strlist_split(&list, "b,,a,c,", ',');
	ASSERT_INT(list.count, 3);
	ASSERT(strlist_has(&list, "a"));
	ASSERT(!strlist_has(&list, ""));
	strlist_sort(&list);
	joined = strlist_join(&list, "-");
	ASSERT_STR(joined, "a-b-c");
	ASSERT(list.items[3] == NULL);
}

TEST(removes_what_is_there)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	strlist_remove(&list, "a");
	strlist_split(&list, "a,b,a,c", ',');
	strlist_remove(&list, "a");
	strlist_remove(&list, "d");
	joined = strlist_join(&list, " ");
	ASSERT_STR(joined, "b c");
	ASSERT(list.items[2] == NULL);
}
