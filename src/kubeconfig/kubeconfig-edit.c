/*
 * Editing the text of a kubeconfig:
 *  1. kubeconfig_scan() finds our entries, or the place for them.
 *  2. Changes are collected as edits: replace these bytes by that text.
 *  3. The edits are applied in the order of their positions.
 *  4. The result is scanned again, and refused unless it has the expected entries and everything
 *     else is unchanged.  So an unexpected layout leads to an error, never to a damaged file.
 */

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "kubeconfig/kubeconfig-scan.h"
#include "kubeconfig/kubeconfig.h"

struct edit {
	struct span span;
	char *text;
};

struct editor {
	const char *text;
	size_t len;
	const struct scan *scan;
	struct edit *edits;
	size_t count;
};

static void editor_release(struct editor *editor)
{
	for (size_t i = 0; i < editor->count; i++)
		free(editor->edits[i].text);
	free(editor->edits);
}

/* Edits are sorted by position; those at the same position stay in the order they were added. */
static void replace_text(struct editor *editor, size_t start, size_t end, char *text)
{
	size_t at = editor->count;

	editor->edits = xrealloc(editor->edits, editor->count + 1, sizeof(*editor->edits));
	for (; at > 0 && editor->edits[at - 1].span.start > start; at--)
		editor->edits[at] = editor->edits[at - 1];
	editor->edits[at] = (struct edit){ { start, end }, text };
	editor->count++;
}

/* Returns false if edits overlap. */
static bool apply_edits(const struct editor *editor, struct strbuf *out)
{
	size_t at = 0;

	for (size_t i = 0; i < editor->count; i++) {
		const struct edit *edit = &editor->edits[i];

		if (edit->span.start < at || edit->span.end < edit->span.start)
			return false;
		strbuf_add_mem(out, editor->text + at, edit->span.start - at);
		strbuf_add(out, edit->text);
		at = edit->span.end;
	}
	strbuf_add_mem(out, editor->text + at, editor->len - at);
	return true;
}

/* The end of the line that contains AT, without the line break. */
static size_t line_end(const struct editor *editor, size_t at)
{
	while (at < editor->len && editor->text[at] != '\n' && editor->text[at] != '\r')
		at++;
	return at;
}

static size_t line_start(const struct editor *editor, size_t at)
{
	while (at > 0 && editor->text[at - 1] != '\n')
		at--;
	return at;
}

/* The end of SPAN without trailing white space, which block scalars include. */
static size_t trimmed_end(const struct editor *editor, struct span span)
{
	while (span.end > span.start && strchr(" \t\r\n", editor->text[span.end - 1]))
		span.end--;
	return span.end;
}

/* Insert LINES, which end with a newline, after the line that contains AT. */
static void insert_lines(struct editor *editor, size_t at, const char *lines)
{
	if (at > 0 && editor->text[at - 1] == '\n') {
		replace_text(editor, at, at, xstrdup(lines));
		return;
	}
	at = line_end(editor, at);
	replace_text(editor, at, at, xasprintf("\n%.*s", (int)strlen(lines) - 1, lines));
}

/* NAME as a YAML scalar, quoted if it could be read as a number or a keyword. */
static char *plain_or_quoted(const char *name)
{
	static const char *const words[] = { "null", "true", "false", "yes", "no",
					     "on",   "off",  "y",     "n" };
	bool quote = name[0] < 'a' || name[0] > 'z';

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		quote |= strcasecmp(name, words[i]) == 0;
	return quote ? xasprintf("\"%s\"", name) : xstrdup(name);
}

static char *base64(const char *text)
{
	size_t len = strlen(text);
	char *out = xmalloc(4 * ((len + 2) / 3) + 1);

	EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)len);
	return out;
}

/* TEXT as a quoted scalar that is valid in both YAML and JSON. */
static char *quoted(const char *text)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	strbuf_add_char(&out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_add_char(&out, '\\');
		if ((unsigned char)*text < ' ')
			strbuf_addf(&out, "\\u%04x", (unsigned)*text);
		else
			strbuf_add_char(&out, *text);
	}
	strbuf_add_char(&out, '"');
	return strbuf_take(&out);
}

