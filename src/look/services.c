/* The services of a cluster, and the URLs at which this host reaches them. */

#include "look/services.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "data/inet.h"
#include "node/cluster-node.h"
#include "record/world.h"

#define WORDS_MOST 300

static const json_t *member_of(const json_t *object, const char *outer, const char *inner)
{
	return json_object_get(json_object_get(object, outer), inner);
}

/* A control plane that its root has changed may answer with anything. */
static char *printable(const json_t *word)
{
	struct strbuf out = STRBUF_INIT;
	const char *text = json_string_value(word);

	if (text)
		strbuf_add_printable_line(&out, text, strnlen(text, WORDS_MOST));
	return strbuf_take(&out);
}

static unsigned port_number(const json_t *value)
{
	json_int_t number = json_integer_value(value);

	return number > 0 && number <= 65535 ? (unsigned)number : 0;
}

/* What the slices say of one service.  A hostile API may send many slices and many services, so
 * each is looked at once. */
struct endpoints {
	const char *namespace;
	const char *service;
	bool any;     /* there is one that is ready */
	size_t first; /* the first usable node with one */
};

struct endpoint_index {
	struct endpoints *items;
	size_t count;
};

static int compare_endpoints(const void *one, const void *other)
{
	const struct endpoints *a = one;
	const struct endpoints *b = other;
	int order = strcmp(a->namespace, b->namespace);

	return order ? order : strcmp(a->service, b->service);
}

static struct endpoints read_slice(const json_t *slice, const struct strlist *usable)
{
	const json_t *labels = member_of(slice, "metadata", "labels");
	struct endpoints ret = {
		.namespace = json_string_value(member_of(slice, "metadata", "namespace")) ?: "",
		.service = json_string_value(json_object_get(labels, "kubernetes.io/service-name"))
				   ?: "",
		.first = usable->count,
	};
	const json_t *endpoint;
	size_t i;

	json_array_foreach(json_object_get(slice, "endpoints"), i, endpoint) {
		const char *node = json_string_value(json_object_get(endpoint, "nodeName"));

		/* An endpoint that says nothing of it is ready. */
		if (json_is_false(member_of(endpoint, "conditions", "ready")))
			continue;
		ret.any = true;
		for (size_t j = 0; node && j < ret.first; j++)
			if (strcmp(usable->items[j], node) == 0)
				ret.first = j;
	}
	return ret;
}

/* The endpoints in SLICES by service. */
static struct endpoint_index index_slices(const json_t *slices, const struct strlist *usable)
{
	const json_t *items = json_object_get(slices, "items");
	struct endpoints *all = xcalloc(json_array_size(items) + 1, sizeof(*all));
	const json_t *slice;
	size_t count = 0;
	size_t i;

	json_array_foreach(items, i, slice)
		all[i] = read_slice(slice, usable);
	qsort(all, json_array_size(items), sizeof(*all), compare_endpoints);
	for (i = 0; i < json_array_size(items); i++) {
		struct endpoints *last = count > 0 ? &all[count - 1] : NULL;

		if (last && compare_endpoints(last, &all[i]) == 0) {
			last->any |= all[i].any;
			last->first = MIN(last->first, all[i].first);
		} else {
			all[count++] = all[i];
		}
	}
	return (struct endpoint_index){ all, count };
}

/* NULL if SERVICE has none. */
static const struct endpoints *find_endpoints(const struct endpoint_index *index,
					      const json_t *service)
{
	const struct endpoints wanted = {
		.namespace = json_string_value(member_of(service, "metadata", "namespace")) ?: "",
		.service = json_string_value(member_of(service, "metadata", "name")) ?: "",
	};

	if (!*wanted.service)
		return NULL;
	return bsearch(&wanted, index->items, index->count, sizeof(wanted), compare_endpoints);
}

/* Leave of USABLE the nodes that have an address. */
static void keep_addressed(const struct profile *profile, const struct strlist *usable,
			   struct strlist *ret)
{
	const char *name;

	strlist_for_each(name, usable) {
		const struct node *node = profile_find_node(profile, name);

		if (node && node->address)
			strlist_add(ret, name);
	}
}

static const struct node *choose_node(const struct profile *profile, const json_t *service,
				      const struct endpoints *endpoints,
				      const struct strlist *usable)
{
	bool is_local = text_is(
		json_string_value(member_of(service, "spec", "externalTrafficPolicy")), "Local");
	size_t first = !is_local ? 0 : endpoints ? endpoints->first : usable->count;

	return first < usable->count ? profile_find_node(profile, usable->items[first]) : NULL;
}

