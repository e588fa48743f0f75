/* Monotonic time, deadlines, and wall-clock time as text. */
#pragma once

#include "base/macro.h"

/* The monotonic clock, in milliseconds. */
int64_t clock_now_ms(void);

/* Milliseconds left until DEADLINE_MS, at least 0 and at most INT_MAX. */
int clock_left_ms(int64_t deadline_ms);

/* Sleep for MS milliseconds, or until a signal arrives. */
void clock_rest_ms(unsigned ms);

/*
 * Wait between two attempts of polling, for conditions without an event to wait for: sleep for
 * INTERVAL_MS, but not beyond DEADLINE_MS, and return true.  Return false at once if the deadline
 * has passed.  A loop thus checks at least once, and for the last time at the deadline:
 *
 *	while (!is_ready(thing))
 *		if (!clock_poll(deadline_ms, POLL_MS))
 *			return -ETIMEDOUT;
 *
 * A signal that does not end the process ends the sleep early.
 */
bool clock_poll(int64_t deadline_ms, unsigned interval_ms) must_check;

/* Seconds and milliseconds since 1970, and seconds since 1970 as RFC 3339 text, which the caller
 * frees. */
int64_t clock_wall_seconds(void);
int64_t clock_wall_ms(void);
char *clock_rfc3339(int64_t wall_seconds) must_check;

/* Parse a UTC time such as "2026-01-31T12:00:00Z"; returns seconds since 1970, or -1. */
int64_t clock_parse_rfc3339(const char *text);
