/*
 * What the watcher of a cluster is to do, in the profile's directory:
 *
 *  - watch.json, written by watch_configure();
 *  - watch.pem, its identity: a certificate, its key, and the certificate of the authority that
 *    signs the API's certificate.  Without it, there is no watcher.
 *
 * The keeper of the front door reads both, and again when watch.json is written.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"

#define WATCH_CONFIG   "watch.json"
#define WATCH_IDENTITY "watch.pem"

struct watch_node {
	char *name;
	struct in_addr address;
	char *pods;  /* "10.244.1.0/24"; NULL: unknown */
	char *pods6; /* "fd12:3456:789a:103::/64"; NULL: unknown, or none */
};

struct watch_config {
	char *server; /* the API: "127.0.0.1:41234" */
	struct in_addr first;
	struct in_addr
		last; /* addresses for services of type LoadBalancer, without those of nodes */
	struct watch_node *nodes;
	size_t node_count;
	bool policies; /* whether network policies are enforced */
};

#define WATCH_CONFIG_INIT ((struct watch_config){ NULL })

/* PODS and PODS6 may be NULL. */
void watch_config_add_node(struct watch_config *config, const char *name, struct in_addr address,
			   const char *pods, const char *pods6);

/* Write CONFIG to the profile's directory DIR; a running keeper applies it. */
int watch_configure(const char *dir, const struct watch_config *config, struct error *err);

/* CONFIG as text, for the caller to free; and back, -EBADMSG if it is invalid. */
char *watch_config_print(const struct watch_config *config) must_check;
int watch_config_parse(const char *text, size_t len, struct watch_config *ret, struct error *err);
void watch_config_release(struct watch_config *config);
