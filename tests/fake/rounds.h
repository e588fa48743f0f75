/* Rounds of a test in fake worlds: an operation is interrupted after every single step and
 * repeated. */
#pragma once

#include "base/macro.h"

/* More steps than any operation has. */
#define MANY 200

/* Make a home and a world for round N; returns the world's directory, which the caller frees. */
char *begin_round(unsigned n) must_check;

/* Run WORK in a process that exits after step CRASH_AT; true if WORK finished before. */
bool run_until(const char *dir, unsigned crash_at, int (*work)(void));

/* For every step: make a world with BEFORE, interrupt WORK after that step, and call CHECK, which
 * continues and verifies.  WORK must have at least LEAST steps. */
void cut_short(int (*before)(void), int (*work)(void), void (*check)(void), unsigned least);

/* Compare the objects of the world, except for tokens, which a crash may leave and which expire. */
void assert_world(const char *expected);

/* Compare the nodes of the cluster "test", their phases and addresses, and its orphans. */
void assert_profile(const char *expected);
