/*
 * IPv4 addresses and subnets: parsing, printing, arithmetic.
 *
 * Nothing here looks at the host; host/link.h lists the subnets that are in use.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"

/* The network ADDRESS/PREFIX; ADDRESS is in network byte order, as everywhere outside of inet.c. */
struct subnet {
	struct in_addr address;
	unsigned prefix;
};

/* Parse "a.b.c.d": four numbers from 0 to 255 without leading zeros; -EINVAL otherwise. */
int inet_parse_address(const char *text, struct in_addr *ret, struct error *err);

/* Parse "a.b.c.d/n"; -EINVAL if it is not a subnet or has host bits set.  In the latter case the
 * error suggests the subnet without them. */
int inet_parse_subnet(const char *text, struct subnet *ret, struct error *err);

/* "a.b.c.d" and "a.b.c.d/n"; the caller frees the result. */
char *inet_print_address(struct in_addr address) must_check;
char *inet_print_subnet(const struct subnet *subnet) must_check;

/* The subnet of PREFIX bits that ADDRESS is in. */
struct subnet inet_subnet_of(struct in_addr address, unsigned prefix);

bool inet_contains(const struct subnet *subnet, struct in_addr address);
bool inet_overlap(const struct subnet *a, const struct subnet *b);

/* The Nth address of SUBNET, counted from 0 (its own address); -ERANGE if there is none. */
int inet_nth_address(const struct subnet *subnet, uint64_t n, struct in_addr *ret,
		     struct error *err);

/* The index of ADDRESS in SUBNET, counted from 0; -ERANGE if it is not in SUBNET. */
int64_t inet_number_of(const struct subnet *subnet, struct in_addr address);

/* The Nth subnet of PREFIX bits within SUBNET, counted from 0; -EINVAL if PREFIX is shorter than
 * SUBNET's or longer than 32, -ERANGE if there is none. */
int inet_nth_subnet(const struct subnet *subnet, unsigned prefix, uint64_t n, struct subnet *ret,
		    struct error *err);

/*
 * Choose the first candidate that overlaps none of the COUNT subnets USED.  Candidates are
 * 192.168.39.0/24 to 192.168.255.0/24 in steps of 9, like minikube's (39, 48, 57, …), then
 * 10.89.0.0/24 to 10.89.255.0/24.  -EADDRINUSE with reason_subnet_taken if all are in use.
 */
int inet_choose_subnet(const struct subnet *used, size_t count, struct subnet *ret,
		       struct error *err);
