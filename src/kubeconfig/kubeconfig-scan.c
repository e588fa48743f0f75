/*
 * The positions of entries in the text of a kubeconfig.
 *
 * The marks of libyaml's events count characters; they are converted to bytes here.  The mark at
 * the end of a block collection is where the next token begins, after blank lines and comments.  So
 * the end of a collection is taken to be the end of the last leaf in it.
 */

#include "kubeconfig/kubeconfig-scan.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/cleanup.h"

const char *const kubeconfig_keys[KUBECONFIG_LISTS] = {
	[KUBECONFIG_CLUSTERS] = "clusters",
	[KUBECONFIG_CONTEXTS] = "contexts",
	[KUBECONFIG_USERS] = "users",
};

struct scanner {
	yaml_parser_t parser;
	const char *text;
	size_t len;
	size_t at_character; /* the last mark that was converted to bytes */
	size_t at_byte;
	size_t first_byte; /* after a byte order mark, which marks do not count */
	size_t leaf_end;
	bool has_alias;
	struct error *err;
};

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Marks are nearly sorted, so count from the last one. */
static size_t byte_of(struct scanner *scanner, const yaml_mark_t *mark)
{
	const char *text = scanner->text;
	size_t at = scanner->at_byte;

	for (; scanner->at_character < mark->index && at < scanner->len; scanner->at_character++)
		do
			at++;
		while (at < scanner->len && is_continuation(text[at]));
	for (; scanner->at_character > mark->index && at > scanner->first_byte;
	     scanner->at_character--)
		do
			at--;
		while (at > scanner->first_byte && is_continuation(text[at]));
	scanner->at_byte = at;
	return at;
}

static int refuse_kubeconfig(struct scanner *scanner, const yaml_mark_t *mark, const char *what)
{
	return error_set(scanner->err, -EBADMSG, "%zu:%zu: %s", mark->line + 1, mark->column + 1,
			 what);
}

static int next(struct scanner *scanner, yaml_event_t *event)
{
	bool is_end;

	yaml_event_delete(event);
	if (!yaml_parser_parse(&scanner->parser, event)) {
		const yaml_parser_t *parser = &scanner->parser;

		return refuse_kubeconfig(scanner, &parser->problem_mark,
					 parser->problem ? parser->problem
							 : "this is not valid YAML");
	}
	scanner->has_alias |= event->type == YAML_ALIAS_EVENT;

	/* Of collections, only flow collections have an end of their own. */
	is_end = (event->type == YAML_SEQUENCE_END_EVENT ||
		  event->type == YAML_MAPPING_END_EVENT) &&
		 event->end_mark.index > event->start_mark.index;
	if (is_end || event->type == YAML_SCALAR_EVENT || event->type == YAML_ALIAS_EVENT)
		scanner->leaf_end = byte_of(scanner, &event->end_mark);
	return 0;
}

/* Read the rest of the node that EVENT begins. */
static int skip(struct scanner *scanner, yaml_event_t *event)
{
	size_t depth = 0;
	int r;

	for (;;) {
		if (event->type == YAML_SEQUENCE_START_EVENT ||
		    event->type == YAML_MAPPING_START_EVENT)
			depth++;
		else if (event->type == YAML_SEQUENCE_END_EVENT ||
			 event->type == YAML_MAPPING_END_EVENT)
			depth--;
		if (depth == 0)
			return 0;
		r = next(scanner, event);
		if (r < 0)
			return r;
	}
}

static const char *scalar_of(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT ? (const char *)event->data.scalar.value : NULL;
}

static bool is_null(const yaml_event_t *event)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };
	const char *value = scalar_of(event);

	if (!value || event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(value, words[i]) == 0)
			return true;
	return false;
}

typedef int (*member_fn)(struct scanner *scanner, yaml_event_t *value, const char *key, void *data);

