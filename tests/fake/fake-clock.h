/* A monotonic clock that a test can move forward. */
#pragma once

#include <stdint.h>

/* Move CLOCK_MONOTONIC forward by MS milliseconds for this process, without waiting. */
void fake_clock_advance(int64_t ms);
