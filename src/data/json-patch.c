/* Patches to JSON documents. */

#include "data/json-patch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"

void json_patch_merge(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)patch, key, value) {
		json_t *member = json_object_get(target, key);

		if (json_is_null(value)) {
			(void)json_object_del(target, key);
		} else if (json_is_object(value)) {
			if (!json_is_object(member)) {
				member = json_object();
				(void)json_object_set_new(target, key, member);
			}
			json_patch_merge(member, value);
		} else {
			(void)json_object_set_new(target, key, json_deep_copy(value));
		}
	}
}

/* The target of an operation: a member of an object or an item of a list, which may not exist. */
struct spot {
	json_t *parent; /* NULL: the whole document */
	char *key;      /* the member of an object, or the index in a list as text */
	size_t index;   /* the index in a list */
	json_t *value;  /* the value, or NULL if there is none */
};

static void release_spot(struct spot *spot)
{
	free(spot->key);
	*spot = (struct spot){ NULL };
}

/* The first LEN bytes of PATH, one component of a pointer, with ~0 and ~1 decoded; the caller frees
 * the result. */
static char *unescape(const char *path, size_t len)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < len; i++) {
		bool escaped = path[i] == '~' && i + 1 < len;

		strbuf_add_char(&out, escaped ? (path[i + 1] == '1' ? '/' : '~') : path[i]);
		i += escaped;
	}
	return strbuf_take(&out);
}

/* Move SPOT to the member or item KEY of its value; false if the value cannot have one.  Takes
 * ownership of KEY. */
static bool step_down(struct spot *spot, char *key)
{
	unsigned long long index;
	json_t *parent = spot->value;

	free(spot->key);
	*spot = (struct spot){ .parent = parent, .key = key };
	if (json_is_object(parent)) {
		spot->value = json_object_get(parent, key);
		return true;
	}
	if (!json_is_array(parent))
		return false;
	if (strcmp(key, "-") == 0) {
		spot->index = json_array_size(parent);
		return true;
	}
	if ((key[0] == '0' && key[1]) ||
	    parse_number(key, 0, json_array_size(parent), &index, NULL) < 0)
		return false;
	spot->index = (size_t)index;
	spot->value = json_array_get(parent, spot->index);
	return true;
}

static int find_spot(json_t *document, const char *path, struct spot *ret, struct error *err)
{
	cleanup_with(release_spot) struct spot spot = { .value = document };

	for (const char *at = path; *at;) {
		size_t len = strcspn(at + 1, "/");

		if (!spot.value || !step_down(&spot, unescape(at + 1, len)))
			return error_set(err, -EINVAL, "'%.*s' does not exist",
					 (int)(at - path) + (int)len + 1, path);
		at += len + 1;
	}
	*ret = spot;
	spot = (struct spot){ NULL };
	return 0;
}

static int need_value(const struct spot *spot, const char *path, struct error *err)
{
	return spot->value ? 0 : error_set(err, -EINVAL, "'%s' does not exist", path);
}

/* Store VALUE at SPOT in *DOCUMENT, taking ownership of VALUE; in a list, it is inserted. */
static void put_at_spot(json_t **document, const struct spot *spot, json_t *value)
{
	if (json_is_object(spot->parent)) {
		(void)json_object_set_new(spot->parent, spot->key, value);
	} else if (spot->parent) {
		(void)json_array_insert_new(spot->parent, spot->index, value);
	} else {
		json_decref(*document);
		*document = value;
	}
}

static void take_away(const struct spot *spot)
{
	if (json_is_object(spot->parent))
		(void)json_object_del(spot->parent, spot->key);
	else if (spot->parent)
		(void)json_array_remove(spot->parent, spot->index);
}

static int add_at_path(json_t **document, const char *path, json_t *value, struct error *err)
{
	cleanup_with(release_spot) struct spot spot = { NULL };
	int r = find_spot(*document, path, &spot, err);

	if (r == 0)
		put_at_spot(document, &spot, value);
	else
		json_decref(value);
	return r;
}

static int remove_or_replace(json_t **document, const char *path, const json_t *value,
			     struct error *err)
{
	cleanup_with(release_spot) struct spot spot = { NULL };
	int r = find_spot(*document, path, &spot, err);

