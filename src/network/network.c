/* The cluster's network on this host. */

#include "network/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "data/inet.h"
#include "host/firewall.h"
#include "host/link.h"
#include "host/link6.h"
#include "host/neighbours.h"
#include "network/network6.h"
#include "record/cni.h"
#include "record/state.h"
#include "routing/conntrack.h"
#include "routing/forwarding.h"

/* The ports of 127.0.0.1 that front doors use. */
#define FIRST_PORT 16443
#define LAST_PORT  17443

#define LOCKS   "/run/manykube"
#define LOCK_MS 120000

struct used_networks {
	struct subnet *all;
	size_t count;
	const char *own_bridge;
};

static int note_network(struct in_addr network, unsigned prefix, const char *link, void *data)
{
	struct used_networks *used = data;

	if (link && strcmp(link, used->own_bridge) == 0)
		return 0;
	used->all = xrealloc(used->all, used->count + 1, sizeof(*used->all));
	used->all[used->count++] = (struct subnet){ network, prefix };
	return 0;
}

static void release_used(struct used_networks *used)
{
	free(used->all);
}

/* Networks that do not exist on the internet, so using one here hides nothing. */
static bool is_private(const struct subnet *subnet)
{
	static const struct {
		uint32_t address;
		unsigned prefix;
	} private[] = {
		{ 0x0a000000, 8 },  /* 10.0.0.0 */
		{ 0xac100000, 12 }, /* 172.16.0.0 */
		{ 0xc0a80000, 16 }, /* 192.168.0.0 */
		{ 0x64400000, 10 }, /* 100.64.0.0 */
		{ 0xc6120000, 15 }, /* 198.18.0.0 */
	};

	for (size_t i = 0; i < ARRAY_SIZE(private); i++) {
		struct subnet all = { { htonl(private[i].address) }, private[i].prefix };

		if (subnet->prefix >= all.prefix && inet_contains(&all, subnet->address))
			return true;
	}
	return false;
}

static int check_wanted(const char *wanted, const struct used_networks *used, struct subnet *ret,
			struct error *err)
{
	int r = inet_parse_subnet(wanted, ret, err);

	if (r < 0)
		return error_reason(err, r, &reason_usage);
	if (ret->prefix < 8 || ret->prefix > 28)
		return error_because(err, &reason_usage, -EINVAL,
				     "the subnet '%s' is too %s: use a prefix of /8 to /28", wanted,
				     ret->prefix < 8 ? "large" : "small");
	if (!is_private(ret)) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "the subnet '%s' is not one for private networks", wanted);
		return error_hint(err, -EINVAL,
				  "use one of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16");
	}
	for (size_t i = 0; i < used->count; i++) {
		cleanup_free char *other = NULL;

		if (!inet_overlap(ret, &used->all[i]))
			continue;
		other = inet_print_subnet(&used->all[i]);
		return error_because(err, &reason_subnet_taken, -EADDRINUSE,
				     "the subnet '%s' overlaps '%s', which this host already uses",
				     wanted, other);
	}
	return 0;
}

/* Existing profiles keep their subnets even while they are stopped. */
static void add_profile_networks(struct used_networks *used, const struct profile *own)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	if (profile_list(&names, NULL) < 0)
		return;
	strlist_for_each(name, &names) {
		cleanup_with(profile_release) struct profile other = PROFILE_INIT;
		struct subnet subnet;

		if (strcmp(name, own->name) != 0 && profile_load(name, &other, NULL) == 0 &&
		    other.subnet && inet_parse_subnet(other.subnet, &subnet, NULL) == 0)
			(void)note_network(subnet.address, subnet.prefix, NULL, used);
		if (strcmp(name, own->name) != 0 && other.pod_subnet &&
		    inet_parse_subnet(other.pod_subnet, &subnet, NULL) == 0)
			(void)note_network(subnet.address, subnet.prefix, NULL, used);
	}
}

static int find_used(const struct profile *profile, struct used_networks *used, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *socket = NULL;
	int r = link_open(&socket, err);

	if (r == 0)
		r = link_each_network(socket, note_network, used, err);
	if (r == 0)
		add_profile_networks(used, profile);
	return r;
}

static int plan_subnet(struct profile *profile, const char *wanted,
		       const struct used_networks *used, struct error *err)
{
	struct subnet subnet;
	struct in_addr gateway;
	int r = wanted ? check_wanted(wanted, used, &subnet, err)
		       : inet_choose_subnet(used->all, used->count, &subnet, err);

	if (r == 0)
		r = inet_nth_address(&subnet, 1, &gateway, err);
	if (r < 0)
		return r;
	profile->subnet = inet_print_subnet(&subnet);
	profile->gateway = inet_print_address(gateway);
	return 0;
}

