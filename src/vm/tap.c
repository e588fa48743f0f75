/* The network link of a VM on this host. */

#include "vm/tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/netlink.h"

/* Attach the link NAME to the bridge with the index MASTER. */
static int set_master(struct link_socket *socket, const char *name, int master)
{
	(void)netlink_begin(socket, RTM_NEWLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(netlink_request(socket), IFLA_IFNAME, name);
	mnl_attr_put_u32(netlink_request(socket), IFLA_MASTER, (uint32_t)master);
	return netlink_exchange(socket, NULL, NULL);
}

int tap_add(struct link_socket *socket, const char *name, const char *bridge, int *ret_fd,
	    struct error *err)
{
	/* QEMU adds the header of virtio to packets. */
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	cleanup_fd int fd = -1;
	int master;
	int r = link_delete(socket, name, err);

	if (r < 0)
		return r;
	master = link_index(socket, bridge, err);
	if (master < 0)
		return error_prefix(err, master, "cannot add tap '%s'", name);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	memcpy(request.ifr_name, name, strlen(name) + 1);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0)
		return error_reason(err, error_sys(err, "cannot add tap '%s'", name),
				    &reason_network);
	r = set_master(socket, name, master);
	if (r < 0)
		return error_because(err, &reason_network, r,
				     "cannot attach tap '%s' to bridge '%s': %s", name, bridge,
				     netlink_words(socket, r));
	link_disable_ipv6(name);
	r = link_up(socket, name, err);
	if (r == 0)
		*ret_fd = take_fd(fd);
	return r;
}
