/* Time that only goes forward, and deadlines on it. */
#pragma once

#include "base/macro.h"

/* Milliseconds on a clock that only goes forward. */
int64_t clock_now_ms(void);

/* Milliseconds left until DEADLINE_MS, at least 0 and at most INT_MAX. */
int clock_left_ms(int64_t deadline_ms);

/* Rest for MS milliseconds: for polling what gives no event. */
void clock_rest_ms(unsigned ms);

/* Seconds and milliseconds since 1970, and such a moment as RFC 3339 text for the caller to free.
 */
int64_t clock_wall_seconds(void);
int64_t clock_wall_ms(void);
char *clock_rfc3339(int64_t wall_seconds) must_check;

/* The seconds since 1970 of TEXT, such as "2026-01-31T12:00:00Z" in UTC; -1 if it is something
 * else. */
int64_t clock_parse_rfc3339(const char *text);
