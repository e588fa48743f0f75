/*
 * What happened, for whoever debugs it: debug lines on stderr with -v, and always
 * into the log file when one was opened.  Results and errors do not go through here.
 */
#pragma once

#include "base/error.h"

extern int log_verbosity; /* 0 by default, one more per -v */

/* From now on keep every line in the file PATH as well, begun anew with what was said before. */
int log_open(const char *path, struct error *err);

void log_debug(const char *fmt, ...) printf_like(1, 2);

/* Like log_debug(), for what is asked again and again: a line that is among the last few of them
 * says nothing new and is left out. */
void log_debug_look(const char *fmt, ...) printf_like(1, 2);

/* How long ago the first line was said; times in the file, and on stderr, count from there. */
int64_t log_elapsed_ms(void);

/* A line for the file only; its moment goes with it. */
void log_keep(const char *fmt, ...) printf_like(1, 2);

/* Keep TEXT as it is, since we are about to end; fit for a signal handler. */
void log_last_words(const char *text, size_t len);

/* Something that the person should know although the command goes on; says what happens next. */
void log_warning(const char *fmt, ...) printf_like(1, 2);

/* Where warnings are shown; by default on stderr with the program's name before them. */
typedef void (*log_warning_fn)(const char *text);
void log_show_warnings_with(log_warning_fn show);
