/* A native node's link to its cluster's bridge. */

#include "driver/native-link.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "driver/inside.h"
#include "host/link.h"
#include "host/link6.h"

char *native_link_name(const struct node_spec *spec)
{
	return xasprintf("%s.%u", spec->bridge, spec->slot);
}

/* Whether the network FD belongs to our own user namespace: 1 or 0, or -1 and errno. */
static int is_of_host(int fd)
{
	cleanup_fd int owner = ioctl(fd, NS_GET_USERNS);
	struct stat ours;
	struct stat its;

	if (owner < 0 || fstat(owner, &its) < 0 || stat("/proc/self/ns/user", &ours) < 0)
		return -1;
	return its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

int native_link_open_network(const struct node_spec *spec, pid_t pid, int *ret_fd,
			     struct error *err)
{
	cleanup_free char *path = xasprintf("/proc/%d/ns/net", (int)pid);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -1 : is_of_host(fd);

	if (r < 0)
		return error_sys(err, "cannot open the network of node '%s'", spec->name);
	/* The node has ended, and its pid is somebody else's now. */
	if (r > 0)
		return inside_not_running(spec, err);
	*ret_fd = take_fd(fd);
	return 0;
}

int native_link_plug_in(const struct node_spec *spec, pid_t pid, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	cleanup_with(link_closep) struct link_socket *inside = NULL;
	cleanup_free char *link = native_link_name(spec);
	struct in_addr anywhere = { 0 };
	cleanup_fd int netns = -1;
	int r = native_link_open_network(spec, pid, &netns, err);

	if (r == 0)
		r = link_open(&host, err);
	if (r == 0)
		r = link_open_in(netns, &inside, err);
	if (r == 0)
		r = link_add_veth(host, link, spec->bridge, "eth0", netns, err);
	if (r == 0)
		r = link_up(inside, "lo", err);
	/* A node that is started or created again is found by the others at once. */
	if (r == 0)
		r = link_set_mac(inside, "eth0", spec->address, err);
	if (r == 0)
		r = link_add_address(inside, "eth0", spec->address, spec->prefix, err);
	if (r == 0 && spec->has_ipv6)
		r = link6_add_address(inside, "eth0", &spec->address6, spec->prefix6, err);
	if (r == 0)
		r = link_up(inside, "eth0", err);
	if (r == 0 && spec->default_route)
		r = link_replace_route(inside, anywhere, 0, spec->gateway, err);
	return r;
}

int native_link_route(const struct node_spec *spec, pid_t pid, struct in_addr pods, unsigned prefix,
		      struct in_addr via, bool remove, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *inside = NULL;
	cleanup_fd int netns = -1;
	int r = native_link_open_network(spec, pid, &netns, err);

	if (r == 0)
		r = link_open_in(netns, &inside, err);
	if (r < 0)
		return r;
	if (remove)
		return link_delete_route(inside, pods, prefix, via, err);
	return link_replace_route(inside, pods, prefix, via, err);
}

int native_link_route6(const struct node_spec *spec, pid_t pid, const struct subnet6 *to,
		       const struct in6_addr *via, bool remove, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *inside = NULL;
	cleanup_fd int netns = -1;
	int r = native_link_open_network(spec, pid, &netns, err);

	if (r == 0)
		r = link_open_in(netns, &inside, err);
	if (r < 0)
		return r;
	return remove ? link6_delete_route(inside, to, via, err)
		      : link6_replace_route(inside, to, via, err);
}

struct link_search {
	const char *bridge;
	struct strlist found;
};

static int note_link(const char *name, void *data)
{
	struct link_search *search = data;
	size_t len = strlen(search->bridge);

	if (strncmp(name, search->bridge, len) == 0 && name[len] == '.')
		strlist_add(&search->found, name);
	return 0;
}

int native_link_remove_all(const char *bridge, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	struct link_search search = { .bridge = bridge };
	const char *name;
	int r = link_open(&host, err);

	if (r == 0)
		r = link_each(host, note_link, &search, err);
	strlist_for_each(name, &search.found)
		if (r == 0)
			r = link_delete(host, name, err);
	strlist_release(&search.found);
	return r;
}
