/* Noticing a guest that does not do its part. */

#include "vm/silence.h"

#include "agent/frames.h"
#include "base/clock.h"

unsigned silence_most_ms = FRAME_SILENT_MS;

void silence_ask(struct silence *silence)
{
	if (silence->asked_ms == 0)
		silence->asked_ms = clock_now_ms();
}

void silence_note_waiting(struct silence *silence, size_t before, size_t now)
{
	if (now == 0)
		silence->stuck_ms = 0;
	else if (now < before || silence->stuck_ms == 0)
		silence->stuck_ms = clock_now_ms();
}

bool silence_is_too_long(struct silence *silence, bool excused)
{
	int64_t *const all[] = { &silence->heard_ms, &silence->asked_ms, &silence->stuck_ms };
	int64_t now = clock_now_ms();
	bool too_long = false;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (*all[i] != 0 && excused)
			*all[i] = now;
		too_long |= *all[i] != 0 && now - *all[i] > silence_most_ms;
	}
	return too_long;
}
