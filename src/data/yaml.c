/* A strict YAML parser that builds a tree. */

#include "data/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Limits: far more than a cluster's file needs, and low enough to bound memory and stack. */
#define DEPTH_LIMIT  64
#define VALUE_LIMIT  20000
#define COPIED_LIMIT (4 << 20) /* bytes of text that aliases may expand to */

struct anchor {
	char *name;
	struct yaml_value value; /* a copy, because the original moves when its list grows */
};

struct composer {
	yaml_parser_t parser;
	yaml_event_t event;
	const char *name;
	const char *text;
	size_t len;
	struct anchor *anchors;
	size_t anchor_count;
	unsigned depth;
	size_t values;
	size_t copied;
	struct error *err;
};

int yaml_wrong(struct error *err, const char *name, struct yaml_place place, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	return error_set(err, -EBADMSG, "%s:%u:%u: %s", name, place.line, place.column, words);
}

static struct yaml_place place_of(const yaml_mark_t *mark)
{
	return (struct yaml_place){ (unsigned)mark->line + 1, (unsigned)mark->column + 1 };
}

static struct yaml_place place_of_event(const struct composer *composer)
{
	return place_of(&composer->event.start_mark);
}

/* The length of the character at TEXT in bytes; 0 if it is not valid UTF-8. */
static size_t character_len(const unsigned char *text, size_t len)
{
	size_t want = *text < 0x80             ? 1
		      : (*text & 0xe0) == 0xc0 ? 2
		      : (*text & 0xf0) == 0xe0 ? 3
		      : (*text & 0xf8) == 0xf0 ? 4
					       : 0;

	if (want == 0 || want > len)
		return 0;
	for (size_t i = 1; i < want; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong encodings, surrogates, code points above U+10FFFF. */
	if ((want == 2 && *text < 0xc2) || (want == 3 && *text == 0xe0 && text[1] < 0xa0) ||
	    (want == 3 && *text == 0xed && text[1] > 0x9f) ||
	    (want == 4 && *text == 0xf0 && text[1] < 0x90) ||
	    (want == 4 && (*text > 0xf4 || (*text == 0xf4 && text[1] > 0x8f))))
		return 0;
	return want;
}

static bool is_control(const unsigned char *at)
{
	return *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
}

/* Check that TEXT is valid UTF-8 without control characters; libyaml would not report where. */
static int check_characters(const char *name, const char *text, size_t len, struct error *err)
{
	struct yaml_place place = { 1, 1 };

	for (size_t i = 0; i < len;) {
		const unsigned char *at = (const unsigned char *)text + i;
		size_t step = character_len(at, len - i);

		if (*at == 0)
			return yaml_wrong(err, name, place, "NUL byte: this is not a text file");
		if (step == 0)
			return yaml_wrong(err, name, place, "the byte 0x%02x is not UTF-8", *at);
		if (is_control(at) && !strchr("\n\r\t", *at))
			return yaml_wrong(err, name, place, "control character 0x%02x",
					  step == 1 ? *at : at[1]);
		place.column++;
		if (*at == '\n')
			place = (struct yaml_place){ place.line + 1, 1 };
		i += step;
	}
	return 0;
}

/* Whether the indentation of the line at MARK contains a tab, possibly after spaces. */
static bool is_indented_by_tab(const struct composer *composer, const yaml_mark_t *mark,
			       struct yaml_place *ret_place)
{
	const char *at = composer->text;
	const char *end = composer->text + composer->len;
	unsigned column = 1;

	for (size_t line = 0; line < mark->line && at; line++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	for (; at && at < end && *at == ' '; at++)
		column++;
	*ret_place = (struct yaml_place){ (unsigned)mark->line + 1, column };
	return at && at < end && *at == '\t';
}

/* Report the syntax error that libyaml found. */
static int refuse_syntax(struct composer *composer)
{
	const yaml_parser_t *parser = &composer->parser;
	struct yaml_place tab;

	if (parser->error == YAML_MEMORY_ERROR)
		abort();
	if (is_indented_by_tab(composer, &parser->problem_mark, &tab))
		return yaml_wrong(composer->err, composer->name, tab,
				  "tab in the indentation; YAML allows only spaces");
	return yaml_wrong(composer->err, composer->name, place_of(&parser->problem_mark), "%s",
			  parser->problem ? parser->problem : "not valid YAML");
}

static int next(struct composer *composer)
{
	yaml_event_delete(&composer->event);
	return yaml_parser_parse(&composer->parser, &composer->event) ? 0 : refuse_syntax(composer);
}

static int refuse_yaml(struct composer *composer, struct yaml_place place, const char *words)
{
	return yaml_wrong(composer->err, composer->name, place, "%s", words);
}

static int count_value(struct composer *composer, struct yaml_place place)
{
	if (++composer->values > VALUE_LIMIT)
		return refuse_yaml(composer, place, "too many values");
	return 0;
}

static struct yaml_value *add_item(struct yaml_value *to)
{
	/* The array grows at powers of two. */
	if ((to->count & (to->count - 1)) == 0)
		to->items = xrealloc(to->items, to->count ? to->count * 2 : 1, sizeof(*to->items));
	to->items[to->count] = YAML_VALUE_INIT;
	return &to->items[to->count++];
}

/* Copy FROM without its key to RET, which is empty; PLACE is the position of the alias. */
static int copy_value(struct composer *composer, const struct yaml_value *from,
		      struct yaml_place place, struct yaml_value *ret)
{
	int r = count_value(composer, place);

	ret->type = from->type;
	ret->place = from->place;
	ret->quoted = from->quoted;
	if (r == 0 && from->text) {
		composer->copied += strlen(from->text);
		ret->text = xstrdup(from->text);
	}
	for (size_t i = 0; r == 0 && i < from->count; i++) {
		struct yaml_value *item = add_item(ret);

		item->key_place = from->items[i].key_place;
		if (from->items[i].key) {
			composer->copied += strlen(from->items[i].key);
			item->key = xstrdup(from->items[i].key);
		}
		r = copy_value(composer, &from->items[i], place, item);
	}
	if (r == 0 && composer->copied > COPIED_LIMIT)
		r = refuse_yaml(composer, place, "aliases expand to too much text");
	return r;
}

static int keep_anchor(struct composer *composer, const char *name, const struct yaml_value *value)
{
	struct anchor *anchor;

	composer->anchors = xrealloc(composer->anchors, composer->anchor_count + 1,
				     sizeof(*composer->anchors));
	anchor = &composer->anchors[composer->anchor_count++];
	*anchor = (struct anchor){ .name = xstrdup(name) };
	return copy_value(composer, value, value->place, &anchor->value);
}

static int compose_alias(struct composer *composer, struct yaml_value *ret)
{
	const char *name = (const char *)composer->event.data.alias.anchor;
	struct yaml_place place = place_of_event(composer);

	/* The last anchor of that name counts. */
	for (size_t i = composer->anchor_count; i-- > 0;)
		if (strcmp(composer->anchors[i].name, name) == 0)
			return copy_value(composer, &composer->anchors[i].value, place, ret);
	return yaml_wrong(composer->err, composer->name, place,
			  "no anchor '%s' is defined before this alias", name);
}

static bool is_nothing(const char *text)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

/* Escape sequences can produce characters that check_characters() rejects, and values are printed
 * on terminals. */
static int check_word(struct composer *composer, const char *allowed)
{
	const unsigned char *text = composer->event.data.scalar.value;
	size_t len = composer->event.data.scalar.length;

	for (size_t i = 0; i < len; i++)
		if (text[i] == 0 || (is_control(text + i) && !strchr(allowed, text[i])))
			return refuse_yaml(composer, place_of_event(composer),
					   "control character in this word");
	return 0;
}

static int compose_word(struct composer *composer, struct yaml_value *ret)
{
	const char *text = (const char *)composer->event.data.scalar.value;

	ret->quoted = composer->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (!ret->quoted && is_nothing(text))
		return 0;
	ret->type = YAML_WORD;
	ret->text = xstrdup(text);
	return check_word(composer, "\n\t");
}

static int compose(struct composer *composer, struct yaml_value *ret);

static int compose_list(struct composer *composer, struct yaml_value *ret)
{
	int r = next(composer);

	ret->type = YAML_LIST;
	while (r == 0 && composer->event.type != YAML_SEQUENCE_END_EVENT) {
		r = compose(composer, add_item(ret));
		if (r == 0)
			r = next(composer);
	}
	return r;
}

static struct yaml_value *find_member(const struct yaml_value *map, const char *key)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->items[i].key && strcmp(map->items[i].key, key) == 0)
			return &map->items[i];
	return NULL;
}