/* This host has routes to the pods of every cluster, so their subnets must differ. */
static int plan_pod_subnet(struct profile *profile, const struct used_networks *used,
			   struct error *err)
{
	for (unsigned second = 244; second < 255; second++) {
		struct subnet candidate = { { htonl(10u << 24 | second << 16) }, 16 };
		bool taken = false;

		for (size_t i = 0; i < used->count; i++)
			taken = taken || inet_overlap(&candidate, &used->all[i]);
		if (taken)
			continue;
		profile->pod_subnet = inet_print_subnet(&candidate);
		return 0;
	}
	return error_because(err, &reason_subnet_taken, -EADDRINUSE,
			     "no subnet between 10.244.0.0/16 and 10.254.0.0/16 is free for pods");
}

bool network_port_is_promised(unsigned port, const char *own_name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	if (profile_list(&names, NULL) < 0)
		return false;
	strlist_for_each(name, &names) {
		cleanup_with(profile_release) struct profile other = PROFILE_INIT;

		if (strcmp(name, own_name) != 0 && profile_load(name, &other, NULL) == 0 &&
		    (other.api_port == port || other.registry_port == port))
			return true;
	}
	return false;
}

static int plan_port(struct profile *profile, struct error *err)
{
	const struct in_addr loopback = { htonl(INADDR_LOOPBACK) };

	for (unsigned port = FIRST_PORT; port <= LAST_PORT; port++) {
		if (!network_port_is_free(loopback, port) ||
		    network_port_is_promised(port, profile->name) ||
		    network_publishes(profile, &loopback, port))
			continue;
		profile->api_port = port;
		return 0;
	}
	return error_because(err, &reason_network, -EADDRINUSE,
			     "no port of 127.0.0.1 between %d and %d is free", FIRST_PORT,
			     LAST_PORT);
}

/* The networks of a cluster must not overlap each other, and that of the pods must not overlap
 * networks of this host. */
static int check_networks(const struct profile *profile, const struct used_networks *used,
			  struct error *err)
{
	const struct {
		const char *what;
		const char *text;
	} own[] = { { "nodes", profile->subnet },
		    { "pods", profile->pod_subnet },
		    { "services", profile->service_subnet } };
	struct subnet subnets[ARRAY_SIZE(own)];
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(own); i++)
		r = inet_parse_subnet(own[i].text, &subnets[i], err);
	if (r < 0)
		return error_reason(err, r, &reason_usage);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		for (size_t j = 0; j < i; j++)
			if (inet_overlap(&subnets[i], &subnets[j]))
				return error_because(err, &reason_usage, -EINVAL,
						     "the network '%s' for %s overlaps '%s' for %s",
						     own[i].text, own[i].what, own[j].text,
						     own[j].what);
	for (size_t i = 0; i < used->count; i++) {
		cleanup_free char *other = NULL;

		if (!inet_overlap(&subnets[1], &used->all[i]))
			continue;
		other = inet_print_subnet(&used->all[i]);
		(void)error_because(err, &reason_subnet_taken, -EADDRINUSE,
				    "the network '%s' for pods overlaps '%s', which this host "
				    "already uses",
				    profile->pod_subnet, other);
		return error_hint(err, -EADDRINUSE, "choose another with --pod-network-cidr");
	}
	return 0;
}

int network_plan(struct profile *profile, const char *wanted, struct error *err)
{
	cleanup_with(release_used) struct used_networks used = { 0 };
	int r;

	if (!profile->bridge)
		profile->bridge = profile_bridge_name(profile->dir);
	used.own_bridge = profile->bridge;
	r = find_used(profile, &used, err);
	if (r == 0 && !profile->subnet)
		r = plan_subnet(profile, wanted, &used, err);
	if (r == 0 && !profile->pod_subnet)
		r = plan_pod_subnet(profile, &used, err);
	if (r == 0)
		r = check_networks(profile, &used, err);
	if (r == 0)
		r = network6_plan(profile, err);
	if (r == 0 && profile->api_port == 0)
		r = plan_port(profile, err);
	return r;
}

