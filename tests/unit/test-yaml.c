#include "data/yaml.h"

#include "base/strbuf.h"
#include "test.h"

static void read_text(const char *text, struct yaml_value *ret)
{
	ASSERT_OK(yaml_read("file", text, strlen(text), ret, &err));
}

static void assert_refused(const char *text, size_t len, const char *why)
{
	cleanup_with(yaml_value_release) struct yaml_value value = YAML_VALUE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(yaml_read("file", text, len, &value, &err), -EBADMSG);
	if (!strstr(err.text, why))
		ASSERT_STR(err.text, why);
	ASSERT_INT(value.type, YAML_NOTHING);
}

TEST(values_know_where_they_stand)
{
	static const char text[] = "name: dev\n"
				   "nodes:\n"
				   "- role: worker\n"
				   "  labels: {a: 'b c'}\n"
				   "- \n";
	cleanup_with(yaml_value_release) struct yaml_value root = YAML_VALUE_INIT;
	const struct yaml_value *nodes;
	const struct yaml_value *label;

	read_text(text, &root);
	ASSERT_INT(root.type, YAML_MAP);
	ASSERT_STR(yaml_get(&root, "name")->text, "dev");
	ASSERT(!yaml_get(&root, "names"));
	nodes = yaml_get(&root, "nodes");
	ASSERT_INT(nodes->type, YAML_LIST);
	ASSERT_INT(nodes->key_place.line, 2);
	ASSERT_INT(nodes->count, 2);
	ASSERT_INT(nodes->items[1].type, YAML_NOTHING);
	label = yaml_get(yaml_get(&nodes->items[0], "labels"), "a");
	ASSERT_STR(label->text, "b c");
	ASSERT(label->quoted);
	ASSERT_INT(label->place.line, 4);
	ASSERT_INT(label->place.column, 15);
	ASSERT_INT(label->key_place.column, 12);
}

TEST(an_empty_text_is_nothing)
{
	static const char *const texts[] = {
		"", "\n\n", "# only a comment\n", "---\n", "~", "null"
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_with(yaml_value_release) struct yaml_value root = YAML_VALUE_INIT;

		read_text(texts[i], &root);
		ASSERT_INT(root.type, YAML_NOTHING);
	}
}

