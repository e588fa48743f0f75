/* Rounds of a test in fake worlds: what is cut short after every single step is gone on with. */
#pragma once

#include "base/macro.h"

/* More steps than anything takes. */
#define MANY 200

/* A home and a world of its own for round N; returns the world's directory, for the caller to free.
 */
char *begin_round(unsigned n) must_check;

/* Do WORK in a process that ends after step CRASH_AT; true if it got to its end before. */
bool run_until(const char *dir, unsigned crash_at, int (*work)(void));

/* BEFORE makes a world, WORK is cut short in it after every step, and CHECK sees that it can be
 * gone on with; at least LEAST steps are expected. */
void cut_short(int (*before)(void), int (*work)(void), void (*check)(void), unsigned least);

/* What there is, but for tokens, which a crash may leave and which end by themselves. */
void assert_world(const char *expected);

/* All nodes of the cluster "test", their phases and addresses, and the orphans. */
void assert_profile(const char *expected);