static bool is_plain_path(const char *path)
{
	return strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-") ==
	       strlen(path);
}

/* The line or member KEY, or KEY-data, with the certificate VALUE. */
static char *certificate_text(const struct kubeconfig_entry *entry, const char *key,
			      const char *value, bool flow)
{
	bool by_path = entry->flags & KUBECONFIG_BY_PATH;
	cleanup_free char *word = by_path ? xstrdup(value) : base64(value);
	cleanup_free char *shown = flow || (by_path && !is_plain_path(word)) ? quoted(word)
									     : xstrdup(word);
	const char *quote = flow ? "\"" : "";

	return xasprintf("%s%s%s%s: %s", quote, key, by_path ? "" : "-data", quote, shown);
}

/* ENTRY's item for the list ID, as lines indented by INDENT spaces or as {...}. */
static char *item_text(const struct kubeconfig_entry *entry, enum kubeconfig_list_id id, bool flow,
		       int indent)
{
	cleanup_free char *name = plain_or_quoted(entry->name);
	cleanup_free char *one = NULL;
	cleanup_free char *two = NULL;

	switch (id) {
	case KUBECONFIG_CLUSTERS:
		one = certificate_text(entry, "certificate-authority", entry->ca, flow);
		if (flow)
			return xasprintf(
				"{\"cluster\": {%s, \"server\": \"%s\"}, \"name\": \"%s\"}", one,
				entry->server, entry->name);
		return xasprintf("%*s- cluster:\n%*s    %s\n"
				 "%*s    server: %s\n%*s  name: %s\n",
				 indent, "", indent, "", one, indent, "", entry->server, indent, "",
				 name);
	case KUBECONFIG_CONTEXTS:
		if (flow)
			return xasprintf(
				"{\"context\": {\"cluster\": \"%s\", \"user\": \"%s\"}, \"name\": \"%s\"}",
				entry->name, entry->name, entry->name);
		return xasprintf(
			"%*s- context:\n%*s    cluster: %s\n%*s    user: %s\n%*s  name: %s\n",
			indent, "", indent, "", name, indent, "", name, indent, "", name);
	default:
		one = certificate_text(entry, "client-certificate", entry->cert, flow);
		two = certificate_text(entry, "client-key", entry->key, flow);
		if (flow)
			return xasprintf("{\"name\": \"%s\", \"user\": {%s, %s}}", entry->name, one,
					 two);
		return xasprintf("%*s- name: %s\n%*s  user:\n%*s    %s\n%*s    %s\n", indent, "",
				 name, indent, "", indent, "", one, indent, "", two);
	}
}

static bool is_ours(const struct scan_item *item, const char *name)
{
	return item->name && strcmp(item->name, name) == 0;
}

/* The position of the dash of ITEM: in the column of the list's dashes, after spaces only, on the
 * nearest line before the item. */
static size_t find_dash(const struct editor *editor, const struct scan_list *list, size_t index)
{
	size_t start = line_start(editor, list->items[index].span.start);

	if (index == 0)
		return list->span.start;
	for (;;) {
		size_t dash = start + strspn(editor->text + start, " ");

		if (dash - start == list->column && editor->text[dash] == '-')
			return dash;
		if (start <= list->span.start)
			return list->span.start;
		start = line_start(editor, start - 1);
	}
}

/* Remove the item from a block sequence, with the line break before it. */
static void remove_block_item(struct editor *editor, const struct scan_list *list, size_t index)
{
	size_t start = line_start(editor, find_dash(editor, list, index));
	size_t end = line_end(editor, trimmed_end(editor, list->items[index].span));

	if (start > 0)
		start--;
	if (start > 0 && editor->text[start - 1] == '\r')
		start--;
	replace_text(editor, start, end, xstrdup(""));
}

