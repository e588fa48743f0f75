/* Noticing a guest that does not do its part, although its agent may send beats. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A guest that sends nothing, takes nothing or starts no program for this long is silent; tests
 * shorten it. */
extern unsigned silence_most_ms;

/* Times in milliseconds. */
struct silence {
	int64_t heard_ms; /* when the guest last sent something */
	int64_t asked_ms; /* since when it has answered no FRAME_OPEN; 0: all are answered */
	int64_t stuck_ms; /* since when it has taken nothing; 0: nothing waits for it */
};

/* The guest is to start a program. */
void silence_ask(struct silence *silence);

/* What waits for the guest has shrunk from BEFORE bytes to NOW. */
void silence_note_waiting(struct silence *silence, size_t before, size_t now);

/* Whether the guest is silent; one that is EXCUSED, since it does not run, is not. */
bool silence_is_too_long(struct silence *silence, bool excused);
