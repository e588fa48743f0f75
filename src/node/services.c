/* The services of a node that can hang. */

#include "node/services.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

/* A server of TLS answers this with an error, whatever the state of what it serves. */
#define PLAIN_WORDS "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"

static const struct node_service services[] = {
	/* containerd comes first, because the kubelet needs it.  Every gRPC client sends this
	 * preface. */
	{ "containerd", "restarting hung containerd", "/run/containerd/containerd.sock",
	  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .dependent = "kubelet" },
	{ "kubelet", "restarting hung kubelet", "10248",
	  "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", .has_status = true },
	/* The port for metrics, because etcd listens on the other before it answers there. */
	{ "etcd", "restarting hung etcd", "2381",
	  "GET /version HTTP/1.0\r\nHost: localhost\r\n\r\n", .of_kubernetes = true },
	/* It listens before it has reached etcd, and answers afterwards. */
	{ "kube-apiserver", "restarting hung API server", "6443", PLAIN_WORDS, .after = "etcd",
	  .of_kubernetes = true, .has_status = true },
	{ "kube-controller-manager", "restarting hung controller manager", "10257", PLAIN_WORDS,
	  .of_kubernetes = true },
	{ "kube-scheduler", "restarting hung scheduler", "10259", PLAIN_WORDS,
	  .of_kubernetes = true },
};

const struct node_service *node_service_at(size_t number)
{
	return number < ARRAY_SIZE(services) ? &services[number] : NULL;
}

int node_service_ask(const struct cluster_node *at, const struct node_service *service,
		     int timeout_ms)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = at->driver->ask(&at->spec, service->place, service->words, timeout_ms, &why);

	if (r < 0)
		log_debug("%s of node '%s' does not answer: %s", service->name, at->spec.name,
			  why.text);
	return r;
}

bool node_service_is_due(const struct node_service *service, const struct node *node)
{
	return !service->of_kubernetes || (node->control_plane && node->phase == NODE_JOINED);
}

const char *node_services_find_hung(const struct cluster_node *at, const struct node *node,
				    int timeout_ms)
{
	if (at->driver->needs_root && geteuid() != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		if (!services[i].has_status && node_service_is_due(&services[i], node) &&
		    node_service_ask(at, &services[i], timeout_ms) == -ETIMEDOUT)
			return services[i].name;
	return NULL;
}
