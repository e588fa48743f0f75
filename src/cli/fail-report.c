/* The report about a run of failures: a chart and tables. */

#include "cli/fail-report.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/table.h"
#include "cli/text.h"

#define LABEL_MOST 40
#define BAR_LEAST  20
#define BAR_MOST   100
#define MARKS      4 /* points in time above the bars */

struct chart {
	int64_t length_ms;
	unsigned label; /* columns */
	unsigned bar;
	FILE *out;
};

/* The column of MS in the bar. */
static unsigned column_of(const struct chart *chart, int64_t ms)
{
	int64_t column = chart->length_ms > 0 ? ms * chart->bar / chart->length_ms : 0;

	column = MAX(column, (int64_t)0);
	return (unsigned)MIN(column, (int64_t)chart->bar - 1);
}

static void mark_span(const struct chart *chart, char *bar, int64_t begin_ms, int64_t end_ms)
{
	unsigned first = column_of(chart, begin_ms);
	unsigned last = end_ms < 0 ? chart->bar - 1 : column_of(chart, end_ms);

	memset(bar + first, '#', last - first + 1);
}

static void print_row(const struct chart *chart, const char *label, const char *bar)
{
	cleanup_with(strbuf_release) struct strbuf clipped = STRBUF_INIT;
	unsigned width;

	text_clip(&clipped, label, chart->label);
	width = text_width(clipped.text);
	fprintf(chart->out, "%s%*s  %s\n", clipped.text,
		(int)(chart->label > width ? chart->label - width : 0), "", bar);
}

static char *empty_bar(const struct chart *chart)
{
	char *bar = xmalloc(chart->bar + 1);

	memset(bar, '.', chart->bar);
	bar[chart->bar] = '\0';
	return bar;
}

/* One row for all spans of SPANS called NAME. */
static void print_spans(const struct chart *chart, const struct spans *spans, const char *name,
			const char *label)
{
	cleanup_free char *bar = empty_bar(chart);

	for (size_t i = 0; i < spans->count; i++)
		if (strcmp(spans->items[i].name, name) == 0)
			mark_span(chart, bar, spans->items[i].begin_ms, spans->items[i].end_ms);
	print_row(chart, label, bar);
}

/* Whether an earlier span has the name of number AT. */
static bool is_repeated(const struct spans *spans, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(spans->items[i].name, spans->items[at].name) == 0)
			return true;
	return false;
}

static char *node_label(const char *name)
{
	return xasprintf("%s not Ready", name);
}

/* A row for every name in SPANS. */
static void print_each(const struct chart *chart, const struct spans *spans, bool of_nodes)
{
	for (size_t i = 0; i < spans->count; i++) {
		const char *name = spans->items[i].name;
		cleanup_free char *label = of_nodes ? node_label(name) : xstrdup(name);

		if (!is_repeated(spans, i))
			print_spans(chart, spans, name, label);
	}
}

static unsigned label_width(const struct report *report)
{
	unsigned width = text_width("pods on their way");

	if (report->service_name)
		width = MAX(width, text_width(report->service_name) + 7);
	for (size_t i = 0; i < report->failures.count; i++)
		width = MAX(width, text_width(report->failures.items[i].name));
	for (size_t i = 0; i < report->nodes.count; i++) {
		cleanup_free char *label = node_label(report->nodes.items[i].name);

		width = MAX(width, text_width(label));
	}
	return MIN(width, (unsigned)LABEL_MOST);
}

/* The times above the bars. */
static void print_scale(const struct chart *chart)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;

	for (unsigned i = 0; i < MARKS; i++) {
		while (line.len < (size_t)chart->bar * i / MARKS)
			strbuf_add_char(&line, ' ');
		strbuf_addf(&line, "%.0fs", (double)chart->length_ms * i / MARKS / 1000);
	}
	print_row(chart, "", line.text);
}

static void print_chart(const struct report *report, const struct chart *chart)
{
	cleanup_free char *pods = empty_bar(chart);

	print_scale(chart);
	print_each(chart, &report->failures, false);
	print_each(chart, &report->nodes, true);
	for (size_t i = 0; i < report->move_count; i++)
		if (report->moves[i].heir)
			mark_span(chart, pods, report->moves[i].left_ms, report->moves[i].ready_ms);
	if (report->move_count > 0)
		print_row(chart, "pods on their way", pods);
	print_spans(chart, &report->api, "API", "API silent");
	if (report->service_name) {
		cleanup_free char *label = xasprintf("%s silent", report->service_name);

		print_spans(chart, &report->service, report->service_name, label);
	}
}

/* "8.9s"; "-" if it did not happen. */
static char *seconds_text(int64_t ms)
{
	return ms < 0 ? xstrdup("-") : xasprintf("%.1fs", (double)ms / 1000);
}

static void print_nodes(const struct report *report, FILE *out)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;

	if (report->nodes.count == 0) {
		fputs("\nAll nodes were Ready all the time.\n", out);
		return;
	}
	TABLE_ROW(&table, "NODE", "NOT READY", "READY", "FOR");
	for (size_t i = 0; i < report->nodes.count; i++) {
		const struct span *span = &report->nodes.items[i];
		cleanup_free char *begin = seconds_text(span->begin_ms);
		cleanup_free char *end = seconds_text(span->end_ms);
		cleanup_free char *length = seconds_text(
			(span->end_ms < 0 ? report->length_ms : span->end_ms) - span->begin_ms);

		TABLE_ROW(&table, span->name, begin, end, length);
	}
	fputc('\n', out);
	table_print(&table, out);
}

static void print_moves(const struct report *report, unsigned columns, FILE *out)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;

	if (report->move_count == 0)
		return;
	TABLE_ROW(&table, "POD", "FROM", "LEFT", "SUCCESSOR", "ON", "READY");
	for (size_t i = 0; i < report->move_count; i++) {
		const struct move *move = &report->moves[i];
		cleanup_free char *left = seconds_text(move->left_ms);
		cleanup_free char *ready = seconds_text(move->ready_ms);

		TABLE_ROW(&table, move->pod, move->from, left, move->heir ? move->heir : "-",
			  move->to ? move->to : "-", ready);
	}
	fputc('\n', out);
	table_print_within(&table, columns, out);
}

static void add_silence(struct table *table, const char *name, const struct spans *spans,
			int64_t length_ms)
{
	cleanup_free char *count = xasprintf("%zu", spans->count);
	cleanup_free char *longest = seconds_text(spans_longest_ms(spans, length_ms));
	cleanup_free char *total = seconds_text(spans_total_ms(spans, length_ms));

	TABLE_ROW(table, name, count, longest, total);
}

static void print_silence(const struct report *report, FILE *out)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;

	TABLE_ROW(&table, "SILENT", "TIMES", "LONGEST", "IN ALL");
	add_silence(&table, "API", &report->api, report->length_ms);
	if (report->service_name)
		add_silence(&table, report->service_name, &report->service, report->length_ms);
	fputc('\n', out);
	table_print(&table, out);
}

void fail_report_print(const struct report *report, unsigned columns, FILE *out)
{
	struct chart chart = { .length_ms = report->length_ms,
			       .label = label_width(report),
			       .out = out };

	chart.bar = columns > chart.label + 2 + BAR_LEAST ? columns - chart.label - 2 : BAR_LEAST;
	chart.bar = MIN(chart.bar, (unsigned)BAR_MOST);
	print_chart(report, &chart);
	print_nodes(report, out);
	print_moves(report, columns, out);
	print_silence(report, out);
}
