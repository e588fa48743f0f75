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

/* The width of every column, for the caller to free. */
static unsigned *measure(const struct table *table)
{
	unsigned *widths = xcalloc(table->columns, sizeof(*widths));

	for (size_t i = 0; i < table->cells.count; i++) {
		unsigned *width = &widths[i % table->columns];

		*width = MAX(*width, text_width(table->cells.items[i]));
	}
	return widths;
}

size_t table_fit(const struct table *table, unsigned width)
{
	cleanup_free unsigned *widths = measure(table);
	unsigned taken = 0;
	size_t count = 0;

	while (count < table->columns && taken + widths[count] <= width)
		taken += widths[count++] + GAP;
	return count;
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

void table_print(const struct table *table, FILE *out)
{
	cleanup_free unsigned *widths = measure(table);
	size_t shown = table->shown ? table->shown : table->columns;

	for (size_t i = 0; i < table->cells.count; i++) {
		size_t column = i % table->columns;

		if (column >= shown)
			continue;
		print_cell(table, i, out);
		if (column + 1 == shown)
			fputc('\n', out);
		else
			fprintf(out, "%*s",
				(int)(widths[column] + GAP - text_width(table->cells.items[i])),
				"");
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