/* Remove the item from a flow sequence, with one comma. */
static void remove_flow_item(struct editor *editor, const struct scan_list *list, size_t index)
{
	struct span span = list->items[index].span;
	size_t after;

	if (index + 1 < list->count) {
		replace_text(editor, span.start, list->items[index + 1].span.start, xstrdup(""));
		return;
	}
	after = span.end + strspn(editor->text + span.end, " \t\r\n");
	if (editor->text[after] == ',')
		span.end = after + 1;
	else if (index > 0 && !is_ours(&list->items[index - 1], list->items[index].name))
		span.start = list->items[index - 1].span.end;
	replace_text(editor, span.start, span.end, xstrdup(""));
}

static void remove_items(struct editor *editor, const struct scan_list *list, const char *name,
			 bool keep_first)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!is_ours(&list->items[i], name))
			continue;
		if (keep_first)
			keep_first = false;
		else if (list->style == SCAN_BLOCK)
			remove_block_item(editor, list, i);
		else
			remove_flow_item(editor, list, i);
	}
}

/* Replace the item of LIST at INDEX by ours. */
static void put_item(struct editor *editor, const struct scan_list *list, size_t index,
		     const struct kubeconfig_entry *entry, enum kubeconfig_list_id id)
{
	const struct scan_item *item = &list->items[index];
	char *text;

	if (list->style == SCAN_FLOW) {
		replace_text(editor, item->span.start, item->span.end,
			     item_text(entry, id, true, 0));
		return;
	}
	text = item_text(entry, id, false, (int)list->column);
	memmove(text, text + list->column, strlen(text + list->column) + 1);
	text[strlen(text) - 1] = '\0';
	replace_text(editor, find_dash(editor, list, index),
		     line_end(editor, trimmed_end(editor, item->span)), text);
}

/* Append our item to LIST, which exists. */
static void add_item(struct editor *editor, const struct scan_list *list,
		     const struct kubeconfig_entry *entry, enum kubeconfig_list_id id)
{
	bool hollow = list->style == SCAN_EMPTY || list->count == 0;
	unsigned column = list->style == SCAN_BLOCK ? list->column : editor->scan->column;
	cleanup_free char *lines = item_text(entry, id, false, (int)column);
	cleanup_free char *flow = item_text(entry, id, true, 0);
	size_t last = list->count ? list->items[list->count - 1].span.end : list->inside;

	if (hollow && !editor->scan->flow) {
		replace_text(editor, list->span.start, list->span.end, xstrdup(""));
		insert_lines(editor, list->span.end, lines);
	} else if (list->style == SCAN_EMPTY) {
		replace_text(editor, list->span.start, list->span.end, xasprintf(" [%s]", flow));
	} else if (list->style == SCAN_FLOW) {
		replace_text(editor, last, last, xasprintf("%s%s", list->count ? ", " : "", flow));
	} else {
		insert_lines(editor, last, lines);
	}
}

/* Whether the context refers to our cluster and user.  It is then kept: the user may have added a
 * namespace. */
static bool is_good_context(const struct scan_item *item, const char *name)
{
	return item->cluster && strcmp(item->cluster, name) == 0 && item->user &&
	       strcmp(item->user, name) == 0;
}

static void merge_list(struct editor *editor, const struct kubeconfig_entry *entry,
		       enum kubeconfig_list_id id)
{
	const struct scan_list *list = &editor->scan->lists[id];

	for (size_t i = 0; i < list->count; i++) {
		if (is_ours(&list->items[i], entry->name)) {
			if (id != KUBECONFIG_CONTEXTS ||
			    !is_good_context(&list->items[i], entry->name))
				put_item(editor, list, i, entry, id);
			remove_items(editor, list, entry->name, true);
			return;
		}
	}
	if (list->style != SCAN_MISSING)
		add_item(editor, list, entry, id);
}

