/* Origins of connections and queries, and limits per origin. */

#include "balancer/origin.h"

#include <netinet/in.h>
#include <string.h>

#include "base/alloc.h"
#include "data/inet.h"

#define BUCKETS     256
#define SHARE_LEAST 8

struct origin_node {
	struct in_addr address;
	struct subnet pods;
	bool has_pods;
};

struct origins {
	struct origin_node *nodes;
	size_t node_count;
	struct subnet *networks;
	size_t network_count;
};

struct count {
	struct origin origin;
	unsigned number;
	struct count *next;
};

struct tally {
	unsigned total;
	unsigned host;
	unsigned others;
	struct count *buckets[BUCKETS];
};

struct origins *origins_new(void)
{
	return xcalloc(1, sizeof(struct origins));
}

static void origins_release(struct origins *origins)
{
	free(origins->nodes);
	free(origins->networks);
	*origins = (struct origins){ NULL };
}

void origins_free(struct origins *origins)
{
	origins_release(origins);
	free(origins);
}

static int set_node(struct origin_node *node, const struct balancer_origin *config,
		    struct error *err)
{
	int r = inet_parse_address(config->address, &node->address, err);

	if (r < 0 || !config->pods)
		return r;
	node->has_pods = true;
	return inet_parse_subnet(config->pods, &node->pods, err);
}

int origins_set(struct origins *origins, const struct balancer_config *config, struct error *err)
{
	struct origins made = {
		.nodes = xcalloc(config->origin_count + 1, sizeof(*made.nodes)),
		.networks = xcalloc(config->networks.count + 1, sizeof(*made.networks)),
	};
	int r = 0;

	for (; r == 0 && made.node_count < config->origin_count; made.node_count++)
		r = set_node(&made.nodes[made.node_count], &config->origins[made.node_count], err);
	for (; r == 0 && made.network_count < config->networks.count; made.network_count++)
		r = inet_parse_subnet(config->networks.items[made.network_count],
				      &made.networks[made.network_count], err);
	if (r < 0) {
		origins_release(&made);
		return r;
	}
	origins_release(origins);
	*origins = made;
	return 0;
}

static bool is_ipv4(const struct sockaddr_storage *address, struct in_addr *ret)
{
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET) {
		*ret = in4->sin_addr;
		return true;
	}
	if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		return false;
	memcpy(ret, &in6->sin6_addr.s6_addr[12], sizeof(*ret));
	return true;
}

static struct origin find_ipv4(const struct origins *origins, struct in_addr from)
{
	struct origin origin = { .kind = ORIGIN_ELSEWHERE };

	for (size_t i = 0; i < origins->node_count; i++) {
		const struct origin_node *node = &origins->nodes[i];

		if (node->address.s_addr != from.s_addr &&
		    !(node->has_pods && inet_contains(&node->pods, from)))
			continue;
		origin.kind = ORIGIN_NODE;
		memcpy(origin.id, &node->address, sizeof(node->address));
		return origin;
	}
	for (size_t i = 0; i < origins->network_count; i++) {
		if (!inet_contains(&origins->networks[i], from))
			continue;
		origin.kind = ORIGIN_STRAY;
		return origin;
	}
	memcpy(origin.id, &from, sizeof(from));
	return origin;
}

struct origin origins_find(const struct origins *origins, const struct sockaddr_storage *from,
			   const struct sockaddr_storage *at)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in6 *at6 = (const struct sockaddr_in6 *)at;
	struct origin origin = { .kind = ORIGIN_HOST };
	struct in_addr address;
	struct in_addr own;

	if (is_ipv4(from, &address)) {
		/* If source and destination addresses are equal, the client is on this host. */
		if (ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET ||
		    (at && is_ipv4(at, &own) && own.s_addr == address.s_addr))
			return origin;
		return find_ipv4(origins, address);
	}
	if (from->ss_family == AF_INET6 && (IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
					    (at && at->ss_family == AF_INET6 &&
					     IN6_ARE_ADDR_EQUAL(&at6->sin6_addr, &in6->sin6_addr))))
		return origin;
	origin.kind = ORIGIN_ELSEWHERE;
	/* A machine usually has a /64 network of its own. */
	if (from->ss_family == AF_INET6)
		memcpy(origin.id, &in6->sin6_addr, 8);
	return origin;
}

bool origins_trust(const struct origins *origins, const struct origin *origin)
{
	return origins->network_count == 0 || origin->kind != ORIGIN_ELSEWHERE;
}

struct tally *tally_new(unsigned total)
{
	struct tally *tally = xcalloc(1, sizeof(*tally));

	tally->total = total;
	return tally;
}

void tally_free(struct tally *tally)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		while (tally->buckets[i]) {
			struct count *count = tally->buckets[i];

			tally->buckets[i] = count->next;
			free(count);
		}
	}
	free(tally);
}

/* The place of ORIGIN's count in its list; it points to NULL if there is none. */
static struct count **find_count(struct tally *tally, const struct origin *origin)
{
	struct count **link;
	uint32_t hash = 2166136261u ^ (uint32_t)origin->kind;

	for (size_t i = 0; i < sizeof(origin->id); i++)
		hash = (hash ^ origin->id[i]) * 16777619u;
	link = &tally->buckets[(hash ^ hash >> 16) % BUCKETS];
	while (*link && ((*link)->origin.kind != origin->kind ||
			 memcmp((*link)->origin.id, origin->id, sizeof(origin->id)) != 0))
		link = &(*link)->next;
	return link;
}

bool tally_take(struct tally *tally, const struct origin *origin)
{
	unsigned most = tally->total - tally->total / 4;
	unsigned share = MAX(tally->total / 4, (unsigned)SHARE_LEAST);
	struct count **link;

	if (tally->host + tally->others >= tally->total)
		return false;
	if (origin->kind == ORIGIN_HOST) {
		if (tally->host >= most)
			return false;
		tally->host++;
		return true;
	}
	link = find_count(tally, origin);
	if (tally->others >= most || (*link && (*link)->number >= share))
		return false;
	if (!*link) {
		*link = xcalloc(1, sizeof(**link));
		(*link)->origin = *origin;
	}
	(*link)->number++;
	tally->others++;
	return true;
}

void tally_give_back(struct tally *tally, const struct origin *origin)
{
	struct count **link;
	struct count *count;

	if (origin->kind == ORIGIN_HOST) {
		tally->host--;
		return;
	}
	link = find_count(tally, origin);
	count = *link;
	tally->others--;
	if (--count->number > 0)
		return;
	*link = count->next;
	free(count);
}
