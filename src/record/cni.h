/* The choice of a pod network: the setting `cni`. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

enum cni_kind {
	CNI_AUTO,      /* a link for each pod, without a pod of the network's own */
	CNI_BRIDGE,    /* a bridge in each node, likewise */
	CNI_FLANNEL,   /* flannel as a DaemonSet */
	CNI_NONE,      /* the user installs one */
	CNI_MANIFESTS, /* what the word names: a file, a directory or a URL */
};

/* The values of the setting, as commands show them. */
#define CNI_WORDS "auto|bridge|flannel|none|FILE|URL|DIR"

/* The kind of CNI, a value of the setting; NULL is the default. */
enum cni_kind cni_kind(const char *cni);

/* Whether pods have addresses of their node's podCIDR, so that this host has routes to them and
 * network policies are enforced. */
bool cni_is_ours(const char *cni);

/* Whether nodes get routes to each other's pods from us. */
bool cni_has_our_routes(const char *cni);

/* Whether WORD names a place instead of a pod network; and whether that is a URL. */
bool cni_is_place(const char *word);
bool cni_is_url(const char *word);

/* The name of the pod network that WORD means: minikube has others for the same.  WORD itself if
 * there is none. */
const char *cni_name(const char *word);

/* -EINVAL with reason_usage unless WORD is a name in any spelling, or has the form of a place; what
 * is there is not read. */
int cni_check(const char *word, struct error *err);

/* -ENOTSUP unless CNI gives pods addresses of IP_FAMILY, a value of that setting or NULL; what
 * other networks than ours do is not known. */
int cni_check_family(const char *cni, const char *ip_family, struct error *err);

/* Whether root must not use WORD unless the user gives it to a command. */
bool cni_is_beyond_user(const char *word);
