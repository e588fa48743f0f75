/* IPv6 addresses and subnets: parsing, printing, and the networks of a cluster. */

#include "data/inet6.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"

int inet6_parse_address(const char *text, struct in6_addr *ret, struct error *err)
{
	cleanup_free char *printed = NULL;
	struct in6_addr address;

	if (inet_pton(AF_INET6, text, &address) == 1)
		printed = inet6_print_address(&address);
	/* Records compare addresses as text. */
	if (!printed || strcmp(printed, text) != 0)
		return error_set(err, -EINVAL, "'%s' is not an IPv6 address such as fd00::1", text);
	*ret = address;
	return 0;
}

struct subnet6 inet6_subnet_of(const struct in6_addr *address, unsigned prefix)
{
	struct subnet6 subnet = { *address, prefix };

	assert(prefix <= 128);
	for (unsigned i = 0; i < sizeof(subnet.address.s6_addr); i++) {
		unsigned bits = prefix > 8 * i ? prefix - 8 * i : 0;

		if (bits < 8)
			subnet.address.s6_addr[i] &= (uint8_t)(0xff00 >> bits);
	}
	return subnet;
}

int inet6_parse_subnet(const char *text, struct subnet6 *ret, struct error *err)
{
	const char *slash = strchr(text, '/');
	cleanup_free char *address = xstrndup(text, slash ? (size_t)(slash - text) : strlen(text));
	unsigned long long prefix = 0;
	struct in6_addr parsed;

	/* Leading zeros have no meaning that all programs agree on. */
	if (!slash || (slash[1] == '0' && slash[2]) ||
	    parse_number(slash + 1, 0, 128, &prefix, NULL) < 0 ||
	    inet6_parse_address(address, &parsed, NULL) < 0)
		return error_set(err, -EINVAL, "'%s' is not an IPv6 subnet such as fd00::/64",
				 text);
	*ret = inet6_subnet_of(&parsed, (unsigned)prefix);
	if (memcmp(&ret->address, &parsed, sizeof(parsed)) != 0)
		return error_set(err, -EINVAL, "'%s' is not a subnet: it has bits of a host", text);
	return 0;
}

char *inet6_print_address(const struct in6_addr *address)
{
	char text[INET6_ADDRSTRLEN];

	return xstrdup(inet_ntop(AF_INET6, address, text, sizeof(text)));
}

char *inet6_print_subnet(const struct subnet6 *subnet)
{
	char text[INET6_ADDRSTRLEN];

	return xasprintf("%s/%u", inet_ntop(AF_INET6, &subnet->address, text, sizeof(text)),
			 subnet->prefix);
}

bool inet6_contains(const struct subnet6 *subnet, const struct in6_addr *address)
{
	struct subnet6 other = inet6_subnet_of(address, subnet->prefix);

	return memcmp(&other.address, &subnet->address, sizeof(other.address)) == 0;
}

bool inet6_overlap(const struct subnet6 *a, const struct subnet6 *b)
{
	return a->prefix < b->prefix ? inet6_contains(a, &b->address)
				     : inet6_contains(b, &a->address);
}

struct subnet6 inet6_cluster_prefix(const uint8_t bits[5])
{
	struct subnet6 subnet = { .prefix = INET6_CLUSTER_BITS };

	subnet.address.s6_addr[0] = 0xfd;
	memcpy(&subnet.address.s6_addr[1], bits, 5);
	return subnet;
}

/* The network of BITS bits in PREFIX whose fourth group is GROUP. */
static struct subnet6 part(const struct subnet6 *prefix, unsigned group, unsigned bits)
{
	struct subnet6 subnet = { .address = prefix->address, .prefix = bits };

	assert(prefix->prefix == INET6_CLUSTER_BITS);
	subnet.address.s6_addr[6] = (uint8_t)(group >> 8);
	subnet.address.s6_addr[7] = (uint8_t)group;
	return subnet;
}

struct subnet6 inet6_nodes(const struct subnet6 *prefix)
{
	return part(prefix, 0, 64);
}

struct subnet6 inet6_pods(const struct subnet6 *prefix)
{
	return part(prefix, 0x100, 56);
}

struct subnet6 inet6_services(const struct subnet6 *prefix)
{
	return part(prefix, 0xffff, 112);
}

struct in6_addr inet6_node_address(const struct subnet6 *prefix, unsigned n)
{
	struct in6_addr address = prefix->address;

	assert(n > 0 && n < 256);
	address.s6_addr[15] = (uint8_t)n;
	return address;
}

struct subnet6 inet6_node_pods(const struct subnet6 *prefix, unsigned n)
{
	assert(n > 1 && n < 256);
	return part(prefix, 0x100 + n, 64);
}