/* EVENT begins a mapping: call FN with the first event of every value; FN reads the rest of it. */
static int each_member(struct scanner *scanner, yaml_event_t *event, member_fn fn, void *data)
{
	int r;

	for (;;) {
		cleanup_free char *key = NULL;

		r = next(scanner, event);
		if (r < 0)
			return r;
		if (event->type == YAML_MAPPING_END_EVENT)
			return 0;
		key = xstrdup(scalar_of(event) ? scalar_of(event) : "");
		r = skip(scanner, event);
		if (r < 0)
			return r;
		r = next(scanner, event);
		if (r < 0)
			return r;
		r = fn(scanner, event, key, data);
		if (r < 0)
			return r;
	}
}

static int cluster_member(struct scanner *scanner, yaml_event_t *value, const char *key, void *data)
{
	struct scan_item *item = data;

	if (strcmp(key, "server") == 0 && scalar_of(value) && !item->server)
		item->server = xstrdup(scalar_of(value));
	return skip(scanner, value);
}

static int context_member(struct scanner *scanner, yaml_event_t *value, const char *key, void *data)
{
	struct scan_item *item = data;

	if (strcmp(key, "cluster") == 0 && scalar_of(value) && !item->cluster)
		item->cluster = xstrdup(scalar_of(value));
	if (strcmp(key, "user") == 0 && scalar_of(value) && !item->user)
		item->user = xstrdup(scalar_of(value));
	return skip(scanner, value);
}

static int item_member(struct scanner *scanner, yaml_event_t *value, const char *key, void *data)
{
	struct scan_item *item = data;

	if (strcmp(key, "name") == 0 && scalar_of(value) && !item->name)
		item->name = xstrdup(scalar_of(value));
	if (strcmp(key, "cluster") == 0 && value->type == YAML_MAPPING_START_EVENT)
		return each_member(scanner, value, cluster_member, item);
	if (strcmp(key, "context") == 0 && value->type == YAML_MAPPING_START_EVENT)
		return each_member(scanner, value, context_member, item);
	return skip(scanner, value);
}

static int read_items(struct scanner *scanner, yaml_event_t *event, struct scan_list *list)
{
	struct scan_item *item;
	int r;

	for (;;) {
		r = next(scanner, event);
		if (r < 0)
			return r;
		if (event->type == YAML_SEQUENCE_END_EVENT)
			return 0;
		list->items = xrealloc(list->items, list->count + 1, sizeof(*list->items));
		item = &list->items[list->count++];
		*item = (struct scan_item){ .span.start = byte_of(scanner, &event->start_mark) };
		if (event->type == YAML_MAPPING_START_EVENT)
			r = each_member(scanner, event, item_member, item);
		else
			r = skip(scanner, event);
		if (r < 0)
			return r;
		item->span.end = scanner->leaf_end;
	}
}

static int read_list(struct scanner *scanner, yaml_event_t *event, struct scan_list *list)
{
	int r;

	list->span.start = byte_of(scanner, &event->start_mark);
	list->span.end = byte_of(scanner, &event->end_mark);
	if (is_null(event)) {
		list->style = SCAN_EMPTY;
		return 0;
	}
	if (event->type != YAML_SEQUENCE_START_EVENT)
		return refuse_kubeconfig(scanner, &event->start_mark, "this is not a list");
	list->style = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE ? SCAN_FLOW
										   : SCAN_BLOCK;
	list->column = (unsigned)event->start_mark.column;
	list->inside = list->span.end;
	r = read_items(scanner, event, list);
	if (r < 0)
		return r;
	list->span.end = scanner->leaf_end;
	return 0;
}

static int read_current(struct scanner *scanner, yaml_event_t *event, struct scan *scan)
{
	if (event->type != YAML_SCALAR_EVENT)
		return refuse_kubeconfig(scanner, &event->start_mark,
					 "this is not the name of a context");
	scan->current_style = is_null(event) ? SCAN_EMPTY : SCAN_SCALAR;
	scan->current_span.start = byte_of(scanner, &event->start_mark);
	scan->current_span.end = byte_of(scanner, &event->end_mark);
	scan->current = xstrdup(scalar_of(event));
	return 0;
}

