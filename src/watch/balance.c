/* Services of type LoadBalancer. */

#include "watch/balance.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "data/inet.h"

static const json_t *member_of(const json_t *object, const char *outer, const char *inner)
{
	return json_object_get(json_object_get(object, outer), inner);
}

static const char *text_of(const json_t *object, const char *outer, const char *inner)
{
	return json_string_value(member_of(object, outer, inner));
}

/* Addresses for services are of IPv4, and no node answers at one for a service of IPv6 only.  A
 * service that says nothing of it is one of IPv4. */
static bool has_ipv4(const json_t *object)
{
	const json_t *families = member_of(object, "spec", "ipFamilies");
	json_t *family;
	size_t i;

	json_array_foreach(families, i, family)
		if (text_is(json_string_value(family), "IPv4"))
			return true;
	return json_array_size(families) == 0;
}

void *balance_read_service(const json_t *object)
{
	const char *class = text_of(object, "spec", "loadBalancerClass");
	const char *asked = text_of(object, "spec", "loadBalancerIP");
	const char *created = text_of(object, "metadata", "creationTimestamp");
	const json_t *ingress = json_object_get(member_of(object, "status", "loadBalancer"),
						"ingress");
	struct balance_service *service;
	json_t *point;
	size_t i;

	if (!text_is(text_of(object, "spec", "type"), "LoadBalancer") || (class && *class) ||
	    !has_ipv4(object))
		return NULL;
	service = xcalloc(1, sizeof(*service));
	service->created = xstrdup(created ? created : "");
	service->asked = asked && *asked && strlen(asked) < INET_ADDRSTRLEN ? xstrdup(asked) : NULL;
	service->local = text_is(text_of(object, "spec", "externalTrafficPolicy"), "Local");
	json_array_foreach(ingress, i, point) {
		const char *address = json_string_value(json_object_get(point, "ip"));

		if (i == BALANCE_HAS_MOST)
			break;
		/* What is longer is no address. */
		strlist_add(&service->has,
			    address && strlen(address) < INET_ADDRSTRLEN ? address : "");
	}
	return service;
}

void balance_free_service(void *data)
{
	struct balance_service *service = data;

	free(service->created);
	free(service->asked);
	strlist_release(&service->has);
	free(service);
}

void *balance_read_slice(const json_t *object)
{
	const json_t *labels = member_of(object, "metadata", "labels");
	const char *name = json_string_value(json_object_get(labels, "kubernetes.io/service-name"));
	const char *space = text_of(object, "metadata", "namespace");
	struct balance_slice *slice;
	json_t *endpoint;
	size_t i;

	if (!name || !space)
		return NULL;
	slice = xcalloc(1, sizeof(*slice));
	slice->service = xasprintf("%s/%s", space, name);
	json_array_foreach(json_object_get(object, "endpoints"), i, endpoint) {
		const char *node = json_string_value(json_object_get(endpoint, "nodeName"));

		/* An endpoint that says nothing of it is ready. */
		if (node && !json_is_false(member_of(endpoint, "conditions", "ready")) &&
		    !strlist_has(&slice->nodes, node))
			strlist_add(&slice->nodes, node);
	}
	return slice;
}

void balance_free_slice(void *data)
{
	struct balance_slice *slice = data;

	free(slice->service);
	strlist_release(&slice->nodes);
	free(slice);
}

void *balance_read_node(const json_t *object)
{
	struct balance_node node = { .ready = false };
	struct balance_node *kept;
	json_t *item;
	size_t i;

	json_array_foreach(member_of(object, "status", "addresses"), i, item) {
		const char *address = json_string_value(json_object_get(item, "address"));

		if (text_is(json_string_value(json_object_get(item, "type")), "InternalIP") &&
		    address && node.address.s_addr == 0)
			(void)inet_parse_address(address, &node.address, NULL);
	}
	if (node.address.s_addr == 0)
		return NULL;
	json_array_foreach(member_of(object, "status", "conditions"), i, item)
		if (text_is(json_string_value(json_object_get(item, "type")), "Ready"))
			node.ready = text_is(json_string_value(json_object_get(item, "status")),
					     "True");
	kept = xcalloc(1, sizeof(*kept));
	*kept = node;
	return kept;
}