static int compose_key(struct composer *composer, struct yaml_value *map,
		       struct yaml_value **ret_item)
{
	struct yaml_place place = place_of_event(composer);
	const struct yaml_value *before;
	const char *key;
	int r;

	if (composer->event.type != YAML_SCALAR_EVENT)
		return refuse_yaml(composer, place, "a key must be a string");
	r = check_word(composer, "");
	if (r < 0)
		return r;
	key = (const char *)composer->event.data.scalar.value;
	before = find_member(map, key);
	if (before)
		return yaml_wrong(composer->err, composer->name, place,
				  "duplicate key '%s'; the first one is in line %u", key,
				  before->key_place.line);
	*ret_item = add_item(map);
	(*ret_item)->key = xstrdup(key);
	(*ret_item)->key_place = place;
	return 0;
}

/* Add those entries of FROM to MAP that MAP does not have. */
static int merge_map(struct composer *composer, const struct yaml_value *from,
		     struct yaml_value *map)
{
	int r = 0;

	if (from->type != YAML_MAP)
		return refuse_yaml(composer, from->place, "only a mapping can be merged with '<<'");
	for (size_t i = 0; r == 0 && i < from->count; i++) {
		struct yaml_value *item;

		if (find_member(map, from->items[i].key))
			continue;
		item = add_item(map);
		item->key = xstrdup(from->items[i].key);
		item->key_place = from->items[i].key_place;
		r = copy_value(composer, &from->items[i], from->place, item);
	}
	return r;
}

