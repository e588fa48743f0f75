/* Rows and columns, aligned. */

#include "cli/table.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/text.h"

#define GAP 2 /* spaces between columns */

void table_add_row(struct table *table, const char *const *cells, size_t count)
{
	if (table->cells.count == 0)
		table->columns = count;
	assert(count == table->columns);
	for (size_t i = 0; i < count; i++)
		strlist_add(&table->cells, cells[i] ? cells[i] : "");
}

/* The width of every column; the caller frees it. */
static unsigned *measure(const struct table *table)
{
	unsigned *widths = xcalloc(table->columns, sizeof(*widths));

	for (size_t i = 0; i < table->cells.count; i++) {
		unsigned *width = &widths[i % table->columns];

		*width = MAX(*width, text_width(table->cells.items[i]));
	}
	return widths;
}

static void print_cell(const struct table *table, size_t i, FILE *out)
{
	const char *cell = table->cells.items[i];
	const char *colour = table->paint && i >= table->columns
				     ? table->paint(i % table->columns, cell)
				     : NULL;

	if (colour)
		fprintf(out, "%s%s\033[0m", colour, cell);
	else
		fputs(cell, out);
}

/* Print the first column and the columns from FROM up to, but not including, END. */
static void print_part(const struct table *table, const unsigned *widths, size_t from, size_t end,
		       unsigned gap, FILE *out)
{
	for (size_t i = 0; i < table->cells.count; i++) {
		size_t column = i % table->columns;

		if (column > 0 && (column < from || column >= end))
			continue;
		print_cell(table, i, out);
		if (column + 1 == end)
			fputc('\n', out);
		else
			fprintf(out, "%*s",
				(int)(widths[column] + gap - text_width(table->cells.items[i])),
				"");
	}
}

void table_print(const struct table *table, FILE *out)
{
	cleanup_free unsigned *widths = measure(table);

	print_part(table, widths, 0, table->columns, GAP, out);
}

/* The end of the columns that fit beside the first one, starting at FROM. */
static size_t find_end(const struct table *table, const unsigned *widths, size_t from, unsigned gap,
		       unsigned width)
{
	unsigned taken = widths[0];

	while (from < table->columns && taken + gap + widths[from] <= width)
		taken += gap + widths[from++];
	return from;
}

static bool any_too_wide(const struct table *table, const unsigned *widths, unsigned width)
{
	for (size_t column = 1; column < table->columns; column++)
		if (find_end(table, widths, column, GAP, width) == column)
			return true;
	return false;
}

void table_print_within(const struct table *table, unsigned width, FILE *out)
{
	cleanup_free unsigned *widths = measure(table);
	size_t end;

	for (unsigned gap = GAP; gap > 0; gap--) {
		if (find_end(table, widths, 1, gap, width) == table->columns) {
			print_part(table, widths, 1, table->columns, gap, out);
			return;
		}
	}
	if (any_too_wide(table, widths, width)) {
		table_print_records(table, out);
		return;
	}
	for (size_t from = 1; from < table->columns; from = end) {
		end = find_end(table, widths, from, GAP, width);
		if (from > 1)
			fputc('\n', out);
		print_part(table, widths, from, end, GAP, out);
	}
}

static void print_rule(const struct table *table, const unsigned *widths, const char *left,
		       const char *between, const char *right, FILE *out)
{
	for (size_t column = 0; column < table->columns; column++) {
		fputs(column == 0 ? left : between, out);
		for (unsigned i = 0; i < widths[column] + 2; i++)
			fputs("─", out);
	}
	fprintf(out, "%s\n", right);
}

void table_print_box(const struct table *table, FILE *out)
{
	cleanup_free unsigned *widths = measure(table);

	print_rule(table, widths, "┌", "┬", "┐", out);
	for (size_t i = 0; i < table->cells.count; i++) {
		size_t column = i % table->columns;
		unsigned room = widths[column] - text_width(table->cells.items[i]);
		unsigned before = i < table->columns ? room / 2 : 0;

		fprintf(out, "│ %*s%s%*s ", (int)before, "", table->cells.items[i],
			(int)(room - before), "");
		if (column + 1 < table->columns)
			continue;
		fprintf(out, "│\n");
		if (i < table->columns)
			print_rule(table, widths, "├", "┼", "┤", out);
	}
	print_rule(table, widths, "└", "┴", "┘", out);
}

unsigned table_box_width(const struct table *table)
{
	cleanup_free unsigned *widths = measure(table);
	unsigned width = 1;

	for (size_t column = 0; column < table->columns; column++)
		width += widths[column] + 3;
	return width;
}

void table_print_records(const struct table *table, FILE *out)
{
	for (size_t i = table->columns; i < table->cells.count; i++) {
		size_t column = i % table->columns;

		if (column == 0 && i > table->columns)
			fputc('\n', out);
		if (*table->cells.items[i])
			fprintf(out, "%s: %s\n", table->cells.items[column], table->cells.items[i]);
	}
}

void table_release(struct table *table)
{
	strlist_release(&table->cells);
	*table = TABLE_INIT;
}
