/* Whether programs that listen still answer. */
#pragma once

#include <stdint.h>

#include "base/strlist.h"

/*
 * Send WORDS to PORT of every one of ADDRESSES at once.  RET_SILENT, one per address, is set for a
 * program that takes the connection, but says nothing within TIMEOUT_MS: it is stopped or
 * deadlocked.  A port that refuses connections, or cannot be reached, is not silent.
 */
void listeners_find_silent(const struct strlist *addresses, uint16_t port, const char *words,
			   int timeout_ms, bool *ret_silent);
