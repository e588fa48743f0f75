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

TEST(names_only_the_first_of_many)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
	cleanup_free char *all = NULL;
	cleanup_free char *some = NULL;

	strlist_split(&list, "a,b,c", ',');
	all = strlist_join_some(&list, 3);
	ASSERT_STR(all, "a, b, c");
	some = strlist_join_some(&list, 2);
	ASSERT_STR(some, "a, b and 1 more");
}
