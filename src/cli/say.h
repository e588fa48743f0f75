/*
 * Messages for people on stderr, in minikube's format; with `-o json` they are events on stdout
 * instead (see cli/events.h).
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* Add to OUT the text that say_error() prints, to be written to say_fd(). */
void say_compose(const struct error *err, int code, struct strbuf *out);

/* Print ERR, returned with CODE, and its advice; returns the exit status. */
int say_error(const struct error *err, int code);

int say_fd(void);

/* Print the result of the command, in a sentence. */
void say_done(const char *fmt, ...) printf_like(1, 2);

/* Show a warning; for log_show_warnings_with(). */
void say_warning(const char *text);

/* Ask on the terminal whether to continue, after the consequences were printed; true only for
 * yes. */
bool say_go_on(void);