/* Merge the value of the key '<<' of MAP, a mapping or a list of mappings, into MAP. */
static int merge_all(struct composer *composer, struct yaml_value *map)
{
	struct yaml_value *merge = find_member(map, "<<");
	struct yaml_value from;
	int r = 0;

	if (!merge)
		return 0;
	from = *merge;
	memmove(merge, merge + 1, (size_t)(map->items + map->count - (merge + 1)) * sizeof(*merge));
	map->count--;
	if (from.type != YAML_LIST)
		r = merge_map(composer, &from, map);
	for (size_t i = 0; r == 0 && from.type == YAML_LIST && i < from.count; i++)
		r = merge_map(composer, &from.items[i], map);
	yaml_value_release(&from);
	return r;
}

static int compose_map(struct composer *composer, struct yaml_value *ret)
{
	int r = next(composer);

	ret->type = YAML_MAP;
	while (r == 0 && composer->event.type != YAML_MAPPING_END_EVENT) {
		struct yaml_value *item = NULL;

		r = compose_key(composer, ret, &item);
		if (r == 0)
			r = next(composer);
		if (r == 0)
			r = compose(composer, item);
		if (r == 0)
			r = next(composer);
	}
	return r == 0 ? merge_all(composer, ret) : r;
}

/* The anchor that the event defines, or NULL. */
static const char *anchor_of(const yaml_event_t *event)
{
	const yaml_char_t *anchor = event->type == YAML_SCALAR_EVENT ? event->data.scalar.anchor
				    : event->type == YAML_SEQUENCE_START_EVENT
					    ? event->data.sequence_start.anchor
				    : event->type == YAML_MAPPING_START_EVENT
					    ? event->data.mapping_start.anchor
					    : NULL;

	return (const char *)anchor;
}

static const char *tag_of(const yaml_event_t *event)
{
	const yaml_char_t *tag = event->type == YAML_SCALAR_EVENT ? event->data.scalar.tag
				 : event->type == YAML_SEQUENCE_START_EVENT
					 ? event->data.sequence_start.tag
				 : event->type == YAML_MAPPING_START_EVENT
					 ? event->data.mapping_start.tag
					 : NULL;

	return (const char *)tag;
}

/* Read the value that begins with the current event into RET, which is empty except for its key. */
static int compose(struct composer *composer, struct yaml_value *ret)
{
	struct yaml_place place = place_of_event(composer);
	const char *name = anchor_of(&composer->event);
	cleanup_free char *anchor = name ? xstrdup(name) : NULL;
	int r = count_value(composer, place);

	ret->place = place;
	if (r < 0)
		return r;
	if (tag_of(&composer->event))
		return refuse_yaml(composer, place, "tags such as !!str are not supported");
	if (composer->depth == DEPTH_LIMIT)
		return refuse_yaml(composer, place, "nested too deeply");
	composer->depth++;
	switch (composer->event.type) {
	case YAML_SCALAR_EVENT:
		r = compose_word(composer, ret);
		break;
	case YAML_SEQUENCE_START_EVENT:
		r = compose_list(composer, ret);
		break;
	case YAML_MAPPING_START_EVENT:
		r = compose_map(composer, ret);
		break;
	default:
		r = compose_alias(composer, ret);
	}
	composer->depth--;
	return r == 0 && anchor ? keep_anchor(composer, anchor, ret) : r;
}

