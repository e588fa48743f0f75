/*
 * Debug messages and warnings.  Every line goes to the log file once that is open; debug lines also
 * go to standard error with -vv.  Results and errors are not logged here.
 */
#pragma once

#include "base/error.h"

extern int log_verbosity; /* 0 by default, one more per -v */

/* Write the log to the file PATH, which is truncated.  Lines logged before are written first. */
int log_open(const char *path, struct error *err);

void log_debug(const char *fmt, ...) printf_like(1, 2);

/* Like log_debug(), for repeated checks: a line equal to one of the last few is not logged. */
void log_debug_look(const char *fmt, ...) printf_like(1, 2);

/* Time since the first logged line.  Times in the file and on standard error count from there. */
int64_t log_elapsed_ms(void);

/* Log a line with its time to the file only. */
void log_keep(const char *fmt, ...) printf_like(1, 2);

/* Write TEXT to the file unchanged, before the process ends.  Async-signal-safe. */
void log_last_words(const char *text, size_t len);

/* Warn the user.  The command continues, and the text says how. */
void log_warning(const char *fmt, ...) printf_like(1, 2);

/* Set the function that shows warnings; by default they go to standard error, prefixed with the
 * program's name. */
typedef void (*log_warning_fn)(const char *text);
void log_show_warnings_with(log_warning_fn show);
