/*
 * A client for a cluster's API: requests in JSON, with the administrator's certificate.
 *
 * Callers pass paths and bodies; there is no generated client.
 */
#pragma once

#include <jansson.h>

#include "base/cleanup.h"
#include "base/error.h"

struct kube;

/*
 * Make a client for SERVER ("https://127.0.0.1:6443") that trusts CA_PEM and authenticates with
 * CERT_PEM and KEY_PEM.  Does not connect yet.
 */
int kube_new(const char *server, const char *ca_pem, const char *cert_pem, const char *key_pem,
	     struct kube **ret_kube, struct error *err);

/* Like kube_new() with all values from the kubeconfig PATH,
 * in the form that kubeadm and we write. */
int kube_open(const char *path, struct kube **ret_kube, struct error *err);

/* Like kube_open() for TEXT, the contents of a kubeconfig, which errors call SHOWN. */
int kube_parse(const char *text, const char *shown, struct kube **ret_kube, struct error *err);
void kube_free(struct kube *kube);
DEFINE_CLEANUP(struct kube *, kube_free)

/* The certificates and the key in PEM; valid as long as KUBE is. */
const char *kube_ca(const struct kube *kube);
const char *kube_cert(const struct kube *kube);
const char *kube_key(const struct kube *kube);

/* Send requests to SERVER from now on. */
void kube_set_server(struct kube *kube, const char *server);

enum kube_verb {
	KUBE_GET,
	KUBE_TABLE, /* like KUBE_GET, but the answer is a Table, which is small per object */
	KUBE_CREATE,
	KUBE_MERGE, /* JSON merge patch */
	KUBE_APPLY, /* server-side apply, as the field manager "manykube" */
	KUBE_DELETE,
};

/*
 * Send BODY (may be NULL) to PATH ("/api/v1/nodes") and return the answer, which is NULL if it is
 * not JSON.  RET_ANSWER may be NULL.  TIMEOUT_MS limits the whole request.
 *
 * Errors: -ECONNREFUSED, the API cannot be reached; -ETIMEDOUT; -ENOENT for HTTP 404; -EEXIST for
 * 409; -EKEYREJECTED for 401; -EPERM for 403; -EAGAIN for 429 and 5xx; -EBADMSG for any other
 * status.
 */
int kube_request(struct kube *kube, enum kube_verb verb, const char *path, const json_t *body,
		 unsigned timeout_ms, json_t **ret_answer, struct error *err);

/* Check whether PATH ("/readyz") answers with 200 within TIMEOUT_MS: -ECONNREFUSED if nothing
 * answers there, -ETIMEDOUT if nothing does in time, -EIO for another answer. */
int kube_check(struct kube *kube, const char *path, unsigned timeout_ms);
bool kube_is_ok(struct kube *kube, const char *path, unsigned timeout_ms);

/* The object NAME in LIST, a list from the API (may be NULL); NULL if there is none. */
const json_t *kube_find_object(const json_t *list, const char *name);

/* Whether NODE, a Node object from the API, is Ready. */
bool kube_node_is_ready(const json_t *node);
