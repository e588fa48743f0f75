/* Rows and columns, aligned. */

#include "cli/table.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/text.h"

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

void table_print(const struct table *table, FILE *out)
{
	cleanup_free unsigned *widths = measure(table);

	for (size_t i = 0; i < table->cells.count; i++) {
		size_t column = i % table->columns;
		const char *cell = table->cells.items[i];

		if (column + 1 == table->columns)
			fprintf(out, "%s\n", cell);
		else
			fprintf(out, "%s%*s", cell, (int)(widths[column] + 2 - text_width(cell)),
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

void table_release(struct table *table)
{
	strlist_release(&table->cells);
	*table = TABLE_INIT;
}