static int compose_stream(struct composer *composer, struct yaml_value *ret)
{
	int r = next(composer);

	if (r == 0)
		r = next(composer);
	if (r < 0)
		return r;
	ret->place = (struct yaml_place){ 1, 1 };
	if (composer->event.type == YAML_STREAM_END_EVENT)
		return 0;
	r = next(composer);
	if (r == 0)
		r = compose(composer, ret);
	/* The end of the document and the end of the stream. */
	for (int i = 0; r == 0 && i < 2; i++)
		r = next(composer);
	if (r == 0 && composer->event.type != YAML_STREAM_END_EVENT)
		return refuse_yaml(composer, place_of_event(composer),
				   "a second document begins here; only one is allowed");
	return r;
}

int yaml_read(const char *name, const char *text, size_t len, struct yaml_value *ret,
	      struct error *err)
{
	cleanup_with(yaml_value_release) struct yaml_value value = YAML_VALUE_INIT;
	struct composer composer = { .name = name, .text = text, .len = len, .err = err };
	int r = check_characters(name, text, len, err);

	if (r < 0)
		return r;
	if (len > YAML_TEXT_LIMIT)
		return error_set(err, -EBADMSG, "%s:1:1: the file has more than %d MiB", name,
				 YAML_TEXT_LIMIT >> 20);
	if (!yaml_parser_initialize(&composer.parser))
		abort();
	yaml_parser_set_encoding(&composer.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&composer.parser, (const unsigned char *)text, len);
	r = compose_stream(&composer, &value);
	yaml_event_delete(&composer.event);
	yaml_parser_delete(&composer.parser);
	for (size_t i = 0; i < composer.anchor_count; i++) {
		free(composer.anchors[i].name);
		yaml_value_release(&composer.anchors[i].value);
	}
	free(composer.anchors);
	if (r < 0)
		return r;
	*ret = value;
	value = YAML_VALUE_INIT;
	return 0;
}

const struct yaml_value *yaml_get(const struct yaml_value *map, const char *key)
{
	const struct yaml_value *item = find_member(map, key);

	return item && item->type != YAML_NOTHING ? item : NULL;
}

const char *yaml_type_words(const struct yaml_value *value)
{
	static const char *const words[] = {
		[YAML_NOTHING] = "nothing",
		[YAML_WORD] = "a string",
		[YAML_LIST] = "a list",
		[YAML_MAP] = "a mapping",
	};

	return words[value->type];
}

static json_t *word_to_json(const struct yaml_value *value)
{
	json_t *word = NULL;

	if (!value->quoted &&
	    (strcmp(value->text, "True") == 0 || strcmp(value->text, "TRUE") == 0))
		return json_true();
	if (!value->quoted &&
	    (strcmp(value->text, "False") == 0 || strcmp(value->text, "FALSE") == 0))
		return json_false();
	if (!value->quoted)
		word = json_loads(value->text, JSON_DECODE_ANY, NULL);
	return word ? word : json_string(value->text);
}

json_t *yaml_to_json(const struct yaml_value *value)
{
	const struct yaml_value *item;
	json_t *json;

	switch (value->type) {
	case YAML_WORD:
		return word_to_json(value);
	case YAML_LIST:
		json = json_array();
		yaml_for_each(item, value)
			(void)json_array_append_new(json, yaml_to_json(item));
		return json;
	case YAML_MAP:
		json = json_object();
		yaml_for_each(item, value)
			(void)json_object_set_new(json, item->key, yaml_to_json(item));
		return json;
	case YAML_NOTHING:
		break;
	}
	return json_null();
}

void yaml_value_release(struct yaml_value *value)
{
	for (size_t i = 0; i < value->count; i++)
		yaml_value_release(&value->items[i]);
	free(value->items);
	free(value->text);
	free(value->key);
	*value = YAML_VALUE_INIT;
}