void balance_free_node(void *data)
{
	free(data);
}

size_t balance_keep_known(struct balance_object *nodes, size_t count,
			  const struct watch_config *config, struct balance_node *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct balance_node *node = nodes[i].object;

		for (size_t j = 0; j < config->node_count; j++) {
			/* The key of a node begins with "/". */
			if (strcmp(config->nodes[j].name, nodes[i].key + 1) != 0)
				continue;
			ret[kept] = (struct balance_node){ config->nodes[j].address, node->ready };
			nodes[kept] = (struct balance_object){ nodes[i].key, &ret[kept] };
			kept++;
			break;
		}
	}
	return kept;
}

static bool in_pool(const struct balance_pool *pool, struct in_addr address)
{
	uint32_t number = ntohl(address.s_addr);

	if (number < ntohl(pool->first.s_addr) || number > ntohl(pool->last.s_addr))
		return false;
	for (size_t i = 0; i < pool->taken_count; i++)
		if (pool->taken[i].s_addr == address.s_addr)
			return false;
	return true;
}

static bool is_used(const struct balance *balance, struct in_addr address)
{
	for (size_t i = 0; i < balance->count; i++)
		if (balance->items[i].address.s_addr == address.s_addr)
			return true;
	return false;
}

static bool is_free(const struct balance *balance, const struct balance_pool *pool,
		    const char *text, struct in_addr *ret)
{
	return inet_parse_address(text, ret, NULL) == 0 && in_pool(pool, *ret) &&
	       !is_used(balance, *ret);
}

static struct balance_item *find_item(const struct balance *balance, const char *key)
{
	for (size_t i = 0; i < balance->count; i++)
		if (strcmp(balance->items[i].key, key) == 0)
			return &balance->items[i];
	return NULL;
}

static int compare_ages(const void *one, const void *other)
{
	const struct balance_object *const *a = one;
	const struct balance_object *const *b = other;
	const struct balance_service *older = (*a)->object;
	const struct balance_service *newer = (*b)->object;
	int order = strcmp(older->created, newer->created);

	return order ? order : strcmp((*a)->key, (*b)->key);
}

/* The address that SERVICE keeps or has asked for. */
static struct in_addr claimed_address(const struct balance *balance,
				      const struct balance_pool *pool,
				      const struct balance_service *service,
				      const struct balance_item *before)
{
	struct in_addr address;
	const char *own;

	if (service->asked && is_free(balance, pool, service->asked, &address))
		return address;
	strlist_for_each(own, &service->has)
		if (is_free(balance, pool, own, &address))
			return address;
	/* The API may not have shown it yet. */
	if (before && before->address.s_addr != 0 && in_pool(pool, before->address) &&
	    !is_used(balance, before->address))
		return before->address;
	return (struct in_addr){ 0 };
}

/* Nodes get their addresses from the bottom of the subnet. */
static struct in_addr highest_free(const struct balance *balance, const struct balance_pool *pool)
{
	for (uint32_t number = ntohl(pool->last.s_addr); number >= ntohl(pool->first.s_addr);
	     number--) {
		struct in_addr address = { htonl(number) };

		if (in_pool(pool, address) && !is_used(balance, address))
			return address;
	}
	return (struct in_addr){ 0 };
}

static void choose_addresses(struct balance *balance, const struct balance *before,
			     const struct balance_pool *pool, const struct balance_view *view)
{
	cleanup_free const struct balance_object **by_age = xcalloc(
		view->service_count + 1, sizeof(const struct balance_object *));

	for (size_t i = 0; i < view->service_count; i++)
		by_age[i] = &view->services[i];
	qsort(by_age, view->service_count, sizeof(*by_age), compare_ages);
	for (size_t i = 0; i < view->service_count; i++) {
		struct balance_item *item = find_item(balance, by_age[i]->key);

		item->address = claimed_address(balance, pool, by_age[i]->object,
						find_item(before, by_age[i]->key));
	}
	for (size_t i = 0; i < view->service_count; i++) {
		struct balance_item *item = find_item(balance, by_age[i]->key);

		if (item->address.s_addr == 0)
			item->address = highest_free(balance, pool);
	}
}