static void set_current(struct editor *editor, const char *text)
{
	const struct scan *scan = editor->scan;
	struct span span = scan->current_span;

	span.end = trimmed_end(editor, span);
	replace_text(editor, span.start, span.end,
		     xasprintf("%s%s", scan->current_style == SCAN_EMPTY ? " " : "", text));
}

static void make_current(struct editor *editor, const char *name)
{
	cleanup_free char *text = editor->scan->flow ? quoted(name) : plain_or_quoted(name);

	set_current(editor, text);
}

/* Append the missing keys to the mapping. */
static void add_keys(struct editor *editor, const struct kubeconfig_entry *entry)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *name = plain_or_quoted(entry->name);
	const struct scan *scan = editor->scan;
	int column = (int)scan->column;
	bool add_current = scan->current_style == SCAN_MISSING &&
			   !(entry->flags & KUBECONFIG_KEEP_CURRENT);

	for (size_t i = 0; i < KUBECONFIG_LISTS; i++) {
		cleanup_free char *item = item_text(entry, i, scan->flow, column);

		if (scan->lists[i].style != SCAN_MISSING)
			continue;
		if (scan->flow)
			strbuf_addf(&out, ", \"%s\": [%s]", kubeconfig_keys[i], item);
		else
			strbuf_addf(&out, "%*s%s:\n%s", column, "", kubeconfig_keys[i], item);
	}
	if (add_current && scan->flow)
		strbuf_addf(&out, ", \"current-context\": \"%s\"", entry->name);
	else if (add_current)
		strbuf_addf(&out, "%*scurrent-context: %s\n", column, "", name);
	if (!out.len)
		return;
	if (scan->flow)
		replace_text(editor, scan->end, scan->end,
			     xstrdup(out.text + (scan->key_count ? 0 : 2)));
	else
		insert_lines(editor, scan->end, out.text);
}

/* Fill a file that is empty or has only comments. */
static void fill_empty(struct editor *editor, const struct kubeconfig_entry *entry)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *name = plain_or_quoted(entry->name);
	const struct scan *scan = editor->scan;

	strbuf_add(&out, "apiVersion: v1\nkind: Config\npreferences: {}\n");
	for (size_t i = 0; i < KUBECONFIG_LISTS; i++) {
		cleanup_free char *item = item_text(entry, i, false, 0);

		strbuf_addf(&out, "%s:\n%s", kubeconfig_keys[i], item);
	}
	strbuf_addf(&out, "current-context: %s\n",
		    entry->flags & KUBECONFIG_KEEP_CURRENT ? "\"\"" : name);
	if (scan->nothing.end > scan->nothing.start)
		replace_text(editor, scan->nothing.start, scan->nothing.end, xstrdup(""));
	if (editor->len == 0)
		replace_text(editor, 0, 0, strbuf_take(&out));
	else
		insert_lines(editor, editor->len, out.text);
}

/* Whether AFTER has the same items as BEFORE, except for those called NAME, and WANTED of these. */
static bool lists_agree(const struct scan_list *before, const struct scan_list *after,
			const char *name, size_t wanted)
{
	size_t ours = 0, b = 0;

	for (size_t a = 0; a < after->count; a++) {
		const char *got = after->items[a].name;

		if (is_ours(&after->items[a], name)) {
			ours++;
			continue;
		}
		while (b < before->count && is_ours(&before->items[b], name))
			b++;
		if (b == before->count || !got != !before->items[b].name ||
		    (got && strcmp(got, before->items[b].name) != 0))
			return false;
		b++;
	}
	while (b < before->count && is_ours(&before->items[b], name))
		b++;
	return ours == wanted && b == before->count;
}

/* Whether every alias in TEXT still has its anchor, which the scanner does not check. */
static bool aliases_resolve(const struct strbuf *text)
{
	yaml_document_t document;
	yaml_parser_t parser;
	bool ok;

	if (!yaml_parser_initialize(&parser))
		abort();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text->text, text->len);
	ok = yaml_parser_load(&parser, &document);
	if (ok)
		yaml_document_delete(&document);
	yaml_parser_delete(&parser);
	return ok;
}