TEST(what_is_wrong_is_named_with_its_place)
{
	static const struct {
		const char *text;
		const char *why;
	} wrong[] = {
		{ "a: 1\nb: [1, 2\n", "file:3:1: " },
		{ "a: b: c\n", "file:1:5: mapping values are not allowed" },
		{ "a:\n\tb: 1\n", "file:2:1: tab in the indentation" },
		{ "a:\n  b: 1\n  \tc: 2\n", "file:3:3: tab in the indentation" },
		{ "a: 1\nb: 2\na: 3\n", "file:3:1: duplicate key 'a'; the first one is in line 1" },
		{ "a: 1\n---\nb: 2\n", "file:2:1: a second document" },
		{ "a: 1\n...\nb: 2\n", "file:3:1: " },
		{ "a: *b\n", "file:1:4: no anchor 'b'" },
		{ "a: &a [*a]\n", "file:1:8: no anchor 'a'" },
		{ "a: !!str x\n", "file:1:4: tags" },
		{ "? [a]\n: 1\n", "file:1:3: a key must be a string" },
		{ "a: \"x\\0\"\n", "file:1:4: control character" },
		{ "\"x\\ny\": 1\n", "file:1:1: control character" },
		{ "a: \"\\x9b\"\n", "file:1:4: control character" },
		{ "a: x\x01\n", "file:1:5: control character 0x01" },
		{ "\xc3\xa9: \xff\n", "file:1:4: the byte 0xff is not UTF-8" },
		{ "a: \xc0\xaf\n", "file:1:4: the byte 0xc0 is not UTF-8" },
		{ "a: \xed\xa0\x80\n", "file:1:4: the byte 0xed is not UTF-8" },
		{ "a: {<<: 5}\n", "file:1:9: only a mapping" },
		{ "just words: and\n- a list\n", "file:2:1: " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_refused(wrong[i].text, strlen(wrong[i].text), wrong[i].why);
	assert_refused("a: 1\n\0b", 7, "file:2:1: NUL byte");
	assert_refused("\xff\xfe"
		       "a\0",
		       4, "file:1:1: the byte 0xff is not UTF-8");
}

TEST(depth_size_and_number_are_limited)
{
	cleanup_with(strbuf_release) struct strbuf deep = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf many = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf large = STRBUF_INIT;

	for (int i = 0; i < 100000; i++)
		strbuf_add(&deep, "[");
	assert_refused(deep.text, deep.len, "file:1:65: nested too deeply");
	for (int i = 0; i < 100000; i++)
		strbuf_addf(&many, "k%d: 1\n", i);
	assert_refused(many.text, many.len, "too many values");
	while (large.len <= YAML_TEXT_LIMIT)
		strbuf_add(&large, "# a comment that says nothing at all\n");
	assert_refused(large.text, large.len, "file:1:1: the file has more than 1 MiB");
}

TEST(aliases_can_not_make_a_small_text_large)
{
	cleanup_with(strbuf_release) struct strbuf bomb = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf long_text = STRBUF_INIT;

	strbuf_add(&bomb, "a: &a [x, x, x, x, x, x, x, x]\n");
	for (char c = 'b'; c < 'k'; c++)
		strbuf_addf(&bomb, "%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c,
			    c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
	assert_refused(bomb.text, bomb.len, "too many values");
	strbuf_add(&long_text, "a: &a ");
	for (int i = 0; i < 100000; i++)
		strbuf_add(&long_text, "long");
	strbuf_add(&long_text, "\nb:\n");
	for (int i = 0; i < 1000; i++)
		strbuf_add(&long_text, "- *a\n");
	assert_refused(long_text.text, long_text.len, "aliases expand to too much");
}

TEST(aliases_and_merge_keys_are_understood)
{
	static const char text[] = "base: &base {a: 1, b: [x, y]}\n"
				   "one: *base\n"
				   "two: {<<: *base, a: 2}\n"
				   "three:\n"
				   "  <<: [*base, {c: 3, a: 9}]\n"
				   "  d: 4\n"
				   "  e: 5\n";
	cleanup_with(yaml_value_release) struct yaml_value root = YAML_VALUE_INIT;
	json_auto_t *json = NULL;
	cleanup_free char *shown = NULL;

	read_text(text, &root);
	json = yaml_to_json(&root);
	shown = json_dumps(json, JSON_COMPACT);
	ASSERT_STR(shown, "{\"base\":{\"a\":1,\"b\":[\"x\",\"y\"]},"
			  "\"one\":{\"a\":1,\"b\":[\"x\",\"y\"]},"
			  "\"two\":{\"a\":2,\"b\":[\"x\",\"y\"]},"
			  "\"three\":{\"d\":4,\"e\":5,\"a\":1,\"b\":[\"x\",\"y\"],\"c\":3}}");
}

TEST(words_become_json_as_they_look)
{
	static const char text[] =
		"[1, -2, 2.5, true, False, no, 0644, '1', \"true\", ~, 1e400, x]";
	cleanup_with(yaml_value_release) struct yaml_value root = YAML_VALUE_INIT;
	json_auto_t *json = NULL;
	cleanup_free char *shown = NULL;

	read_text(text, &root);
	json = yaml_to_json(&root);
	shown = json_dumps(json, JSON_COMPACT);
	ASSERT_STR(shown,
		   "[1,-2,2.5,true,false,\"no\",\"0644\",\"1\",\"true\",null,\"1e400\",\"x\"]");
}

TEST(what_is_printed_is_read_to_the_same)
{
	json_auto_t *json = json_pack(
		"{s:s, s:[{s:s, s:{s:s, s:s, s:s}, s:[s, s]}, {s:i}], s:[], s:{}, s:[[i, i], []],"
		" s:s, s:s, s:s, s:s, s:b, s:n}",
		"name", "dev", "nodes", "role", "worker", "labels", "a/b", "yes", "c", "1.5", "d",
		"", "ports", "8080:30", "127.0.0.1:80:81", "count", 3, "none", "empty", "lists", 1,
		2, "text", "two\nlines: # and\ttab", "cidr", "10.0.0.0/8", "dash", "- x", "true",
		"null", "flag", 1, "nothing");
	cleanup_with(yaml_value_release) struct yaml_value root = YAML_VALUE_INIT;
	cleanup_free char *text = yaml_print(json);
	json_auto_t *again = NULL;

	ASSERT(strstr(text, "name: dev\nnodes:\n- role: worker\n  labels:\n    a/b: \"yes\"\n"));
	ASSERT(strstr(text, "  - \"8080:30\"\n"));
	ASSERT(strstr(text, "cidr: 10.0.0.0/8\n"));
	read_text(text, &root);
	again = yaml_to_json(&root);
	ASSERT(json_equal(json, again));
}
