/* IPv4 addresses and subnets: parsing, printing, arithmetic. */

#include "data/inet.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* The netmask of PREFIX bits, in host byte order. */
static uint32_t mask_of(unsigned prefix)
{
	return prefix == 0 ? 0 : ~UINT32_C(0) << (32 - prefix);
}

/* Read a number from 0 to MAX, of at most three digits, and move *AT past it. */
static bool read_number(const char **at, unsigned max, unsigned *ret)
{
	const char *p = *at;
	unsigned value = 0;

	while (*p >= '0' && *p <= '9' && p - *at < 3)
		value = value * 10 + (unsigned)(*p++ - '0');
	/* Leading zeros are ambiguous: some programs read such a number as octal. */
	if (p == *at || value > max || (**at == '0' && p - *at > 1))
		return false;
	*at = p;
	*ret = value;
	return true;
}

/* Read an address and move *AT past it. */
static bool read_address(const char **at, uint32_t *ret)
{
	uint32_t address = 0;

	for (int i = 0; i < 4; i++) {
		unsigned byte;

		if (i > 0 && *(*at)++ != '.')
			return false;
		if (!read_number(at, 255, &byte))
			return false;
		address = address << 8 | byte;
	}
	*ret = address;
	return true;
}

int inet_parse_address(const char *text, struct in_addr *ret, struct error *err)
{
	const char *at = text;
	uint32_t address;

	if (!read_address(&at, &address) || *at)
		return error_set(err, -EINVAL, "'%s' is not an IPv4 address such as 192.168.39.2",
				 text);
	ret->s_addr = htonl(address);
	return 0;
}

int inet_parse_subnet(const char *text, struct subnet *ret, struct error *err)
{
	cleanup_free char *meant = NULL;
	struct subnet subnet;
	const char *at = text;
	uint32_t address;
	unsigned prefix;

	if (!read_address(&at, &address) || *at++ != '/' || !read_number(&at, 32, &prefix) || *at)
		return error_set(err, -EINVAL, "'%s' is not an IPv4 subnet such as 192.168.39.0/24",
				 text);
	subnet = inet_subnet_of((struct in_addr){ htonl(address) }, prefix);
	if (subnet.address.s_addr != htonl(address)) {
		meant = inet_print_subnet(&subnet);
		return error_set(err, -EINVAL, "'%s' is not a subnet; did you mean '%s'?", text,
				 meant);
	}
	*ret = subnet;
	return 0;
}

char *inet_print_address(struct in_addr address)
{
	char text[INET_ADDRSTRLEN];

	return xstrdup(inet_ntop(AF_INET, &address, text, sizeof(text)));
}

char *inet_print_subnet(const struct subnet *subnet)
{
	char text[INET_ADDRSTRLEN];

	return xasprintf("%s/%u", inet_ntop(AF_INET, &subnet->address, text, sizeof(text)),
			 subnet->prefix);
}

struct subnet inet_subnet_of(struct in_addr address, unsigned prefix)
{
	assert(prefix <= 32);
	return (struct subnet){
		.address.s_addr = address.s_addr & htonl(mask_of(prefix)),
		.prefix = prefix,
	};
}

bool inet_contains(const struct subnet *subnet, struct in_addr address)
{
	return ((subnet->address.s_addr ^ address.s_addr) & htonl(mask_of(subnet->prefix))) == 0;
}

bool inet_overlap(const struct subnet *a, const struct subnet *b)
{
	return a->prefix < b->prefix ? inet_contains(a, b->address) : inet_contains(b, a->address);
}

int inet_nth_address(const struct subnet *subnet, uint64_t n, struct in_addr *ret,
		     struct error *err)
{
	cleanup_free char *text = NULL;

	assert(subnet->prefix <= 32);
	if (n >= UINT64_C(1) << (32 - subnet->prefix)) {
		text = inet_print_subnet(subnet);
		return error_set(err, -ERANGE, "subnet %s has no address number %llu", text,
				 (unsigned long long)n);
	}
	ret->s_addr = htonl(ntohl(subnet->address.s_addr) + (uint32_t)n);
	return 0;
}

int64_t inet_number_of(const struct subnet *subnet, struct in_addr address)
{
	if (!inet_contains(subnet, address))
		return -ERANGE;
	return ntohl(address.s_addr) & ~mask_of(subnet->prefix);
}

int inet_nth_subnet(const struct subnet *subnet, unsigned prefix, uint64_t n, struct subnet *ret,
		    struct error *err)
{
	cleanup_free char *text = inet_print_subnet(subnet);
	uint64_t offset;

	if (prefix < subnet->prefix || prefix > 32)
		return error_set(err, -EINVAL, "subnet %s cannot be divided into subnets of /%u",
				 text, prefix);
	if (n >= UINT64_C(1) << (prefix - subnet->prefix))
		return error_set(err, -ERANGE, "subnet %s has no subnet of /%u number %llu", text,
				 prefix, (unsigned long long)n);
	offset = n << (32 - prefix);
	ret->address.s_addr = htonl(ntohl(subnet->address.s_addr) + (uint32_t)offset);
	ret->prefix = prefix;
	return 0;
}

static bool is_free(const struct subnet *candidate, const struct subnet *used, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (inet_overlap(candidate, &used[i]))
			return false;
	return true;
}

int inet_choose_subnet(const struct subnet *used, size_t count, struct subnet *ret,
		       struct error *err)
{
	static const struct {
		uint32_t network; /* a /16, in host byte order */
		unsigned first;   /* third byte of the first candidate */
		unsigned step;
	} ranges[] = {
		{ 192u << 24 | 168u << 16, 39, 9 },
		{ 10u << 24 | 89u << 16, 0, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		for (unsigned third = ranges[i].first; third <= 255; third += ranges[i].step) {
			struct subnet candidate = {
				.address.s_addr = htonl(ranges[i].network | third << 8),
				.prefix = 24,
			};

			if (is_free(&candidate, used, count)) {
				*ret = candidate;
				return 0;
			}
		}
	}
	return error_because(err, &reason_subnet_taken, -EADDRINUSE,
			     "all subnets that clusters can use are in use on this host");
}