static const char *scheme_of(const char *protocol, const char *scheme)
{
	if (text_is(protocol, "UDP"))
		return "udp";
	return text_is(protocol, "SCTP") ? "sctp" : scheme;
}

/* The address of SERVICE, a LoadBalancer that the cluster has given one; NULL if it has none. */
static const char *own_address(const json_t *service)
{
	const json_t *ingress = json_object_get(member_of(service, "status", "loadBalancer"),
						"ingress");
	const char *address = json_string_value(json_object_get(json_array_get(ingress, 0), "ip"));
	struct in_addr parsed;

	return text_is(json_string_value(member_of(service, "spec", "type")), "LoadBalancer") &&
			       address && inet_parse_address(address, &parsed, NULL) == 0
		       ? address
		       : NULL;
}

/* PORT of a service with the address OWN (NULL: none), which NODE (NULL: none) can answer. */
static void read_port(const json_t *port, const char *own, const struct node *node,
		      const char *scheme, struct service_port *ret)
{
	const char *protocol = json_string_value(json_object_get(port, "protocol"));
	cleanup_free char *name = printable(json_object_get(port, "name"));
	unsigned number = port_number(json_object_get(port, "port"));

	*ret = (struct service_port){
		.target = *name ? xasprintf("%s/%u", name, number) : xasprintf("%u", number),
		.answer_port = own ? number : port_number(json_object_get(port, "nodePort")),
		.is_tcp = !protocol || strcmp(protocol, "TCP") == 0,
	};
	if (!ret->answer_port || !node)
		return;
	ret->address = xstrdup(own ? own : node->address);
	ret->url = xasprintf("%s://%s:%u", scheme_of(protocol, scheme), ret->address,
			     ret->answer_port);
}

static void read_service(const struct profile *profile, const json_t *object,
			 const struct endpoint_index *index, const struct strlist *usable,
			 const char *scheme, struct service *ret)
{
	const struct endpoints *endpoints = find_endpoints(index, object);
	const struct node *node = choose_node(profile, object, endpoints, usable);
	const json_t *ports = member_of(object, "spec", "ports");
	const json_t *port;
	size_t i;

	*ret = (struct service){
		.namespace = printable(member_of(object, "metadata", "namespace")),
		.name = printable(member_of(object, "metadata", "name")),
		.type = printable(member_of(object, "spec", "type")),
		.ports = xcalloc(json_array_size(ports) + 1, sizeof(*ret->ports)),
		.port_count = json_array_size(ports),
		.has_endpoints = endpoints && endpoints->any,
		.has_node = node,
	};
	json_array_foreach(ports, i, port) {
		read_port(port, own_address(object), node, scheme, &ret->ports[i]);
		ret->is_reachable |= ret->ports[i].answer_port > 0;
	}
}

static int compare_services(const void *one, const void *other)
{
	const struct service *a = one;
	const struct service *b = other;
	int order = strcmp(a->namespace, b->namespace);

	return order ? order : strcmp(a->name, b->name);
}

void services_read(const struct profile *profile, const json_t *services, const json_t *slices,
		   const struct strlist *usable, const char *scheme, struct services *ret)
{
	cleanup_with(strlist_release) struct strlist addressed = STRLIST_INIT;
	const json_t *items = json_object_get(services, "items");
	struct endpoint_index index;

	keep_addressed(profile, usable, &addressed);
	index = index_slices(slices, &addressed);
	*ret = (struct services){ .count = MIN(json_array_size(items), (size_t)SERVICES_MOST) };
	ret->left_out = json_array_size(items) - ret->count;
	ret->items = xcalloc(ret->count + 1, sizeof(*ret->items));
	for (size_t i = 0; i < ret->count; i++)
		read_service(profile, json_array_get(items, i), &index, &addressed, scheme,
			     &ret->items[i]);
	free(index.items);
	qsort(ret->items, ret->count, sizeof(*ret->items), compare_services);
}

/* The nodes that run and are Ready, the primary first. */
static void find_usable(const struct profile *profile, const json_t *nodes, struct strlist *ret)
{
	const struct node *node;

	for (int primary = 1; primary >= 0; primary--)
		profile_for_each_node(node, profile) {
			const json_t *object = kube_find_object(nodes, node->name);

			if (node->primary == primary && object && kube_node_is_ready(object) &&
			    cluster_node_is_awake(profile, node))
				strlist_add(ret, node->name);
		}
}

/* Say once that there are more. */
static void mention_rest(const struct services *services)
{
	static bool is_said;

	if (services->left_out > 0 && !is_said)
		log_warning("the cluster has %zu services; only the first %d of them are looked at",
			    services->count + services->left_out, SERVICES_MOST);
	is_said |= services->left_out > 0;
}

