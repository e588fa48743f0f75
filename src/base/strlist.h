/* A growing list of strings, NULL-terminated unless empty: argument vectors, environments,
 * names. */
#pragma once

#include "base/macro.h"

struct strlist {
	char **items; /* NULL while empty */
	size_t count;
};

#define STRLIST_INIT ((struct strlist){ NULL })

/* Loop over LIST with the `const char *` variable ITEM. */
#define strlist_for_each(item, list)                                                              \
	for (size_t item##_i = 0; item##_i < (list)->count && ((item) = (list)->items[item##_i]); \
	     item##_i++)

void strlist_add(struct strlist *list, const char *item);
void strlist_addf(struct strlist *list, const char *fmt, ...) printf_like(2, 3);
void strlist_add_all(struct strlist *list, char *const *items); /* ITEMS ends with NULL */

/* Split TEXT at SEPARATOR and add the parts that are not empty. */
void strlist_split(struct strlist *list, const char *text, char separator);

bool strlist_has(const struct strlist *list, const char *item);
void strlist_remove(struct strlist *list, const char *item); /* all occurrences */
void strlist_sort(struct strlist *list);

/* The items joined with SEPARATOR; the caller frees the result. */
char *strlist_join(const struct strlist *list, const char *separator) must_check;

/* "a, b and 3 more": at most the first MOST items; the caller frees the result. */
char *strlist_join_some(const struct strlist *list, size_t most) must_check;

void strlist_release(struct strlist *list);
