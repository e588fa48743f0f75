/* BuildKit's StatusResponse (api/services/control/control.proto), as text. */

#include "buildkit/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/protobuf.h"

#define STEPS_LIMIT    4096u
#define NAME_LIMIT     1024u
#define LINE_LIMIT     8192u
#define TAIL_LIMIT     4096u
#define WARNINGS_LIMIT 8192u
#define SECONDS_LIMIT  1e7

/* Fields of the messages. */
enum {
	RESPONSE_VERTEX = 1,
	RESPONSE_STATUS = 2,
	RESPONSE_LOG = 3,
	RESPONSE_WARNING = 4,

	VERTEX_DIGEST = 1,
	VERTEX_NAME = 3,
	VERTEX_CACHED = 4,
	VERTEX_STARTED = 5,
	VERTEX_COMPLETED = 6,
	VERTEX_ERROR = 7,

	STATUS_ID = 1,
	STATUS_VERTEX = 2,
	STATUS_CURRENT = 4,
	STATUS_TOTAL = 5,
	STATUS_STARTED = 7,
	STATUS_COMPLETED = 8,

	LOG_VERTEX = 1,
	LOG_TIME = 2,
	LOG_TEXT = 4,

	WARNING_SHORT = 3,

	TIME_SECONDS = 1,
	TIME_NANOSECONDS = 2,
};

struct moment {
	bool is_set;
	double seconds;
};

struct build_step {
	char *digest;
	char *name;
	unsigned number; /* 0: not shown yet */
	bool is_ended;
	bool has_failed;
	struct moment started;
	struct strbuf line; /* the beginning of a line of its output */
	struct strbuf tail; /* the last lines of its output */
};

/* What was read of a message, by field; the last one of each counts. */
#define FIELDS 9
struct fields {
	struct protobuf_field field[FIELDS];
};

void build_trace_release(struct build_trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		free(trace->steps[i].digest);
		free(trace->steps[i].name);
		strbuf_release(&trace->steps[i].line);
		strbuf_release(&trace->steps[i].tail);
	}
	free(trace->steps);
	strbuf_release(&trace->warnings);
	*trace = BUILD_TRACE_INIT;
}

/* Read MESSAGE; false if it is damaged.  A field's number is 0 if it is missing. */
static bool read_fields(struct protobuf message, struct fields *ret)
{
	struct protobuf_field field;
	int r;

	*ret = (struct fields){ 0 };
	while ((r = protobuf_next(&message, &field)) > 0)
		if (field.number < FIELDS)
			ret->field[field.number] = field;
	return r == 0;
}

/* The bytes of the field NUMBER, none if it has none. */
static struct protobuf bytes_of(const struct fields *fields, unsigned number)
{
	const struct protobuf_field *field = &fields->field[number];

	return field->is_bytes ? field->bytes : (struct protobuf){ "", 0 };
}

/* The number in a field, 0 if there is none. */
static uint64_t number_of(const struct fields *fields, unsigned number)
{
	return fields->field[number].is_bytes ? 0 : fields->field[number].value;
}

static struct moment moment_of(const struct fields *fields, unsigned number)
{
	struct fields parts;

	if (!fields->field[number].is_bytes || !read_fields(bytes_of(fields, number), &parts))
		return (struct moment){ false };
	return (struct moment){ true, (double)(int64_t)number_of(&parts, TIME_SECONDS) +
					      (double)(int32_t)number_of(&parts, TIME_NANOSECONDS) /
						      1e9 };
}

/* The seconds from BEGIN to END. */
static double elapsed(const struct moment *begin, const struct moment *end)
{
	double seconds = begin->is_set && end->is_set ? end->seconds - begin->seconds : 0;

	return seconds < 0 ? 0 : MIN(seconds, SECONDS_LIMIT);
}

/* TEXT in one line that can be printed, of limited length; for the caller to free. */
static char *printable(struct protobuf text)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;

	strbuf_add_printable_line(&line, text.data, MIN(text.len, (size_t)NAME_LIMIT));
	return strbuf_take(&line);
}

/* The step with DIGEST, a new one if there is none; NULL if there are too many. */
static struct build_step *find_step(struct build_trace *trace, struct protobuf digest)
{
	cleanup_free char *text = printable(digest);

	for (size_t i = trace->count; i-- > 0;)
		if (strcmp(trace->steps[i].digest, text) == 0)
			return &trace->steps[i];
	if (trace->count == STEPS_LIMIT)
		return NULL;
	trace->steps = xrealloc(trace->steps, trace->count + 1, sizeof(*trace->steps));
	trace->steps[trace->count] = (struct build_step){ .digest = take_ptr(text),
							  .name = xstrdup(""),
							  .line = STRBUF_INIT,
							  .tail = STRBUF_INIT };
	return &trace->steps[trace->count++];
}

