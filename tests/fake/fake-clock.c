/* A monotonic clock that a test can move forward; this clock_gettime() replaces the C library's. */

#include "fake-clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t ahead_ms;

void fake_clock_advance(int64_t ms)
{
	ahead_ms += ms;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	if (r == 0 && clock == CLOCK_MONOTONIC) {
		ret->tv_sec += ahead_ms / 1000;
		ret->tv_nsec += ahead_ms % 1000 * 1000000;
		ret->tv_sec += ret->tv_nsec / 1000000000;
		ret->tv_nsec %= 1000000000;
	}
	return r;
}
