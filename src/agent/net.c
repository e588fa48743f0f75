/* The network of a VM. */

#include "agent/net.h"

#include <errno.h>
#include <net/if.h>
#include <net/route.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static in_addr_t mask_of(unsigned prefix)
{
	return prefix == 0 ? 0 : htonl(UINT32_MAX << (32 - prefix));
}

static void set_address(struct sockaddr *ret, in_addr_t address)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = address };

	memcpy(ret, &in, sizeof(in));
}

int net_link_up(const char *link, struct in_addr address, unsigned prefix)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { 0 };
	int problem = 0;

	if (fd < 0)
		return errno;
	memcpy(request.ifr_name, link, strnlen(link, IFNAMSIZ - 1));
	if (prefix > 0) {
		set_address(&request.ifr_addr, address.s_addr);
		if (ioctl(fd, SIOCSIFADDR, &request) < 0)
			problem = errno;
		set_address(&request.ifr_netmask, mask_of(prefix));
		if (!problem && ioctl(fd, SIOCSIFNETMASK, &request) < 0)
			problem = errno;
	}
	if (!problem && ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		problem = errno;
	request.ifr_flags |= IFF_UP;
	if (!problem && ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		problem = errno;
	(void)close(fd);
	return problem;
}

int net_route(struct in_addr destination, unsigned prefix, struct in_addr gateway, bool remove)
{
	struct rtentry route = { .rt_flags = RTF_UP | RTF_GATEWAY };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int problem = 0;

	if (fd < 0)
		return errno;
	if (prefix > 32)
		return EINVAL;
	set_address(&route.rt_dst, destination.s_addr & mask_of(prefix));
	set_address(&route.rt_genmask, mask_of(prefix));
	set_address(&route.rt_gateway, gateway.s_addr);
	if (remove) {
		if (ioctl(fd, SIOCDELRT, &route) < 0 && errno != ESRCH)
			problem = errno;
	} else if (ioctl(fd, SIOCADDRT, &route) < 0) {
		struct rtentry old = route;

		problem = errno;
		/* One with another gateway is in the way. */
		old.rt_flags = RTF_UP;
		set_address(&old.rt_gateway, 0);
		if (problem == EEXIST && ioctl(fd, SIOCDELRT, &old) == 0)
			problem = ioctl(fd, SIOCADDRT, &route) < 0 ? errno : 0;
	}
	(void)close(fd);
	return problem;
}