int services_collect(const struct profile *profile, const char *scheme, struct services *ret,
		     struct error *err)
{
	cleanup_with(strlist_release) struct strlist usable = STRLIST_INIT;
	json_auto_t *services = NULL;
	json_auto_t *slices = NULL;
	json_auto_t *nodes = NULL;
	int r = world->kube(profile, KUBE_GET, "/api/v1/services", NULL, &services, err);

	if (r == 0)
		r = world->kube(profile, KUBE_GET, "/apis/discovery.k8s.io/v1/endpointslices", NULL,
				&slices, err);
	if (r == 0)
		r = world->kube(profile, KUBE_GET, "/api/v1/nodes", NULL, &nodes, err);
	if (r < 0)
		return error_prefix(err, r, "cannot list the services");
	find_usable(profile, nodes, &usable);
	services_read(profile, services, slices, &usable, scheme, ret);
	mention_rest(ret);
	return 0;
}

int services_need(const struct services *services, const char *namespace, const char *name,
		  const struct service **ret, struct error *err)
{
	cleanup_with(strlist_release) struct strlist elsewhere = STRLIST_INIT;

	for (size_t i = 0; i < services->count; i++) {
		const struct service *service = &services->items[i];

		if (strcmp(service->name, name) != 0)
			continue;
		strlist_add(&elsewhere, service->namespace);
		if (strcmp(service->namespace, namespace) != 0)
			continue;
		*ret = service;
		return 0;
	}
	(void)error_because(err, &reason_service_missing, -ENOENT,
			    "there is no service '%s' in namespace '%s'", name, namespace);
	if (elsewhere.count == 0)
		return -ENOENT;
	return error_hint(err, -ENOENT, "there is one in namespace '%s': add '-n %s'",
			  elsewhere.items[0], elsewhere.items[0]);
}

int service_check(const struct service *service, struct error *err)
{
	const char *space = service->namespace;

	if (!service->is_reachable) {
		(void)error_because(err, &reason_service_inside, -ENOTSUP,
				    "service '%s' in namespace '%s' is of type %s and has no node "
				    "port, so this host does not reach it",
				    service->name, space, service->type);
		return error_hint(err, -ENOTSUP,
				  "'manykube kubectl -n %s port-forward service/%s PORT' "
				  "forwards a port of this host to it; type NodePort gives it a "
				  "node port",
				  space, service->name);
	}
	if (!service->has_endpoints) {
		(void)error_because(err, &reason_service_unreachable, -EAGAIN,
				    "no pod of service '%s' in namespace '%s' is ready",
				    service->name, space);
		return error_hint(err, -EAGAIN,
				  "--wait waits for one; 'manykube kubectl -n %s get pods -o wide' "
				  "shows the pods, and 'manykube kubectl -n %s describe service "
				  "%s' which of them it selects",
				  space, space, service->name);
	}
	if (service->has_node)
		return 0;
	(void)error_because(err, &reason_service_unreachable, -EAGAIN,
			    "no node that is Ready answers for service '%s' in namespace '%s'",
			    service->name, space);
	return error_hint(err, -EAGAIN, "'manykube status' shows the nodes");
}

static bool accepts(const char *address, unsigned port, unsigned timeout_ms)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int failed = 0;

	if (fd < 0 || inet_parse_address(address, &name.sin_addr, NULL) < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&name, sizeof(name)) == 0)
		return true;
	return errno == EINPROGRESS && poll(&wait, 1, (int)timeout_ms) > 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0 && failed == 0;
}

bool service_answers(const struct service *service, unsigned timeout_ms, int64_t deadline_ms)
{
	bool tried[65536] = { false };

	for (size_t i = 0; i < service->port_count; i++) {
		const struct service_port *port = &service->ports[i];
		unsigned left_ms = MIN(timeout_ms, (unsigned)clock_left_ms(deadline_ms));

		/* All ports are at the same address. */
		if (!port->url || !port->is_tcp || tried[port->answer_port])
			continue;
		tried[port->answer_port] = true;
		if (left_ms == 0 || !accepts(port->address, port->answer_port, left_ms))
			return false;
	}
	return true;
}

static void release_service(struct service *service)
{
	for (size_t i = 0; i < service->port_count; i++) {
		free(service->ports[i].target);
		free(service->ports[i].url);
		free(service->ports[i].address);
	}
	free(service->ports);
	free(service->namespace);
	free(service->name);
	free(service->type);
}

void services_release(struct services *services)
{
	for (size_t i = 0; i < services->count; i++)
		release_service(&services->items[i]);
	free(services->items);
	*services = SERVICES_INIT;
}
