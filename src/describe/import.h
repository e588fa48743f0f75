/*
 * Clusters of minikube: its config.json becomes a cluster of manykube.
 *
 * Unsupported fields are not errors, but are never ignored silently: a sentence is added to the
 * warnings, for the caller to show or, if minikube wrote the value itself, to the defaults.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "record/options.h"

struct import_node {
	char *name;
	const char *address; /* its previous address, or NULL */
	const char *version; /* its own version: first as in the file, then as chosen; or NULL */
	bool control_plane;
	bool worker; /* pods run on it, even if it is a control plane */
};

struct import {
	json_t *root; /* texts below and in the options point into it */
	const char *name;
	const char *kubernetes_version; /* as in the file; NULL: none */
	struct cluster_options options;
	struct import_node *nodes; /* the first is the primary control plane; at least one */
	size_t node_count;
	struct strlist warnings;
	struct strlist defaults; /* values left out that nobody chose: "DiskSize 20000" */
};

#define IMPORT_INIT ((struct import){ NULL })

/*
 * Parse TEXT, a config.json; -EBADMSG with reason_host_config if it is invalid.  A pure function.
 */
int import_parse(const char *text, size_t len, struct import *ret, struct error *err);

/*
 * Choose the version of IMPORT: WANTED or, if that is NULL, its own or another patch release of it;
 * and the versions of its nodes, where possible.  -EINVAL with reason_version_unsupported, listing
 * the supported versions.
 */
int import_choose_version(struct import *import, const char *wanted, struct error *err);

void import_release(struct import *import);
