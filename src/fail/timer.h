/*
 * The process that ends failures of a cluster when their time is over, whatever has become of the
 * command that made them: `manykube fail-timer`.  Its pid is in the lock DIR/fail-timer.lock, which
 * it holds; what it reports is in DIR/fail-timer.log.
 */
#pragma once

#include "base/error.h"
#include "record/profile.h"

/* Start the process for PROFILE, in place of an earlier one, or end it; see record/world.h.  The
 * caller holds the profile's lock, so an earlier one is only waiting. */
int fail_timer_run(const struct profile *profile, bool wanted, struct error *err);

/* Become that process: take its lock.  -EWOULDBLOCK if there is one. */
int fail_timer_lock(const struct profile *profile, int *ret_fd, struct error *err);

/* When the next failure of PROFILE is over, in seconds since 1970; 0 if none will be. */
int64_t fail_timer_next(const struct profile *profile);
