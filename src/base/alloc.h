/* Allocation that cannot fail: out of memory ends the program. */
#pragma once

#include <stdarg.h>

#include "base/macro.h"

void *xmalloc(size_t size) must_check;
void *xcalloc(size_t count, size_t size) must_check;
void *xrealloc(void *p, size_t count, size_t size) must_check;
char *xstrdup(const char *text) must_check;
char *xstrndup(const char *text, size_t len) must_check;
char *xasprintf(const char *fmt, ...) printf_like(1, 2) must_check;
char *xvasprintf(const char *fmt, va_list ap) printf_like(1, 0) must_check;
