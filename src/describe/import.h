/*
 * Clusters of minikube's: its config.json becomes a cluster of ours.
 *
 * What ours can't have is not an error, but never dropped in silence: a sentence about it is
 * added to the warnings, for the caller to show, or if minikube wrote it by itself, to the
 * defaults.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "record/options.h"

struct import_node {
	char *name;
	const char *address; /* the one it had there, or NULL */
	const char *version; /* its own, as it is written there, then as it will be; or NULL */
	bool control_plane;
	bool worker; /* pods run on it, also on a control plane */
};

struct import {
	json_t *root; /* what the texts below and in the options point into */
	const char *name;
	const char *kubernetes_version; /* as it is written there; NULL: none */
	struct cluster_options options;
	struct import_node *nodes; /* the first is the primary control plane; at least one */
	size_t node_count;
	struct strlist warnings;
	struct strlist defaults; /* what is left out and nobody chose: "DiskSize 20000" */
};

#define IMPORT_INIT ((struct import){ NULL })

/* Read TEXT, a config.json; -EBADMSG with reason_host_config and what is wrong with it.  Touches
 * nothing but memory. */
int import_parse(const char *text, size_t len, struct import *ret, struct error *err);

/*
 * Have IMPORT run the version WANTED, or if that is NULL the one it has, or another patch of it;
 * and its nodes their own where they can.  -EINVAL with reason_version_unsupported, the supported
 * ones named.
 */
int import_choose_version(struct import *import, const char *wanted, struct error *err);

void import_release(struct import *import);