/* The directory for locks that all clusters on this host share; only root can write to it. */
static int make_lock_directory(struct error *err)
{
	struct stat st;
	int r = file_make_dirs(LOCKS, 0755, err);

	if (r < 0)
		return r;
	if (lstat(LOCKS, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != 0 || st.st_mode & 022)
		return error_set(err, -EPERM, "'%s' is not a directory that only root can write to",
				 LOCKS);
	return 0;
}

/*
 * The inode of the network namespace names the lock, so that all commands in that namespace share
 * it.  The namespace itself cannot be the lock: every user can open it and could lock it.
 */
static int lock_for_root(int *ret_fd, struct error *err)
{
	cleanup_free char *path = NULL;
	struct stat st;
	int r;

	if (stat("/proc/self/ns/net", &st) < 0)
		return error_sys(err, "cannot open this host's network");
	path = xasprintf(LOCKS "/network-%llu", (unsigned long long)st.st_ino);
	r = make_lock_directory(err);
	return r < 0 ? r : file_lock_private(path, "planning a network", LOCK_MS, ret_fd, err);
}

/* Other users, who cannot bring a network up, serialize their own plans only. */
static int lock_for_user(int *ret_fd, struct error *err)
{
	cleanup_free char *locks = NULL;
	cleanup_free char *path = NULL;
	int r = state_make("locks", &locks, err);

	if (r < 0)
		return r;
	path = xasprintf("%s/" STATE_NETWORK_LOCK, locks);
	return file_lock_private(path, "planning a network", FILE_LOCK_MS, ret_fd, err);
}

int network_lock(int *ret_fd, struct error *err)
{
	int r = geteuid() == 0 ? lock_for_root(ret_fd, err) : lock_for_user(ret_fd, err);

	return r < 0 ? error_prefix(err, r, "cannot plan a network beside another command") : 0;
}

/* Ports created by an older version have IPv6 enabled. */
static int disable_port_ipv6(const char *name, void *data)
{
	const char *bridge = data;
	size_t len = strlen(bridge);

	if (strncmp(name, bridge, len) == 0 && name[len] == '.')
		link_disable_ipv6(name);
	return 0;
}

static int make_bridge(const struct profile *profile, struct link_socket *host, struct error *err)
{
	struct subnet subnet;
	struct in_addr gateway;
	int r = inet_parse_subnet(profile->subnet, &subnet, err);

	if (r == 0)
		r = inet_parse_address(profile->gateway, &gateway, err);
	if (r == 0)
		r = profile->ipv6_prefix ? link6_add_bridge(host, profile->bridge, err)
					 : link_add_bridge(host, profile->bridge, err);
	if (r == 0)
		r = link_add_address(host, profile->bridge, gateway, subnet.prefix, err);
	if (r == 0)
		r = network6_set_address(profile, host, err);
	if (r == 0)
		r = link_each(host, disable_port_ipv6, profile->bridge, err);
	return r;
}

/* Remove tracked connections of the cluster's addresses that others made while there were no rules:
 * all of them if the cluster has no bridge yet.  Their packets would be accepted as replies. */
static int forget_connections(const struct profile *profile, struct error *err)
{
	bool is_new = if_nametoindex(profile->bridge) == 0;
	const struct subnet6 *subnet6 = NULL;
	struct subnet subnets[2];
	struct subnet6 prefix;
	int r = inet_parse_subnet(profile->subnet, &subnets[0], err);

	if (r == 0)
		r = inet_parse_subnet(profile->pod_subnet, &subnets[1], err);
	if (r == 0 && profile->ipv6_prefix) {
		r = network6_prefix(profile, &prefix, err);
		subnet6 = &prefix;
	}
	if (r < 0)
		return r;
	return is_new ? conntrack_forget(subnets, ARRAY_SIZE(subnets), subnet6, err)
		      : conntrack_forget_strangers(subnets, ARRAY_SIZE(subnets), subnet6, err);
}

/* The rules are in force before the cluster's addresses can be reached, so that no connection from
 * before bypasses them. */
static int make_rules(const struct profile *profile, struct error *err)
{
	cleanup_free char *rules = NULL;
	int r = 0;

	/* The rules name the interfaces that will forward for this cluster. */
	if (!profile->offline)
		r = forwarding_plan(AF_INET, profile->bridge, err);
	if (r == 0 && network6_reaches_others(profile))
		r = forwarding_plan(AF_INET6, profile->bridge, err);
	if (r < 0)
		return r;
	rules = network_rules(profile);
	r = firewall_replace_table(profile->bridge, rules, err);
	if (r == 0)
		r = forget_connections(profile, err);
	return r;
}

struct bridge_search {
	const char *own;
	struct subnet subnet;
	char *found;
};

static int note_other_bridge(struct in_addr network, unsigned prefix, const char *link, void *data)
{
	struct bridge_search *search = data;
	struct subnet other = inet_subnet_of(network, prefix);

	if (!search->found && profile_is_bridge_name(link) && strcmp(link, search->own) != 0 &&
	    inet_overlap(&search->subnet, &other))
		search->found = xstrdup(link);
	return 0;
}

/* -EADDRINUSE if another cluster uses the subnet: the record may be older than that cluster, or
 * written by another program. */
static int check_subnet_is_ours(const struct profile *profile, struct link_socket *host,
				struct error *err)
{
	struct bridge_search search = { .own = profile->bridge };
	cleanup_free char *found = NULL;
	int r = inet_parse_subnet(profile->subnet, &search.subnet, err);

	if (r == 0)
		r = link_each_network(host, note_other_bridge, &search, err);
	found = search.found;
	if (r == 0 && found)
		r = error_because(err, &reason_subnet_taken, -EADDRINUSE,
				  "another cluster on this host, with the bridge '%s', uses the "
				  "network '%s'",
				  found, profile->subnet);
	if (r == -EADDRINUSE)
		(void)error_hint(err, r,
				 "stop the other cluster to start this one, or create a new one "
				 "with another --subnet");
	return r;
}

static int host_route(const struct node *node, struct link_socket *host, bool remove,
		      struct error *err)
{
	struct subnet pods;
	struct in_addr via;
	int r = inet_parse_subnet(node->pod_cidr, &pods, err);

	if (r == 0)
		r = inet_parse_address(node->address, &via, err);
	if (r < 0)
		return r;
	r = remove ? link_delete_route(host, pods.address, pods.prefix, via, err)
		   : link_replace_route(host, pods.address, pods.prefix, via, err);
	return r < 0 ? r : network6_host_route(node, host, remove, err);
}

static int end_forwarding(const struct profile *profile, struct error *err)
{
	int r = forwarding_end(AF_INET, profile->bridge, err);

	return r < 0 ? r : forwarding_end(AF_INET6, profile->bridge, err);
}

int network_up(const struct profile *profile, struct error *err)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	cleanup_with(link_closep) struct link_socket *host = NULL;
	const struct node *node;
	int r = link_open(&host, err);

	if (r == 0 && if_nametoindex(profile->bridge) == 0)
		r = check_subnet_is_ours(profile, host, err);
	/* Interfaces forward only while there are rules that say what. */
	if (r == 0 && profile->offline)
		r = end_forwarding(profile, err);
	if (r == 0)
		r = make_rules(profile, err);
	if (r == 0)
		r = make_bridge(profile, host, err);
	if (r == 0 && !profile->offline)
		r = forwarding_begin(AF_INET, profile->bridge, err);
	if (r == 0)
		r = network6_forward(profile, err);
	network_host_ports(profile, &ports);
	if (r == 0)
		(void)neighbours_open(profile->bridge, &ports);
	/* A network of the user's may give pods other addresses. */
	profile_for_each_node(node, profile)
		if (r == 0)
			r = host_route(node, host, !cni_is_ours(profile->cni), err);
	return r < 0 ? error_reason(err,
				    error_prefix(err, r, "cannot create the cluster's network"),
				    &reason_network)
		     : 0;
}

