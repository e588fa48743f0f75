/*
 * Parsing and checking of the words that users write for settings of clusters and nodes.
 *
 * Every function returns -EINVAL with reason_usage on failure; the message says what is wrong and
 * shows a correct example.  The caller releases results.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"
#include "driver/driver.h"

/* [ADDRESS:]HOST-PORT[:NODE-PORT][@NODE]: connections to that port of the host are forwarded to the
 * nodes. */
struct port_spec {
	struct in_addr address; /* of the host; default: 127.0.0.1 */
	unsigned host_port;
	unsigned node_port;
	const char *node; /* forward to this node only; points into the word; NULL: any node */
};

int spec_parse_port(const char *text, struct port_spec *ret, struct error *err);

/* HOST-PATH:NODE-PATH[:ro|:rw]; does not check whether the host's path exists. */
int spec_parse_mount(const char *text, struct node_mount *ret, struct error *err);
void spec_release_mount(struct node_mount *mount);

/* The two parts of a word such as KEY=VALUE. */
struct pair_spec {
	char *key;
	char *value;
};

#define PAIR_SPEC_INIT ((struct pair_spec){ NULL })

void spec_release_pair(struct pair_spec *pair);

/* The key of a removal, "KEY-", without the '-', for the caller to free; NULL if WORD is no
 * removal. */
char *spec_parse_removal(const char *word) must_check;

/* KEY=VALUE or KEY, with the syntax of Kubernetes labels. */
int spec_parse_label(const char *text, struct pair_spec *ret, struct error *err);

/* NAME=true or NAME=false. */
int spec_parse_gate(const char *text, struct pair_spec *ret, struct error *err);

/* [REGISTRY=]URL of a mirror; without REGISTRY, of docker.io. */
int spec_parse_mirror(const char *text, struct pair_spec *ret, struct error *err);

/* KEY[=VALUE]:EFFECT, as kubectl writes taints. */
struct taint_spec {
	struct pair_spec label;
	char *effect;
};

#define TAINT_SPEC_INIT ((struct taint_spec){ { NULL } })

int spec_parse_taint(const char *text, struct taint_spec *ret, struct error *err);
void spec_release_taint(struct taint_spec *taint);

/* COMPONENT.KEY=VALUE; the component is one of extra_components[]. */
struct extra_spec {
	const char *component; /* points into extra_components[] */
	char *key;
	char *value;
};

#define EXTRA_SPEC_INIT ((struct extra_spec){ NULL })

extern const char *const extra_components[]; /* NULL-terminated */

int spec_parse_extra(const char *text, struct extra_spec *ret, struct error *err);
void spec_release_extra(struct extra_spec *extra);

/* The same for one node, which may only have arguments of the kubelet, not fields of its
 * configuration file. */
int spec_check_kubelet_argument(const char *text, struct error *err);

/* Whether KEY of the kubelet is a field of its configuration file rather than an argument. */
bool spec_is_field(const char *key);

/* NAME=VALUE of an environment variable. */
int spec_check_variable(const char *text, struct error *err);

/* HOST[:PORT] of a registry. */
int spec_check_registry(const char *text, struct error *err);

/* An IPv4 address. */
int spec_check_address(const char *text, struct error *err);

/* What nodes may reach on this host: "all", "none" or ports, "8080,9090". */
int spec_check_host_access(const char *text, struct error *err);

/* A DNS label. */
int spec_check_node_name(const char *text, struct error *err);

/* A DNS name: labels separated by dots. */
int spec_check_dns_name(const char *text, struct error *err);

/* The container runtime: only containerd, or "auto", which means the same. */
int spec_check_runtime(const char *text, struct error *err);
