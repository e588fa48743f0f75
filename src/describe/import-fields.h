/* The fields of minikube's config.json, except for its nodes. */
#pragma once

#include "describe/import.h"

/* Convert the fields of IMPORT's root about the cluster and its Kubernetes to options; the root is
 * an object with an object KubernetesConfig. */
int import_take_fields(struct import *import, struct error *err);

/* Report the fields of NODE, an object, that are not used. */
void import_leave_node_fields(struct import *import, const json_t *node);

/*
 * VALUE for messages, for the caller to free: short, and as JSON, so that it is safe for terminals.
 */
char *import_show(const json_t *value) must_check;
