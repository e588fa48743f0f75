/* A growing list of strings. */

#include "base/strlist.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"

static void add_owned(struct strlist *list, char *item)
{
	list->items = xrealloc(list->items, list->count + 2, sizeof(*list->items));
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
}

void strlist_add(struct strlist *list, const char *item)
{
	add_owned(list, xstrdup(item));
}

void strlist_addf(struct strlist *list, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_owned(list, xvasprintf(fmt, ap));
	va_end(ap);
}

void strlist_add_all(struct strlist *list, char *const *items)
{
	for (; *items; items++)
		strlist_add(list, *items);
}

void strlist_split(struct strlist *list, const char *text, char separator)
{
	while (*text) {
		size_t len = (size_t)(strchrnul(text, separator) - text);

		if (len > 0)
			add_owned(list, xstrndup(text, len));
		text += len;
		if (*text)
			text++;
	}
}

bool strlist_has(const struct strlist *list, const char *item)
{
	const char *other;

	strlist_for_each(other, list)
		if (strcmp(other, item) == 0)
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strlist_remove(struct strlist *list, const char *item)
{
	size_t left = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i], item) == 0)
			free(list->items[i]);
		else
			list->items[left++] = list->items[i];
	}
	if (list->items)
		list->items[left] = NULL;
	list->count = left;
}

void strlist_sort(struct strlist *list)
{
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items), compare);
}

char *strlist_join(const struct strlist *list, const char *separator)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < list->count; i++) {
		if (i > 0)
			strbuf_add(&out, separator);
		strbuf_add(&out, list->items[i]);
	}
	return strbuf_take(&out);
}

char *strlist_join_some(const struct strlist *list, size_t most)
{
	struct strlist some = { list->items, MIN(list->count, most) };
	cleanup_free char *text = strlist_join(&some, ", ");

	if (list->count <= most)
		return take_ptr(text);
	return xasprintf("%s and %zu more", text, list->count - most);
}

void strlist_release(struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = STRLIST_INIT;
}