int network_forget(const struct node *node, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	int r = link_open(&host, err);

	if (r == 0)
		r = host_route(node, host, true, err);
	return r < 0 ? error_reason(err, r, &reason_network) : 0;
}

int network_down(const struct profile *profile, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	int r = link_open(&host, err);

	if (r == 0)
		neighbours_close(profile->bridge);
	/* Routes are deleted with the bridge. */
	if (r == 0)
		r = link_delete(host, profile->bridge, err);
	if (r == 0)
		r = end_forwarding(profile, err);
	if (r == 0)
		r = firewall_delete_table(profile->bridge, err);
	return r < 0 ? error_reason(err,
				    error_prefix(err, r, "cannot remove the cluster's network"),
				    &reason_network)
		     : 0;
}

void network_parse_resolv(const char *text, struct strlist *ret_servers)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;

	strlist_split(&lines, text, '\n');
	strlist_for_each(line, &lines) {
		cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
		cleanup_free char *clean = xstrndup(line, strcspn(line, "#;\r"));
		struct in_addr address;

		for (char *p = clean; *p; p++)
			if (*p == '\t')
				*p = ' ';
		strlist_split(&words, clean, ' ');
		if (words.count >= 2 && strcmp(words.items[0], "nameserver") == 0 &&
		    inet_parse_address(words.items[1], &address, NULL) == 0)
			strlist_addf(ret_servers, "%s:53", words.items[1]);
	}
}
