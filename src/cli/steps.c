/* The steps in progress, and their display. */

#include "cli/steps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/text.h"

#define BAR_COLUMNS  20
#define WIDE_COLUMNS 110

struct part {
	char *node; /* NULL: the whole cluster */
	char *detail;
	uint64_t done;
	uint64_t total;
	uint64_t begun; /* of total: the part that was done at the first report */
	int64_t begun_ms;
	int64_t done_ms; /* when done was last reported to have grown */
	bool ended;
	bool ok;
};

struct step {
	char *words;
	int64_t begun_ms;
	int64_t reported_ms; /* by steps_report() */
	bool tells_left;     /* expected to be long */
	int64_t expected_ms;
	struct part *parts;
	size_t count;
};

struct steps {
	struct steps_look look;
	struct step *items;
	size_t count;
};

struct steps *steps_new(const struct steps_look *look)
{
	struct steps *steps = xcalloc(1, sizeof(*steps));

	steps->look = *look;
	return steps;
}

static void release_step(struct step *step)
{
	for (size_t i = 0; i < step->count; i++) {
		free(step->parts[i].node);
		free(step->parts[i].detail);
	}
	free(step->parts);
	free(step->words);
}

void steps_free(struct steps *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		release_step(&steps->items[i]);
	free(steps->items);
	free(steps);
}

void steps_resize(struct steps *steps, unsigned columns, unsigned rows)
{
	steps->look.columns = columns;
	steps->look.rows = rows;
}

