/* The network of a VM: its link, address and routes. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

/* Bring LINK up, with ADDRESS/PREFIX unless PREFIX is 0; returns an errno. */
int net_link_up(const char *link, struct in_addr address, unsigned prefix);

/* Route DESTINATION/PREFIX via GATEWAY instead of any other, or REMOVE that; returns an errno. */
int net_route(struct in_addr destination, unsigned prefix, struct in_addr gateway, bool remove);
