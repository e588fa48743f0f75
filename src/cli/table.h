/* Rows and columns, aligned. */
#pragma once

#include <stdio.h>

#include "base/strlist.h"

/* The first row is the heading. */
struct table {
	size_t columns;
	struct strlist cells;

	/* Returns the colour of a cell, as an escape sequence; NULL if none. May be NULL. */
	const char *(*paint)(size_t column, const char *cell);
};

#define TABLE_INIT ((struct table){ 0 })

/* Add a row in place: TABLE_ROW(&table, "NAME", "IP").  Every row has as many cells as the first.
 */
#define TABLE_ROW(table, ...)                                      \
	table_add_row(table, (const char *const[]){ __VA_ARGS__ }, \
		      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
void table_add_row(struct table *table, const char *const *cells, size_t count);

/* Print columns with two spaces between them, without trailing spaces. */
void table_print(const struct table *table, FILE *out);

/*
 * The same in lines of at most WIDTH, with nothing omitted: with one space between columns if
 * necessary; else as several tables, each starting with the first column; else, if not even two
 * columns fit, as table_print_records().
 */
void table_print_within(const struct table *table, unsigned width, FILE *out);

/* Print a box with centred headings, as minikube's `profile list`. */
void table_print_box(const struct table *table, FILE *out);

unsigned table_box_width(const struct table *table);

/* Print every row as a block of lines, "HEADING: cell", without empty cells: for narrow
 * terminals. */
void table_print_records(const struct table *table, FILE *out);

void table_release(struct table *table);