/* Whether the current context is correct after ENTRY was added or NAME was removed. */
static bool current_agrees(const struct scan *before, const struct scan *after, const char *name,
			   const struct kubeconfig_entry *entry)
{
	const char *was = before->current ? before->current : "";
	const char *is = after->current ? after->current : "";

	if (entry && !(entry->flags & KUBECONFIG_KEEP_CURRENT))
		return strcmp(is, name) == 0;
	if (!entry && strcmp(was, name) == 0)
		return !*is;
	return strcmp(is, was) == 0;
}

static bool is_right(const struct scan *before, const struct strbuf *text, const char *name,
		     const struct kubeconfig_entry *entry)
{
	cleanup_with(scan_release) struct scan after = SCAN_INIT;
	const struct scan_item *cluster;

	if (kubeconfig_scan(text->text, text->len, &after, NULL) < 0 || !aliases_resolve(text))
		return false;
	for (size_t i = 0; i < KUBECONFIG_LISTS; i++)
		if (!lists_agree(&before->lists[i], &after.lists[i], name, entry ? 1 : 0))
			return false;
	if (!current_agrees(before, &after, name, entry))
		return false;
	if (!entry)
		return true;
	cluster = scan_find(&after.lists[KUBECONFIG_CLUSTERS], name);
	return cluster->server && strcmp(cluster->server, entry->server) == 0 &&
	       is_good_context(scan_find(&after.lists[KUBECONFIG_CONTEXTS], name), name);
}

/* Apply the edits and append the result to OUT if it is correct. */
static int finish_edit(const struct editor *editor, const char *name,
		       const struct kubeconfig_entry *entry, struct strbuf *out, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (!apply_edits(editor, &text) || !is_right(editor->scan, &text, name, entry))
		return error_set(err, -EBADMSG,
				 "1:1: cannot change '%s' without changing other entries", name);
	strbuf_add_mem(out, text.text, text.len);
	return 0;
}

int kubeconfig_merge_text(const char *text, size_t len, const struct kubeconfig_entry *entry,
			  struct strbuf *out, struct error *err)
{
	cleanup_with(scan_release) struct scan scan = SCAN_INIT;
	cleanup_with(editor_release) struct editor editor = { .len = len, .scan = &scan };
	cleanup_free char *copy = xstrndup(text, len);
	int r;

	r = kubeconfig_scan(text, len, &scan, err);
	if (r < 0)
		return r;
	editor.text = copy; /* NUL-terminated; YAML cannot contain NUL */
	if (scan.empty) {
		fill_empty(&editor, entry);
		return finish_edit(&editor, entry->name, entry, out, err);
	}
	for (size_t i = 0; i < KUBECONFIG_LISTS; i++)
		merge_list(&editor, entry, i);
	if (scan.current_style != SCAN_MISSING && !(entry->flags & KUBECONFIG_KEEP_CURRENT))
		make_current(&editor, entry->name);
	add_keys(&editor, entry);
	return finish_edit(&editor, entry->name, entry, out, err);
}

int kubeconfig_remove_text(const char *text, size_t len, const char *name, struct strbuf *out,
			   struct error *err)
{
	cleanup_with(scan_release) struct scan scan = SCAN_INIT;
	cleanup_with(editor_release) struct editor editor = { .len = len, .scan = &scan };
	cleanup_free char *copy = xstrndup(text, len);
	int r;

	r = kubeconfig_scan(text, len, &scan, err);
	if (r < 0)
		return r;
	editor.text = copy;
	for (size_t i = 0; i < KUBECONFIG_LISTS; i++)
		remove_items(&editor, &scan.lists[i], name, false);
	if (scan.current_style == SCAN_SCALAR && strcmp(scan.current, name) == 0)
		set_current(&editor, "\"\"");
	return finish_edit(&editor, name, NULL, out, err);
}
