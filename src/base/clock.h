/* Time that only goes forward, and deadlines on it. */
#pragma once

#include "base/macro.h"

/* Milliseconds on a clock that only goes forward. */
int64_t clock_now_ms(void);

/* Milliseconds left until DEADLINE_MS, at least 0 and at most INT_MAX. */
int clock_left_ms(int64_t deadline_ms);

/* Rest for MS milliseconds. */
void clock_rest_ms(unsigned ms);

/*
 * Poll for something that gives no event: rest for INTERVAL_MS, but not longer than until
 * DEADLINE_MS, and return true; return false at once if the deadline has passed.  So a loop looks
 * at least once, and for the last time at the deadline:
 *
 *	while (!is_ready(thing))
 *		if (!clock_poll(deadline_ms, POLL_MS))
 *			return -ETIMEDOUT;
 *
 * A signal that does not end the process ends the rest early.
 */
bool clock_poll(int64_t deadline_ms, unsigned interval_ms) must_check;

/* Seconds and milliseconds since 1970, and such a moment as RFC 3339 text for the caller to free.
 */
int64_t clock_wall_seconds(void);
int64_t clock_wall_ms(void);
char *clock_rfc3339(int64_t wall_seconds) must_check;

/* The seconds since 1970 of TEXT, such as "2026-01-31T12:00:00Z" in UTC; -1 if it is something
 * else. */
int64_t clock_parse_rfc3339(const char *text);
