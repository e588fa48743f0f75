/* Rows and columns, aligned. */
#pragma once

#include <stdio.h>

#include "base/strlist.h"

/* The first row is the heading. */
struct table {
	size_t columns;
	struct strlist cells;
};

#define TABLE_INIT ((struct table){ 0 })

/* Add a row in place: TABLE_ROW(&table, "NAME", "IP").  Every row has as many cells as the first.
 */
#define TABLE_ROW(table, ...)                                      \
	table_add_row(table, (const char *const[]){ __VA_ARGS__ }, \
		      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
void table_add_row(struct table *table, const char *const *cells, size_t count);

/* Columns with two spaces between them; nothing behind the last. */
void table_print(const struct table *table, FILE *out);

/* A box of lines with the heading in the middle of its cells, as minikube's `profile list`. */
void table_print_box(const struct table *table, FILE *out);

void table_release(struct table *table);
