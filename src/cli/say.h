/* Lines for people on stderr, in the form that minikube's users know. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* Add to OUT what say_error() shows. */
void say_compose(const struct error *err, int code, struct strbuf *out);

/* Show ERR, which came with CODE, and what to do about it; returns the exit status. */
int say_error(const struct error *err, int code);

/* Show a warning; for log_show_warnings_with(). */
void say_warning(const char *text);