static bool has_endpoint(const struct balance_view *view, const char *service, const char *node)
{
	for (size_t i = 0; i < view->slice_count; i++) {
		const struct balance_slice *slice = view->slices[i].object;

		if (strcmp(slice->service, service) == 0 && strlist_has(&slice->nodes, node))
			return true;
	}
	return false;
}

/* How well NODE serves: 0: not at all; more is better. */
static unsigned rate_node(const struct balance_view *view, const char *service,
			  const struct balance_object *node)
{
	const struct balance_node *known = node->object;
	/* The key of a node begins with "/". */
	bool serves = known->ready && has_endpoint(view, service, node->key + 1);

	return serves ? 1 + (unsigned)view->pulse(known->address, view->data) : 0;
}

static unsigned spread(const char *key)
{
	unsigned hash = 5381;

	for (; *key; key++)
		hash = hash * 33 ^ (unsigned char)*key;
	return hash;
}

static struct in_addr choose_node(const struct balance_view *view, const char *service,
				  struct in_addr before)
{
	struct in_addr best = { 0 };
	unsigned best_rating = 0;

	for (size_t i = 0; i < view->node_count; i++) {
		size_t place = (i + spread(service)) % view->node_count;
		const struct balance_object *object = &view->nodes[place];
		const struct balance_node *node = object->object;
		unsigned rating = rate_node(view, service, object);

		if (node->address.s_addr == before.s_addr && rating > 1 + PULSE_DEAD)
			return before;
		if (rating > best_rating || (rating > 0 && rating == best_rating &&
					     node->address.s_addr == before.s_addr)) {
			best_rating = rating;
			best = node->address;
		}
		/* Without an endpoint, any node refuses connections. */
		if (best.s_addr == 0 && node->ready && node->address.s_addr == before.s_addr)
			best = before;
	}
	return best.s_addr != 0 ? best : before;
}

/* A node for a service that has none yet and no endpoint, so that connections are refused. */
static struct in_addr any_node(const struct balance_view *view)
{
	for (int ready = 1; ready >= 0; ready--)
		for (size_t i = 0; i < view->node_count; i++) {
			const struct balance_node *node = view->nodes[i].object;

			if (node->ready >= ready)
				return node->address;
		}
	return (struct in_addr){ 0 };
}

static bool is_published(const struct balance_service *service, struct in_addr address)
{
	struct in_addr own;

	return service->has.count == 1 &&
	       inet_parse_address(service->has.items[0], &own, NULL) == 0 &&
	       own.s_addr == address.s_addr;
}

void balance_update(struct balance *balance, const struct balance_pool *pool,
		    const struct balance_view *view)
{
	struct balance before = *balance;
	struct balance now = { xcalloc(view->service_count + 1, sizeof(*now.items)),
			       view->service_count };

	for (size_t i = 0; i < now.count; i++)
		now.items[i].key = xstrdup(view->services[i].key);
	choose_addresses(&now, &before, pool, view);
	for (size_t i = 0; i < now.count; i++) {
		struct balance_item *item = &now.items[i];
		const struct balance_item *old = find_item(&before, item->key);
		struct in_addr old_via = old ? old->via : (struct in_addr){ 0 };

		if (item->address.s_addr == 0)
			continue;
		item->published = is_published(view->services[i].object, item->address);
		item->via = choose_node(view, item->key, old_via);
		if (item->via.s_addr == 0)
			item->via = any_node(view);
	}
	balance_release(&before);
	*balance = now;
}

void balance_release(struct balance *balance)
{
	for (size_t i = 0; i < balance->count; i++)
		free(balance->items[i].key);
	free(balance->items);
	*balance = BALANCE_INIT;
}
