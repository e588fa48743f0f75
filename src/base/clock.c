/* Monotonic time, deadlines, and wall-clock time as text. */

#include "base/clock.h"

#include <limits.h>
#include <time.h>

#include "base/alloc.h"

int64_t clock_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int clock_left_ms(int64_t deadline_ms)
{
	int64_t left = deadline_ms - clock_now_ms();

	return left < 0 ? 0 : (int)MIN(left, (int64_t)INT_MAX);
}

void clock_rest_ms(unsigned ms)
{
	struct timespec rest = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&rest, NULL);
}

bool clock_poll(int64_t deadline_ms, unsigned interval_ms)
{
	int left_ms = clock_left_ms(deadline_ms);

	if (left_ms == 0)
		return false;
	clock_rest_ms(MIN((unsigned)left_ms, interval_ms));
	return true;
}

int64_t clock_wall_seconds(void)
{
	return (int64_t)time(NULL);
}

int64_t clock_wall_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

char *clock_rfc3339(int64_t wall_seconds)
{
	time_t moment = (time_t)wall_seconds;
	char text[sizeof("-2147483648-01-01T00:00:00Z")];
	struct tm parts;

	if (!gmtime_r(&moment, &parts) ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		return xstrdup("");
	return xstrdup(text);
}

int64_t clock_parse_rfc3339(const char *text)
{
	struct tm parts = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);

	return end && !*end ? (int64_t)timegm(&parts) : -1;
}
