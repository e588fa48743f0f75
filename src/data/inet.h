/*
 * IPv4 addresses and subnets: reading, printing, and dividing them up.
 *
 * Everything here is arithmetic; what a host really uses comes from host/link.h.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"

/* The network ADDRESS/PREFIX; ADDRESS is in network byte order, as everywhere outside of inet.c. */
struct subnet {
	struct in_addr address;
	unsigned prefix;
};

/* Read "a.b.c.d": four numbers of 0 to 255 without leading zeros; -EINVAL otherwise. */
int inet_parse_address(const char *text, struct in_addr *ret, struct error *err);

/* Read "a.b.c.d/n"; -EINVAL if that is not a subnet or has bits of a host set (the error names the
 * subnet that was meant). */
int inet_parse_subnet(const char *text, struct subnet *ret, struct error *err);

/* "a.b.c.d" and "a.b.c.d/n", for the caller to free. */
char *inet_print_address(struct in_addr address) must_check;
char *inet_print_subnet(const struct subnet *subnet) must_check;

/* The subnet of PREFIX bits that ADDRESS is in. */
struct subnet inet_subnet_of(struct in_addr address, unsigned prefix);

bool inet_contains(const struct subnet *subnet, struct in_addr address);
bool inet_overlap(const struct subnet *a, const struct subnet *b);

/* The Nth address of SUBNET, counted from 0 (its own address); -ERANGE if it has no more. */
int inet_nth_address(const struct subnet *subnet, uint64_t n, struct in_addr *ret,
		     struct error *err);

/* The number of ADDRESS within SUBNET, counted from 0; -ERANGE if it is not in there. */
int64_t inet_number_of(const struct subnet *subnet, struct in_addr address);

/* The Nth subnet of PREFIX bits within SUBNET, counted from 0; -EINVAL if PREFIX is shorter than
 * SUBNET's or longer than 32, -ERANGE if there are no more. */
int inet_nth_subnet(const struct subnet *subnet, unsigned prefix, uint64_t n, struct subnet *ret,
		    struct error *err);

/*
 * Choose the first of our candidates that overlaps none of the COUNT subnets USED:
 * 192.168.39.0/24 and on in steps of 9 up to 192.168.255.0/24 (39, 48, 57, …), as minikube's
 * users know them, then 10.89.0.0/24 and on up to 10.89.255.0/24.  -EADDRINUSE with
 * reason_subnet_taken if all are taken.
 */
int inet_choose_subnet(const struct subnet *used, size_t count, struct subnet *ret,
		       struct error *err);