static int read_member(struct scanner *scanner, yaml_event_t *value, const char *key,
		       struct scan *scan)
{
	if (strcmp(key, "current-context") == 0) {
		if (scan->current_style != SCAN_MISSING)
			return refuse_kubeconfig(scanner, &value->start_mark,
						 "'current-context' is defined twice");
		return read_current(scanner, value, scan);
	}
	for (size_t i = 0; i < KUBECONFIG_LISTS; i++) {
		if (strcmp(key, kubeconfig_keys[i]) != 0)
			continue;
		if (scan->lists[i].style != SCAN_MISSING)
			return refuse_kubeconfig(scanner, &value->start_mark,
						 "this list is defined twice");
		return read_list(scanner, value, &scan->lists[i]);
	}
	return skip(scanner, value);
}

static int root_member(struct scanner *scanner, yaml_event_t *value, const char *key, void *data)
{
	struct scan *scan = data;
	int r = read_member(scanner, value, key, scan);

	scan->key_count++;
	scan->end = scanner->leaf_end;
	return r;
}

static int read_root(struct scanner *scanner, yaml_event_t *event, struct scan *scan)
{
	if (is_null(event)) {
		scan->empty = true;
		scan->nothing.start = byte_of(scanner, &event->start_mark);
		scan->nothing.end = byte_of(scanner, &event->end_mark);
		return 0;
	}
	if (event->type != YAML_MAPPING_START_EVENT)
		return refuse_kubeconfig(scanner, &event->start_mark, "this is not a kubeconfig");
	scan->flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
	scan->column = (unsigned)event->start_mark.column;
	scan->inside = byte_of(scanner, &event->end_mark);
	scan->end = scan->inside;
	return each_member(scanner, event, root_member, scan);
}

static int read_stream(struct scanner *scanner, yaml_event_t *event, struct scan *scan)
{
	int r;

	r = next(scanner, event); /* the beginning of the stream */
	if (r < 0)
		return r;
	r = next(scanner, event);
	if (r < 0)
		return r;
	if (event->type == YAML_STREAM_END_EVENT) {
		scan->empty = true;
		scan->nothing = (struct span){ scanner->len, scanner->len };
		return 0;
	}
	r = next(scanner, event);
	if (r < 0)
		return r;
	r = read_root(scanner, event, scan);
	if (r < 0)
		return r;
	r = next(scanner, event); /* the end of the document */
	if (r < 0)
		return r;
	r = next(scanner, event);
	if (r < 0)
		return r;
	if (event->type != YAML_STREAM_END_EVENT)
		return refuse_kubeconfig(scanner, &event->start_mark, "this is a second document");
	scan->aliased = scanner->has_alias;
	return 0;
}

int kubeconfig_scan(const char *text, size_t len, struct scan *ret, struct error *err)
{
	cleanup_with(scan_release) struct scan scan = SCAN_INIT;
	struct scanner scanner = { .text = text, .len = len, .err = err };
	yaml_event_t event = { .type = YAML_NO_EVENT };
	int r;

	if (len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
		return error_set(err, -EBADMSG, "1:1: this is not UTF-8");
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		scanner.first_byte = 3;
	scanner.at_byte = scanner.first_byte;
	if (!yaml_parser_initialize(&scanner.parser))
		abort();
	yaml_parser_set_input_string(&scanner.parser, (const unsigned char *)text, len);
	r = read_stream(&scanner, &event, &scan);
	yaml_event_delete(&event);
	yaml_parser_delete(&scanner.parser);
	if (r < 0)
		return r;

	*ret = scan;
	scan = SCAN_INIT;
	return 0;
}

const struct scan_item *scan_find(const struct scan_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].name && strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	return NULL;
}

void scan_release(struct scan *scan)
{
	for (size_t i = 0; i < KUBECONFIG_LISTS; i++) {
		struct scan_list *list = &scan->lists[i];

		for (size_t k = 0; k < list->count; k++) {
			free(list->items[k].name);
			free(list->items[k].server);
			free(list->items[k].cluster);
			free(list->items[k].user);
		}
		free(list->items);
	}
	free(scan->current);
	*scan = SCAN_INIT;
}
