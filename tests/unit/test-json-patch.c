#include "data/json-patch.h"

#include "test.h"

static json_t *load(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	ASSERT(json);
	return json;
}

static void assert_json(const json_t *got, const char *want)
{
	cleanup_free char *text = json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY);

	ASSERT_STR(text, want);
}

TEST(a_merge_patch_sets_replaces_and_removes)
{
	static const char *const cases[][3] = {
		{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
		{ "{\"a\":[1]}", "{\"a\":[2,null]}", "{\"a\":[2,null]}" },
		{ "{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"b\":null,\"d\":3}}",
		  "{\"a\":{\"c\":2,\"d\":3}}" },
		{ "{\"a\":[1]}", "{\"a\":{\"b\":null,\"c\":1}}", "{\"a\":{\"c\":1}}" },
		{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_auto_t *target = load(cases[i][0]);
		json_auto_t *patch = load(cases[i][1]);

		json_patch_merge(target, patch);
		assert_json(target, cases[i][2]);
	}
}

TEST(operations_are_applied_in_order)
{
	static const char *const cases[][3] = {
		{ "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":{\"c\":2}}]",
		  "{\"a\":1,\"b\":{\"c\":2}}" },
		{ "{\"a\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]",
		  "{\"a\":[1,2,3]}" },
		{ "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":2}]",
		  "{\"a\":[1,2]}" },
		{ "{\"a\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/a/0\"}]", "{\"a\":[2]}" },
		{ "{\"a\":{\"b\":1}}", "[{\"op\":\"replace\",\"path\":\"/a/b\",\"value\":null}]",
		  "{\"a\":{\"b\":null}}" },
		{ "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[1]}]", "[1]" },
		{ "{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]", "{\"b\":1}" },
		{ "{\"a\":[1]}",
		  "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},"
		  "{\"op\":\"add\",\"path\":\"/b/-\",\"value\":2}]",
		  "{\"a\":[1],\"b\":[1,2]}" },
		{ "{\"a/b\":1,\"c~d\":2}",
		  "[{\"op\":\"remove\",\"path\":\"/a~1b\"},"
		  "{\"op\":\"replace\",\"path\":\"/c~0d\",\"value\":3}]",
		  "{\"c~d\":3}" },
		{ "{\"a\":{\"b\":[1]}}",
		  "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"b\":[1]}}]",
		  "{\"a\":{\"b\":[1]}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_auto_t *document = load(cases[i][0]);
		json_auto_t *operations = load(cases[i][1]);

		ASSERT_OK(json_patch_apply(&document, operations, &err));
		assert_json(document, cases[i][2]);
	}
}

TEST(what_can_not_be_applied_changes_nothing)
{
	static const struct {
		const char *operations;
		int code;
		const char *why;
	} cases[] = {
		{ "{}", -EINVAL, "not a list" },
		{ "[{\"path\":\"/a\"}]", -EINVAL, "operation 1: 'op' is missing" },
		{ "[{\"op\":\"drop\",\"path\":\"/a\"}]", -EINVAL, "not 'drop'" },
		{ "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", -EINVAL, "begin with '/'" },
		{ "[{\"op\":\"add\",\"path\":\"/a\"}]", -EINVAL, "'value' is missing" },
		{ "[{\"op\":\"move\",\"path\":\"/a\"}]", -EINVAL, "'from'" },
		{ "[{\"op\":\"add\",\"path\":\"/x/y\",\"value\":1}]", -EINVAL,
		  "'/x/y' does not exist" },
		{ "[{\"op\":\"add\",\"path\":\"/x/y/z\",\"value\":1}]", -EINVAL,
		  "'/x/y' does not exist" },
		{ "[{\"op\":\"remove\",\"path\":\"/x\"}]", -EINVAL, "'/x' does not exist" },
		{ "[{\"op\":\"replace\",\"path\":\"/l/2\",\"value\":1}]", -EINVAL,
		  "'/l/2' does not exist" },
		{ "[{\"op\":\"add\",\"path\":\"/l/3\",\"value\":1}]", -EINVAL,
		  "'/l/3' does not exist" },
		{ "[{\"op\":\"add\",\"path\":\"/l/01\",\"value\":1}]", -EINVAL,
		  "'/l/01' does not exist" },
		{ "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", -EINVAL,
		  "'/a/b' does not exist" },
		{ "[{\"op\":\"remove\",\"path\":\"\"}]", -EINVAL, "the whole" },
		{ "[{\"op\":\"move\",\"from\":\"/o\",\"path\":\"/o/p\"}]", -EINVAL, "into itself" },
		{ "[{\"op\":\"add\",\"path\":\"/n\",\"value\":1},"
		  "{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]",
		  -ECANCELED, "operation 2: '/a' has a different value" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_auto_t *document = load("{\"a\":1,\"l\":[1,2],\"o\":{}}");
		json_auto_t *operations = load(cases[i].operations);
		cleanup_with(error_clear) struct error err = ERROR_INIT;

		ASSERT_INT(json_patch_apply(&document, operations, &err), cases[i].code);
		if (!strstr(err.text, cases[i].why))
			ASSERT_STR(err.text, cases[i].why);
		assert_json(document, "{\"a\":1,\"l\":[1,2],\"o\":{}}");
	}
}