/* Go on with STEP: its name, if it was not shown yet, after an empty line if that was about another
 * one. */
static void show_step(struct build_trace *trace, struct build_step *step, struct strbuf *out)
{
	if (trace->last && trace->last != step->digest)
		strbuf_add_char(out, '\n');
	trace->last = step->digest;
	if (step->number == 0) {
		step->number = ++trace->numbered;
		strbuf_addf(out, "#%u %s\n", step->number, step->name);
	}
}

static void begin_line(struct build_trace *trace, struct build_step *step, struct strbuf *out)
{
	show_step(trace, step, out);
	strbuf_addf(out, "#%u ", step->number);
}

/* Add the line LINE of STEP's output to OUT and to its last lines. */
static void add_line(struct build_trace *trace, struct build_step *step, double seconds,
		     const char *line, size_t len, struct strbuf *out)
{
	size_t before;
	size_t drop = 0;

	begin_line(trace, step, out);
	before = out->len;
	strbuf_addf(out, "%.3f ", seconds);
	strbuf_add_printable_line(out, line, len);
	strbuf_add_char(out, '\n');
	strbuf_add_mem(&step->tail, out->text + before, out->len - before);
	while (step->tail.len - drop > TAIL_LIMIT) {
		const char *end = memchr(step->tail.text + drop, '\n', step->tail.len - drop);

		drop = (size_t)(end - step->tail.text) + 1;
	}
	strbuf_drop_front(&step->tail, drop);
}

/* Add TEXT of STEP's output, line by line. */
static void add_output(struct build_trace *trace, struct build_step *step, double seconds,
		       struct protobuf text, struct strbuf *out)
{
	while (text.len > 0) {
		const char *end = memchr(text.data, '\n', text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;
		size_t room = LINE_LIMIT - step->line.len;
		size_t taken = MIN(len, room);

		strbuf_add_mem(&step->line, text.data, taken);
		if (taken == len && end)
			taken++;
		if (taken > len || step->line.len == LINE_LIMIT) {
			/* A program that draws on a terminal ends lines with both. */
			while (step->line.len > 0 && step->line.text[step->line.len - 1] == '\r')
				step->line.text[--step->line.len] = '\0';
			add_line(trace, step, seconds, step->line.text, step->line.len, out);
			strbuf_reset(&step->line);
		}
		text.data += taken;
		text.len -= taken;
	}
}

/* What is left of STEP's output at its end. */
static void end_output(struct build_trace *trace, struct build_step *step, double seconds,
		       struct strbuf *out)
{
	if (step->line.len > 0)
		add_output(trace, step, seconds, (struct protobuf){ "\n", 1 }, out);
}

static void end_step(struct build_trace *trace, struct build_step *step,
		     const struct fields *fields, struct strbuf *out)
{
	struct moment completed = moment_of(fields, VERTEX_COMPLETED);
	double seconds = elapsed(&step->started, &completed);
	struct protobuf error = bytes_of(fields, VERTEX_ERROR);

	step->is_ended = true;
	end_output(trace, step, seconds, out);
	begin_line(trace, step, out);
	if (error.len > 0) {
		cleanup_free char *why = printable(error);

		step->has_failed = true;
		/* BuildKit cancels the others when one fails. */
		if (strstr(why, "context canceled"))
			strbuf_add(out, "CANCELED\n");
		else
			strbuf_addf(out, "ERROR: %s\n", why);
	} else if (number_of(fields, VERTEX_CACHED)) {
		strbuf_add(out, "CACHED\n");
	} else {
		strbuf_addf(out, "DONE %.1fs\n", seconds);
	}
}

static bool read_step(struct build_trace *trace, struct protobuf message, struct fields *ret_fields,
		      struct build_step **ret_step)
{
	if (!read_fields(message, ret_fields))
		return false;
	*ret_step = find_step(trace, bytes_of(ret_fields, VERTEX_DIGEST));
	return *ret_step != NULL;
}

static bool add_vertex(struct build_trace *trace, struct protobuf message,
		       arg_unused struct strbuf *out)
{
	struct fields fields;
	struct build_step *step;
	struct moment started;

	if (!read_step(trace, message, &fields, &step))
		return false;
	free(step->name);
	step->name = printable(bytes_of(&fields, VERTEX_NAME));
	started = moment_of(&fields, VERTEX_STARTED);
	if (started.is_set)
		step->started = started;
	return true;
}

/* Show the name of a step that has begun and goes on. */
static bool add_begin(struct build_trace *trace, struct protobuf message, struct strbuf *out)
{
	struct fields fields;
	struct build_step *step;

	if (!read_step(trace, message, &fields, &step))
		return false;
	if (step->started.is_set && step->number == 0)
		show_step(trace, step, out);
	return true;
}

static bool add_end(struct build_trace *trace, struct protobuf message, struct strbuf *out)
{
	struct fields fields;
	struct build_step *step;

	if (!read_step(trace, message, &fields, &step))
		return false;
	if (!step->is_ended && fields.field[VERTEX_COMPLETED].number)
		end_step(trace, step, &fields, out);
	return true;
}

static void add_bytes(struct strbuf *out, uint64_t bytes)
{
	static const char units[] = "BkMGTPE";
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1000 && units[unit + 1]) {
		value /= 1000;
		unit++;
	}
	if (unit == 0)
		strbuf_addf(out, "%juB", (uintmax_t)bytes);
	else
		strbuf_addf(out, "%.2f%cB", value, units[unit]);
}