/* Output of other programs must not move the cursor. */
static char *harmless(const char *text)
{
	char *copy = xstrdup(text);

	for (char *p = copy; *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = ' ';
	return copy;
}

static bool same_node(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static struct step *find_step(struct steps *steps, const char *words)
{
	for (size_t i = 0; i < steps->count; i++)
		if (strcmp(steps->items[i].words, words) == 0)
			return &steps->items[i];
	return NULL;
}

static struct part *find_part(struct step *step, const char *node)
{
	for (size_t i = 0; i < step->count; i++)
		if (same_node(step->parts[i].node, node))
			return &step->parts[i];
	return NULL;
}

/* The part of the step for NODE, started if necessary. */
static struct part *need_part(struct steps *steps, const char *words, const char *node,
			      int64_t now_ms)
{
	struct step *step = find_step(steps, words);
	struct part *part;

	if (!step) {
		steps->items = xrealloc(steps->items, steps->count + 1, sizeof(*steps->items));
		step = &steps->items[steps->count++];
		*step = (struct step){ .words = xstrdup(words), .begun_ms = now_ms };
	}
	part = find_part(step, node);
	if (part)
		return part;
	step->parts = xrealloc(step->parts, step->count + 1, sizeof(*step->parts));
	part = &step->parts[step->count++];
	*part = (struct part){ .node = node ? xstrdup(node) : NULL,
			       .begun_ms = now_ms,
			       .done_ms = now_ms };
	return part;
}

void steps_begin(struct steps *steps, const char *step, const char *node, int64_t now_ms)
{
	struct part *part = need_part(steps, step, node, now_ms);

	part->ended = false;
	part->begun_ms = part->done_ms = now_ms;
	part->done = part->total = 0;
}

void steps_progress(struct steps *steps, const char *step, const char *node, const char *detail,
		    uint64_t done, uint64_t total, int64_t now_ms)
{
	struct part *part = need_part(steps, step, node, now_ms);

	free(part->detail);
	part->detail = detail ? harmless(detail) : NULL;
	if (part->total != total)
		part->begun = MIN(done, total);
	if (part->total != total || MIN(done, total) > part->done)
		part->done_ms = now_ms;
	part->done = MIN(done, total);
	part->total = total;
}

void steps_expect(struct steps *steps, const char *words, int64_t expected_ms, int64_t now_ms)
{
	struct step *step;

	(void)need_part(steps, words, NULL, now_ms);
	step = find_step(steps, words);
	step->tells_left = true;
	step->expected_ms = expected_ms;
}

/* Before this share of the work is done, its pace alone is too unreliable to show. */
#define TELLING_SHARE 0.2

/* Without an expectation, the pace is shown from this share on. */
#define TELLING_MS    5000
#define TELLING_LEAST 0.02

int64_t steps_left_ms(int64_t elapsed_ms, uint64_t begun, uint64_t done, uint64_t total,
		      int64_t expected_ms)
{
	double all = (double)total;
	double share = total ? (double)(done - MIN(begun, done)) / all : 0;
	double left = total ? 1 - (double)MIN(done, total) / all : 1;
	double by_pace = share > 0 ? (double)elapsed_ms / share : 0;
	double part = MIN(share / TELLING_SHARE, 1.0);
	/* Squared, so that a slow beginning, from which the pace follows that all takes hours,
	 * counts for little. */
	double weight = part * part;

	if (expected_ms <= 0 && (share < TELLING_LEAST || elapsed_ms < TELLING_MS))
		return -1;
	if (expected_ms <= 0)
		weight = 1;
	return (int64_t)(left * (weight * by_pace + (1 - weight) * (double)expected_ms) + 0.5);
}

static void add_sign(const struct steps *steps, const char *plain, const char *sign,
		     const char *colour, struct strbuf *out)
{
	strbuf_addf(out, "%s%s%s ", steps->look.colour ? colour : "",
		    steps->look.unicode ? sign : plain, steps->look.colour ? "\033[0m" : "");
}

static void add_seconds(struct strbuf *out, int64_t ms)
{
	if (ms < 60000)
		strbuf_addf(out, "%lld.%llds", (long long)(ms / 1000), (long long)(ms / 100 % 10));
	else
		strbuf_addf(out, "%lldm%02llds", (long long)(ms / 60000),
			    (long long)(ms / 1000 % 60));
}

/* The estimated remaining time of STEP: ", about 7m left".  The pace is that up to the last
 * progress: it does not fall while one large item is under way. */
static void add_left(const struct step *step, struct strbuf *out)
{
	const struct part *part = &step->parts[0];
	int64_t ms = steps_left_ms(part->done_ms - step->begun_ms, part->begun, part->done,
				   part->total, step->expected_ms);

	if (!step->tells_left || step->count != 1 || ms < 0)
		return;
	if (ms < 60000)
		strbuf_addf(out, ", about %llds left", (long long)((ms + 9999) / 10000 * 10));
	else
		strbuf_addf(out, ", about %lldm left", (long long)((ms + 30000) / 60000));
}

static void add_capital(struct strbuf *out, const char *words)
{
	size_t at = out->len;

	strbuf_add(out, words);
	out->text[at] = (char)toupper((unsigned char)out->text[at]);
}

/* One line about the parts of the finished STEP that succeeded (OK) or failed; only about ONLY if
 * it is not NULL. */
static void add_ended(const struct steps *steps, const struct step *step, const struct part *only,
		      bool ok, int64_t now_ms, struct strbuf *out)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;
	unsigned indent = 2;
	const char *separator = ": ";
	bool any = false;

	add_capital(&line, step->words);
	for (size_t i = 0; i < step->count; i++) {
		if (step->parts[i].ok != ok || (only && only != &step->parts[i]))
			continue;
		any = true;
		if (!step->parts[i].node)
			continue;
		strbuf_addf(&line, "%s%s", separator, step->parts[i].node);
		separator = ", ";
	}
	if (!any)
		return;
	if (!ok)
		strbuf_add(&line, " failed");
	if (steps->look.times) {
		strbuf_add(&line, " (");
		add_seconds(&line, now_ms - (only ? only->begun_ms : step->begun_ms));
		strbuf_add(&line, ")");
	}
	if (only) {
		strbuf_addf(out, "%9.3f ", (double)(now_ms - steps->look.since_ms) / 1000);
		indent += 10;
	}
	if (ok)
		add_sign(steps, "*", "✓", "\033[32m", out);
	else
		add_sign(steps, "X", "✗", "\033[1;31m", out);
	text_wrap(out, line.text, indent, indent,
		  steps->look.columns ? steps->look.columns - 1 : UINT32_MAX);
	strbuf_add_char(out, '\n');
}

int64_t steps_taken_ms(struct steps *steps, const char *step, const char *node, int64_t now_ms)
{
	return now_ms - need_part(steps, step, node, now_ms)->begun_ms;
}

void steps_end(struct steps *steps, const char *words, const char *node, bool ok, int64_t now_ms,
	       struct strbuf *out)
{
	struct part *part = need_part(steps, words, node, now_ms);
	struct step *step = find_step(steps, words);

	part->ended = true;
	part->ok = ok;
	if (steps->look.each)
		add_ended(steps, step, part, ok, now_ms, out);
	for (size_t i = 0; i < step->count; i++)
		if (!step->parts[i].ended)
			return;
	if (!steps->look.each) {
		add_ended(steps, step, NULL, true, now_ms, out);
		add_ended(steps, step, NULL, false, now_ms, out);
	}
	release_step(step);
	memmove(step, step + 1, (size_t)(steps->items + steps->count - (step + 1)) * sizeof(*step));
	steps->count--;
}

void steps_note(const struct steps *steps, const char *text, struct strbuf *out)
{
	add_sign(steps, "*", "•", "\033[36m", out);
	text_wrap(out, text, 2, 2, steps->look.columns ? steps->look.columns - 1 : UINT32_MAX);
	strbuf_add_char(out, '\n');
}

static void add_spinner(const struct steps *steps, int64_t now_ms, struct strbuf *out)
{
	static const char *const frames[] = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" };
	static const char *const plain[] = { "-", "\\", "|", "/" };
	size_t at = (size_t)(now_ms / 100);

	add_sign(steps, plain[at % ARRAY_SIZE(plain)], frames[at % ARRAY_SIZE(frames)], "\033[36m",
		 out);
}

static void add_bar(const struct steps *steps, const struct part *part, unsigned columns,
		    struct strbuf *out)
{
	unsigned full = (unsigned)((double)part->done / (double)part->total * columns);

	strbuf_add(out, " [");
	for (unsigned i = 0; i < columns; i++)
		strbuf_add(out, i < full ? (steps->look.unicode ? "█" : "#")
					 : (steps->look.unicode ? "░" : "."));
	strbuf_add(out, "]");
}

static unsigned percent(const struct part *part)
{
	return (unsigned)((double)part->done / (double)part->total * 100);
}

/* The line of STEP: name, bar, percent, time, and current work, as far as there is room. */
static void render_step(const struct steps *steps, const struct step *step, int64_t now_ms,
			struct strbuf *out)
{
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf tail = STRBUF_INIT;
	const struct part *part = step->count == 1 ? &step->parts[0] : NULL;
	unsigned room = steps->look.columns - 1 - 2; /* the last column and the spinner */
	unsigned used;
	unsigned bar;

	add_capital(&words, step->words);
	if (part && part->node)
		strbuf_addf(&words, ": %s", part->node);
	if (part && part->total)
		strbuf_addf(&tail, " %u%%", percent(part));
	strbuf_add_char(&tail, ' ');
	add_seconds(&tail, now_ms - step->begun_ms);
	add_left(step, &tail);

	add_spinner(steps, now_ms, out);
	used = text_width(tail.text);
	text_clip(out, words.text, room > used ? room - used : 0);
	used = MIN(room, used + text_width(words.text));
	/* The current work of a long step takes half of the bar's space. */
	bar = step->tells_left && steps->look.columns < WIDE_COLUMNS ? BAR_COLUMNS / 2
								     : BAR_COLUMNS;
	if (part && part->total && room >= used + bar + 3) {
		add_bar(steps, part, bar, out);
		used += bar + 3;
	}
	text_clip(out, tail.text, room);
	if (part && part->detail && room >= used + 8) {
		strbuf_add_char(out, ' ');
		text_clip(out, part->detail, room - used - 1);
	}
	strbuf_add_char(out, '\n');
}

static bool is_due(const struct step *step, int64_t now_ms)
{
	if (step->reported_ms == 0 && !step->tells_left)
		return now_ms - step->begun_ms >= STEPS_FIRST_REPORT_MS;
	return now_ms - MAX(step->begun_ms, step->reported_ms) >= STEPS_REPORT_MS;
}

static void report_step(const struct step *step, int64_t now_ms, struct strbuf *out)
{
	const struct part *part = &step->parts[0];
	const char *separator = ": ";

	strbuf_add(out, "  ");
	add_capital(out, step->words);
	for (size_t i = 0; i < step->count; i++) {
		if (!step->parts[i].node || step->parts[i].ended)
			continue;
		strbuf_addf(out, "%s%s", separator, step->parts[i].node);
		separator = ", ";
	}
	if (step->count == 1 && part->total)
		strbuf_addf(out, ": %u%% after ", percent(part));
	else
		strbuf_add(out, ": still running after ");
	add_seconds(out, now_ms - step->begun_ms);
	add_left(step, out);
	if (step->count == 1 && part->detail)
		strbuf_addf(out, ": %s", part->detail);
	strbuf_add_char(out, '\n');
}

void steps_report(struct steps *steps, int64_t now_ms, struct strbuf *out)
{
	for (size_t i = 0; i < steps->count; i++) {
		struct step *step = &steps->items[i];

		if (!is_due(step, now_ms))
			continue;
		step->reported_ms = now_ms;
		report_step(step, now_ms, out);
	}
}

/* Print the nodes of STEP side by side; returns the number of lines. */
static unsigned render_nodes(const struct steps *steps, const struct step *step, int64_t now_ms,
			     struct strbuf *out)
{
	unsigned at = 0;
	unsigned lines = 0;

	for (size_t i = 0; i < step->count; i++) {
		const struct part *part = &step->parts[i];
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		unsigned width;

		strbuf_add(&text, part->node ? part->node : "cluster");
		if (!part->ended && part->total)
			strbuf_addf(&text, " %u%%", percent(part));
		width = MIN(text_width(text.text) + 2, steps->look.columns - 3);
		if (lines == 0 || at + 2 + width >= steps->look.columns) {
			strbuf_add(out, lines ? "\n  " : "  ");
			lines++;
			at = 2;
		} else {
			strbuf_add(out, "  ");
			at += 2;
		}
		if (!part->ended)
			add_spinner(steps, now_ms, out);
		else if (part->ok)
			add_sign(steps, "+", "✓", "\033[32m", out);
		else
			add_sign(steps, "X", "✗", "\033[1;31m", out);
		text_clip(out, text.text, width - 2);
		at += width;
	}
	strbuf_add_char(out, '\n');
	return lines;
}

unsigned steps_render(const struct steps *steps, int64_t now_ms, struct strbuf *out)
{
	unsigned lines = 0;

	for (size_t i = 0; i < steps->count; i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		unsigned more = 1;

		render_step(steps, &steps->items[i], now_ms, &text);
		if (steps->items[i].count > 1)
			more += render_nodes(steps, &steps->items[i], now_ms, &text);
		if (lines + more > steps->look.rows)
			break;
		strbuf_add(out, text.text);
		lines += more;
	}
	return lines;
}
