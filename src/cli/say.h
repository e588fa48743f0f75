/*
 * Lines for people on stderr, in the form that minikube's users know; with `-o json` they are
 * events on stdout instead (see cli/events.h).
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* Add to OUT what say_error() shows, which goes to the descriptor say_fd(). */
void say_compose(const struct error *err, int code, struct strbuf *out);

/* Show ERR, which came with CODE, and what to do about it; returns the exit status. */
int say_error(const struct error *err, int code);

int say_fd(void);

/* Say that the command has done its work, in a sentence. */
void say_done(const char *fmt, ...) printf_like(1, 2);

/* Show a warning; for log_show_warnings_with(). */
void say_warning(const char *text);

/* Ask on the terminal whether to go on, after what that means was said; only a yes is one. */
bool say_go_on(void);
