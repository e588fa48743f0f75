/* The fields of minikube's config.json, but for its nodes. */
#pragma once

#include "describe/import.h"

/* Take what IMPORT's root has of the cluster and its Kubernetes into the options; the root is an
 * object with an object KubernetesConfig. */
int import_take_fields(struct import *import, struct error *err);

/* Name the fields of NODE, an object, that nothing is made of. */
void import_leave_node_fields(struct import *import, const json_t *node);

/* VALUE for people, for the caller to free: short, and as JSON, so that it can't do anything to a
 * terminal. */
char *import_show(const json_t *value) must_check;