/* A part of a step, which is shown when it is complete. */
static bool add_status(struct build_trace *trace, struct protobuf message, struct strbuf *out)
{
	struct fields fields;
	struct build_step *step;
	struct moment started;
	struct moment completed;
	cleanup_free char *id = NULL;

	if (!read_fields(message, &fields))
		return false;
	completed = moment_of(&fields, STATUS_COMPLETED);
	if (!completed.is_set)
		return true;
	step = find_step(trace, bytes_of(&fields, STATUS_VERTEX));
	if (!step)
		return false;
	id = printable(bytes_of(&fields, STATUS_ID));
	started = moment_of(&fields, STATUS_STARTED);
	begin_line(trace, step, out);
	strbuf_add(out, id);
	if (number_of(&fields, STATUS_CURRENT)) {
		strbuf_add_char(out, ' ');
		add_bytes(out, number_of(&fields, STATUS_CURRENT));
	}
	if (number_of(&fields, STATUS_TOTAL)) {
		strbuf_add(out, " / ");
		add_bytes(out, number_of(&fields, STATUS_TOTAL));
	}
	if (elapsed(&started, &completed) >= 0.05)
		strbuf_addf(out, " %.1fs", elapsed(&started, &completed));
	strbuf_add(out, " done\n");
	return true;
}

static bool add_log(struct build_trace *trace, struct protobuf message, struct strbuf *out)
{
	struct fields fields;
	struct build_step *step;
	struct moment time;

	if (!read_fields(message, &fields))
		return false;
	step = find_step(trace, bytes_of(&fields, LOG_VERTEX));
	if (!step)
		return false;
	time = moment_of(&fields, LOG_TIME);
	add_output(trace, step, elapsed(&step->started, &time), bytes_of(&fields, LOG_TEXT), out);
	return true;
}

static bool add_warning(struct build_trace *trace, struct protobuf message,
			arg_unused struct strbuf *out)
{
	cleanup_free char *text = NULL;
	struct fields fields;

	if (!read_fields(message, &fields))
		return false;
	text = printable(bytes_of(&fields, WARNING_SHORT));
	if (trace->warnings.len < WARNINGS_LIMIT)
		strbuf_addf(&trace->warnings, " - %s\n", text);
	return true;
}

int build_trace_add(struct build_trace *trace, const void *data, size_t len, struct strbuf *out,
		    struct error *err)
{
	/* A step's end comes last, also if it is reported together with its output. */
	static const struct {
		unsigned field;
		bool (*add)(struct build_trace *trace, struct protobuf message, struct strbuf *out);
	} passes[] = {
		{ RESPONSE_VERTEX, add_vertex }, { RESPONSE_STATUS, add_status },
		{ RESPONSE_LOG, add_log },       { RESPONSE_VERTEX, add_end },
		{ RESPONSE_VERTEX, add_begin },  { RESPONSE_WARNING, add_warning },
	};

	for (size_t i = 0; i < ARRAY_SIZE(passes); i++) {
		struct protobuf message = { data, len };
		struct protobuf_field field;
		bool ok = true;
		int r = 0;

		while (ok && (r = protobuf_next(&message, &field)) > 0)
			if (field.is_bytes && field.number == passes[i].field)
				ok = passes[i].add(trace, field.bytes, out);
		if (!ok || r < 0)
			return error_set(err, -EBADMSG, "the builder's progress is damaged");
	}
	return 0;
}

void build_trace_failure(const struct build_trace *trace, struct strbuf *out)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct build_step *step = &trace->steps[i];

		if (!step->has_failed || step->tail.len == 0)
			continue;
		strbuf_addf(out, "------\n > %s:\n%s------\n", step->name, step->tail.text);
		return;
	}
}
