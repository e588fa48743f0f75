/* Rows and columns, aligned. */
#pragma once

#include <stdio.h>

#include "base/strlist.h"

/* The first row is the heading. */
struct table {
	size_t columns;
	struct strlist cells;

	/* The colour of a cell, as a terminal's escape sequence; NULL if it has none.  May be NULL.
	 */
	const char *(*paint)(size_t column, const char *cell);
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

/*
 * The same in lines of at most WIDTH, without leaving anything out: with one space between columns
 * if two are too many; otherwise in several tables, each of which begins with the first column; as
 * table_print_records() if not even two columns fit side by side.
 */
void table_print_within(const struct table *table, unsigned width, FILE *out);

/* A box of lines with the heading in the middle of its cells, as minikube's `profile list`. */
void table_print_box(const struct table *table, FILE *out);

unsigned table_box_width(const struct table *table);

/* Every row as a block of lines, "HEADING: cell", without those that are empty: for a terminal that
 * is too narrow. */
void table_print_records(const struct table *table, FILE *out);

void table_release(struct table *table);
