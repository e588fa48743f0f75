/*
 * What people write for a cluster's and a node's settings, one word each: read and checked.
 *
 * Every function returns -EINVAL with reason_usage, the words naming what is wrong and how it
 * is written right.  What they return is the caller's to release.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"
#include "driver/driver.h"

/* [ADDRESS:]HOST-PORT[:NODE-PORT][@NODE]: what comes to the host there is passed on to the nodes.
 */
struct port_spec {
	struct in_addr address; /* of the host; 127.0.0.1 unless given */
	unsigned host_port;
	unsigned node_port;
	const char *node; /* the only one that it goes to, in the word itself; NULL: any */
};

int spec_parse_port(const char *text, struct port_spec *ret, struct error *err);

/* HOST-PATH:NODE-PATH[:ro|:rw]; whether the host's path exists is not looked at. */
int spec_parse_mount(const char *text, struct node_mount *ret, struct error *err);
void spec_release_mount(struct node_mount *mount);

/* Two parts of one word. */
struct pair_spec {
	char *key;
	char *value;
};

#define PAIR_SPEC_INIT ((struct pair_spec){ NULL })

void spec_release_pair(struct pair_spec *pair);

/* KEY=VALUE or KEY, as Kubernetes' labels are written. */
int spec_parse_label(const char *text, struct pair_spec *ret, struct error *err);

/* NAME=true or NAME=false. */
int spec_parse_gate(const char *text, struct pair_spec *ret, struct error *err);

/* [REGISTRY=]URL: where to get that registry's images from; docker.io's unless it is named. */
int spec_parse_mirror(const char *text, struct pair_spec *ret, struct error *err);

/* KEY[=VALUE]:EFFECT, as kubectl's taints are written. */
struct taint_spec {
	struct pair_spec label;
	char *effect;
};

#define TAINT_SPEC_INIT ((struct taint_spec){ { NULL } })

int spec_parse_taint(const char *text, struct taint_spec *ret, struct error *err);
void spec_release_taint(struct taint_spec *taint);

/* COMPONENT.KEY=VALUE; the component is one of extra_components[]. */
struct extra_spec {
	const char *component; /* the word of the table */
	char *key;
	char *value;
};

#define EXTRA_SPEC_INIT ((struct extra_spec){ NULL })

extern const char *const extra_components[]; /* ended by NULL */

int spec_parse_extra(const char *text, struct extra_spec *ret, struct error *err);
void spec_release_extra(struct extra_spec *extra);

/* The same for one node: only the kubelet is one's own, and only its arguments, not its fields. */
int spec_check_kubelet_argument(const char *text, struct error *err);

/* Whether a kubelet's KEY is a field of its configuration file and not an argument. */
bool spec_is_field(const char *key);

/* NAME=VALUE of an environment. */
int spec_check_variable(const char *text, struct error *err);

/* HOST[:PORT] of a registry. */
int spec_check_registry(const char *text, struct error *err);

/* 192.168.39.2 */
int spec_check_address(const char *text, struct error *err);

/* What nodes reach of this host: "all", "none" or ports, "8080,9090". */
int spec_check_host_access(const char *text, struct error *err);

/* A DNS label. */
int spec_check_node_name(const char *text, struct error *err);

/* A name of DNS labels with dots between them. */
int spec_check_dns_name(const char *text, struct error *err);

/* What runs the containers of nodes: there is only containerd, which "auto" means, too. */
int spec_check_runtime(const char *text, struct error *err);
