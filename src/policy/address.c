/* Addresses of both families, and sets of them. */

#include "policy/address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"

static size_t size_of(uint8_t family)
{
	return family == 4 ? 4 : 16;
}

bool policy_address_parse(const char *text, struct policy_address *ret)
{
	struct policy_address address = { .family = strchr(text, ':') ? 6 : 4 };

	if (inet_pton(address.family == 4 ? AF_INET : AF_INET6, text, address.bytes) != 1)
		return false;
	*ret = address;
	return true;
}

void policy_address_print(const struct policy_address *address, struct strbuf *out)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, text,
		      sizeof(text)))
		strbuf_add(out, text);
}

int policy_address_compare(const struct policy_address *a, const struct policy_address *b)
{
	return a->family != b->family ? a->family - b->family
				      : memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* Go to the next address, or to the previous one; false if there is none. */
static bool step(struct policy_address *address, bool up)
{
	for (size_t i = size_of(address->family); i > 0; i--) {
		address->bytes[i - 1] += up ? 1 : 255;
		if (address->bytes[i - 1] != (up ? 0 : 255))
			return true;
	}
	return false;
}

bool policy_range_parse_block(const char *text, struct policy_range *ret)
{
	const char *slash = strchr(text, '/');
	cleanup_free char *head = slash ? xstrndup(text, (size_t)(slash - text)) : NULL;
	unsigned long long prefix;
	struct policy_range range;

	if (!head || !policy_address_parse(head, &range.first) ||
	    parse_number(slash + 1, 0, size_of(range.first.family) * 8, &prefix, NULL) < 0)
		return false;
	range.last = range.first;
	for (size_t bit = prefix; bit < size_of(range.first.family) * 8; bit++) {
		range.first.bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
		range.last.bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	}
	*ret = range;
	return true;
}

void policy_ranges_add(struct policy_ranges *ranges, const struct policy_range *range)
{
	/* Grows by doubling: a set may have an address of every pod. */
	if ((ranges->count & (ranges->count - 1)) == 0)
		ranges->items = xrealloc(ranges->items, ranges->count ? ranges->count * 2 : 1,
					 sizeof(*ranges->items));
	ranges->items[ranges->count++] = *range;
}

void policy_ranges_add_address(struct policy_ranges *ranges, const struct policy_address *address)
{
	policy_ranges_add(ranges, &(struct policy_range){ *address, *address });
}

void policy_ranges_add_all(struct policy_ranges *ranges, const struct policy_ranges *others)
{
	for (size_t i = 0; i < others->count; i++)
		policy_ranges_add(ranges, &others->items[i]);
}

static int compare_ranges(const void *one, const void *other)
{
	const struct policy_range *a = one;
	const struct policy_range *b = other;

	return policy_address_compare(&a->first, &b->first);
}

/* Whether the range that begins with FIRST overlaps or adjoins one that ends with LAST. */
static bool adjoins(const struct policy_address *last, const struct policy_address *first)
{
	struct policy_address next = *last;

	if (last->family != first->family)
		return false;
	return !step(&next, true) || policy_address_compare(first, &next) <= 0;
}

void policy_ranges_normalize(struct policy_ranges *ranges)
{
	size_t kept = 0;

	if (ranges->count == 0)
		return;
	qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_ranges);
	for (size_t i = 1; i < ranges->count; i++) {
		struct policy_range *before = &ranges->items[kept];
		const struct policy_range *range = &ranges->items[i];

		if (!adjoins(&before->last, &range->first))
			ranges->items[++kept] = *range;
		else if (policy_address_compare(&range->last, &before->last) > 0)
			before->last = range->last;
	}
	ranges->count = kept + 1;
}

void policy_ranges_remove(struct policy_ranges *ranges, const struct policy_range *range)
{
	struct policy_ranges left = POLICY_RANGES_INIT;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct policy_range *item = &ranges->items[i];
		struct policy_range below = { item->first, range->first };
		struct policy_range above = { range->last, item->last };

		if (policy_address_compare(&item->last, &range->first) < 0 ||
		    policy_address_compare(&item->first, &range->last) > 0) {
			policy_ranges_add(&left, item);
			continue;
		}
		if (policy_address_compare(&item->first, &range->first) < 0 &&
		    step(&below.last, false))
			policy_ranges_add(&left, &below);
		if (policy_address_compare(&item->last, &range->last) > 0 &&
		    step(&above.first, true))
			policy_ranges_add(&left, &above);
	}
	free(ranges->items);
	*ranges = left;
}

bool policy_ranges_contain(const struct policy_ranges *ranges, const struct policy_address *address)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (policy_address_compare(&ranges->items[i].first, address) <= 0 &&
		    policy_address_compare(address, &ranges->items[i].last) <= 0)
			return true;
	return false;
}

bool policy_ranges_equal(const struct policy_ranges *a, const struct policy_ranges *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (policy_address_compare(&a->items[i].first, &b->items[i].first) != 0 ||
		    policy_address_compare(&a->items[i].last, &b->items[i].last) != 0)
			return false;
	return true;
}

void policy_ranges_release(struct policy_ranges *ranges)
{
	free(ranges->items);
	*ranges = POLICY_RANGES_INIT;
}
