/*
 * The steps in progress, and their display by progress.c.
 *
 * Terminal size and time are parameters, so that it can be tested.
 */
#pragma once

#include "base/macro.h"
#include "base/strbuf.h"

struct steps;

struct steps_look {
	unsigned columns; /* no line is longer; 0: any length */
	unsigned rows;    /* the maximum number of lines */
	bool unicode;     /* non-ASCII signs */
	bool colour;
	bool times; /* say how long each step took */
	bool each;  /* a line for every node as soon as it is done, with the time since SINCE_MS */
	int64_t since_ms;
};

struct steps *steps_new(const struct steps_look *look);
void steps_free(struct steps *steps);

/* The terminal changed its size. */
void steps_resize(struct steps *steps, unsigned columns, unsigned rows);

/* The reports of the observer, at NOW_MS. */
void steps_begin(struct steps *steps, const char *step, const char *node, int64_t now_ms);
void steps_progress(struct steps *steps, const char *step, const char *node, const char *detail,
		    uint64_t done, uint64_t total, int64_t now_ms);

void steps_expect(struct steps *steps, const char *step, int64_t expected_ms, int64_t now_ms);

/*
 * The estimated remaining time of work that started ELAPSED_MS ago with BEGUN of TOTAL done and has
 * DONE of TOTAL done now. EXPECTED_MS is the expected time for all of TOTAL (0: unknown). The
 * weight of the expectation falls slowly at first and is 0 once a fifth of the work is done; from
 * then on only the pace so far counts. -1 if there is no basis for an estimate.
 */
int64_t steps_left_ms(int64_t elapsed_ms, uint64_t begun, uint64_t done, uint64_t total,
		      int64_t expected_ms) must_check;

/*
 * For a log: add to OUT one line about each step that is due, with its progress and current
 * work.  A step is due every STEPS_REPORT_MS, and for the first time after
 * STEPS_FIRST_REPORT_MS unless it is expected to be long.
 */
#define STEPS_FIRST_REPORT_MS 10000
#define STEPS_REPORT_MS       30000
void steps_report(struct steps *steps, int64_t now_ms, struct strbuf *out);

/* How long the step has been running for NODE, at NOW_MS. */
int64_t steps_taken_ms(struct steps *steps, const char *step, const char *node, int64_t now_ms);

/* Adds to OUT the lines of the step if this was the last node that it ran on. */
void steps_end(struct steps *steps, const char *step, const char *node, bool ok, int64_t now_ms,
	       struct strbuf *out);

/* Add the lines of a sentence to OUT. */
void steps_note(const struct steps *steps, const char *text, struct strbuf *out);

/* Add the lines of the steps in progress at NOW_MS to OUT, and return their number. */
unsigned steps_render(const struct steps *steps, int64_t now_ms, struct strbuf *out);
