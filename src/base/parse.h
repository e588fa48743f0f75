/* Parsers for numbers, sizes and durations.  They reject trailing characters and overflow. */
#pragma once

#include "base/error.h"

/* A decimal number in MIN..MAX; -EINVAL or -ERANGE otherwise. */
int parse_number(const char *text, unsigned long long min, unsigned long long max,
		 unsigned long long *ret, struct error *err);

/* A size: a number with an optional unit b, k, m, g or t, also written kb, ki or kib.  Units are
 * powers of 1024; without a unit, the number is in MiB. */
int parse_size(const char *text, uint64_t *ret_bytes, struct error *err);

/* Whether TEXT means "no limit": max or no-limit. */
bool parse_is_all(const char *text);

/* A duration such as 90, 90s, 6m, 1m30s, 2h; a bare number means seconds. */
int parse_seconds(const char *text, unsigned *ret_seconds, struct error *err);

/* A DNS label: 1 to 63 of a-z, 0-9 and '-', not beginning or ending with '-'. */
bool parse_is_dns_label(const char *text);
