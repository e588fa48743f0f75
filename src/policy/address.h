/* Addresses of both families, and sets of them as sorted ranges. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* An IPv4 address is in the first four bytes. */
struct policy_address {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[16];
};

/* Parse "10.0.0.1" or "fd00::1"; false if TEXT is neither. */
bool policy_address_parse(const char *text, struct policy_address *ret);
void policy_address_print(const struct policy_address *address, struct strbuf *out);
int policy_address_compare(const struct policy_address *a, const struct policy_address *b);

/* FIRST to LAST, both of the same family. */
struct policy_range {
	struct policy_address first;
	struct policy_address last;
};

/* Parse "10.0.0.0/8" or "fd00::/8"; bits of the host are ignored, as the API does. */
bool policy_range_parse_block(const char *text, struct policy_range *ret);

struct policy_ranges {
	struct policy_range *items;
	size_t count;
};

#define POLICY_RANGES_INIT ((struct policy_ranges){ NULL })

void policy_ranges_add(struct policy_ranges *ranges, const struct policy_range *range);
void policy_ranges_add_address(struct policy_ranges *ranges, const struct policy_address *address);
void policy_ranges_add_all(struct policy_ranges *ranges, const struct policy_ranges *others);

/* Sort, and merge what overlaps or adjoins. */
void policy_ranges_normalize(struct policy_ranges *ranges);

/* Take RANGE out of RANGES. */
void policy_ranges_remove(struct policy_ranges *ranges, const struct policy_range *range);

bool policy_ranges_contain(const struct policy_ranges *ranges,
			   const struct policy_address *address);

/* Both must be normalized. */
bool policy_ranges_equal(const struct policy_ranges *a, const struct policy_ranges *b);
void policy_ranges_release(struct policy_ranges *ranges);