	if (r == 0)
		r = need_value(&spot, path, err);
	if (r < 0)
		return r;
	if (!value && !spot.parent)
		return error_set(err, -EINVAL, "the whole document can't be removed");
	if (spot.parent)
		take_away(&spot);
	if (value)
		put_at_spot(document, &spot, json_deep_copy(value));
	return 0;
}

static int move_or_copy(json_t **document, const char *from, const char *path, bool moves,
			struct error *err)
{
	cleanup_with(release_spot) struct spot spot = { NULL };
	size_t len = strlen(from);
	json_t *value;
	int r = find_spot(*document, from, &spot, err);

	if (r == 0)
		r = need_value(&spot, from, err);
	if (r < 0)
		return r;
	if (moves && (strncmp(path, from, len) == 0 && path[len] == '/'))
		return error_set(err, -EINVAL, "'%s' can't be moved into itself", from);
	value = json_deep_copy(spot.value);
	if (moves && strcmp(from, path) != 0)
		take_away(&spot);
	return strcmp(from, path) == 0 ? (json_decref(value), 0)
				       : add_at_path(document, path, value, err);
}

static int test(json_t *document, const char *path, const json_t *value, struct error *err)
{
	cleanup_with(release_spot) struct spot spot = { NULL };
	int r = find_spot(document, path, &spot, err);

	if (r == 0)
		r = need_value(&spot, path, err);
	if (r == 0 && !json_equal(spot.value, value))
		r = error_set(err, -ECANCELED, "'%s' has a different value", path);
	return r;
}

static const char *text_of(const json_t *operation, const char *key)
{
	return json_string_value(json_object_get(operation, key));
}

int json_patch_apply_one(json_t **document, const json_t *operation, struct error *err)
{
	const char *op = text_of(operation, "op");
	const char *path = text_of(operation, "path");
	const json_t *value = json_object_get(operation, "value");

	if (strcmp(op, "add") == 0)
		return add_at_path(document, path, json_deep_copy(value), err);
	if (strcmp(op, "remove") == 0)
		return remove_or_replace(document, path, NULL, err);
	if (strcmp(op, "replace") == 0)
		return remove_or_replace(document, path, value, err);
	if (strcmp(op, "test") == 0)
		return test(*document, path, value, err);
	return move_or_copy(document, text_of(operation, "from"), path, strcmp(op, "move") == 0,
			    err);
}

static bool is_pointer(const char *text)
{
	return text && (!*text || *text == '/');
}

static int check_one(const json_t *operation, struct error *err)
{
	static const struct {
		const char *op;
		bool value;
		bool from;
	} known[] = {
		{ "add", true, false },  { "remove", false, false }, { "replace", true, false },
		{ "move", false, true }, { "copy", false, true },    { "test", true, false },
	};
	const char *op = text_of(operation, "op");

	if (!op)
		return error_set(err, -EINVAL, "'op' is missing");
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(known[i].op, op) != 0)
			continue;
		if (!is_pointer(text_of(operation, "path")))
			return error_set(err, -EINVAL, "'path' must begin with '/'");
		if (known[i].from && !is_pointer(text_of(operation, "from")))
			return error_set(err, -EINVAL, "'from' must begin with '/'");
		if (known[i].value && !json_object_get(operation, "value"))
			return error_set(err, -EINVAL, "'value' is missing");
		return 0;
	}
	return error_set(err, -EINVAL,
			 "'op' must be add, remove, replace, move, copy or test, not '%s'", op);
}

int json_patch_check(const json_t *operations, struct error *err)
{
	if (!json_is_array(operations))
		return error_set(err, -EINVAL, "not a list of operations");
	for (size_t i = 0; i < json_array_size(operations); i++) {
		int r = check_one(json_array_get(operations, i), err);

		if (r < 0)
			return error_prefix(err, r, "operation %zu", i + 1);
	}
	return 0;
}

int json_patch_apply(json_t **document, const json_t *operations, struct error *err)
{
	json_t *changed;
	int r = json_patch_check(operations, err);

	if (r < 0)
		return r;
	changed = json_deep_copy(*document);
	for (size_t i = 0; r == 0 && i < json_array_size(operations); i++) {
		r = json_patch_apply_one(&changed, json_array_get(operations, i), err);
		if (r < 0)
			(void)error_prefix(err, r, "operation %zu", i + 1);
	}
	json_decref(r < 0 ? changed : *document);
	if (r == 0)
		*document = changed;
	return r;
}
