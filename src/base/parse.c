/* Parsers for numbers, sizes and durations. */

#include "base/parse.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

/* Read the digits at *TEXT into *RET and move past them; false if there are none or too many. */
static bool take_digits(const char **text, unsigned long long *ret)
{
	const char *p = *text;
	unsigned long long value = 0;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(value, 10ULL, &value) ||
		    __builtin_add_overflow(value, (unsigned long long)(*p - '0'), &value))
			return false;
	*text = p;
	*ret = value;
	return true;
}

int parse_number(const char *text, unsigned long long min, unsigned long long max,
		 unsigned long long *ret, struct error *err)
{
	size_t digits = strspn(text, "0123456789");
	const char *p = text;
	unsigned long long value;

	if (text[0] == '-' && text[1] && !text[1 + strspn(text + 1, "0123456789")])
		return error_set(err, -ERANGE, "must be at least %llu, not %s", min, text);
	if (digits == 0 || text[digits])
		return error_set(err, -EINVAL, "'%s' is not a whole number", text);
	if (!take_digits(&p, &value))
		value = ULLONG_MAX;
	if (value < min)
		return error_set(err, -ERANGE, "must be at least %llu, not %s", min, text);
	if (value > max)
		return error_set(err, -ERANGE, "must be at most %llu, not %s", max, text);
	*ret = value;
	return 0;
}

static bool unit_shift(const char *unit, unsigned *ret)
{
	static const char units[] = "bkmgt";
	const char *found;

	if (!*unit) {
		*ret = 20;
		return true;
	}
	found = strchr(units, tolower((unsigned char)*unit));
	if (!found)
		return false;
	*ret = (unsigned)(found - units) * 10;
	unit++;
	return !*unit || (*ret > 0 && (strcasecmp(unit, "b") == 0 || strcasecmp(unit, "i") == 0 ||
				       strcasecmp(unit, "ib") == 0));
}

int parse_size(const char *text, uint64_t *ret_bytes, struct error *err)
{
	const char *p = text;
	unsigned long long value;
	unsigned shift;

	if (!take_digits(&p, &value) || !unit_shift(p, &shift))
		return error_set(err, -EINVAL, "'%s' is not a size; write for instance 2g or 512m",
				 text);
	if (value > UINT64_MAX >> shift)
		return error_set(err, -ERANGE, "'%s' is too large", text);
	*ret_bytes = value << shift;
	return 0;
}

bool parse_is_all(const char *text)
{
	return strcmp(text, "max") == 0 || strcmp(text, "no-limit") == 0;
}

int parse_seconds(const char *text, unsigned *ret_seconds, struct error *err)
{
	const char *p = text;
	unsigned long long total = 0;

	do {
		unsigned long long value;
		unsigned long long factor = 1;

		if (!take_digits(&p, &value))
			goto bad;
		if (*p == 'h')
			factor = 3600;
		else if (*p == 'm')
			factor = 60;
		else if (*p && *p != 's')
			goto bad;
		if (*p)
			p++;
		if (value > UINT32_MAX)
			goto bad;
		total += value * factor;
	} while (*p);

	if (total > INT32_MAX)
		return error_set(err, -ERANGE, "'%s' is too long", text);
	*ret_seconds = (unsigned)total;
	return 0;
bad:
	return error_set(err, -EINVAL, "'%s' is not a duration; write for instance 90s or 6m",
			 text);
}

bool parse_is_dns_label(const char *text)
{
	size_t len = strlen(text);

	return len >= 1 && len <= 63 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len && text[0] != '-' &&
	       text[len - 1] != '-';
}
