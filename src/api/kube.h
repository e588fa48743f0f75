/*
 * A cluster's API: requests in JSON, with the administrator's certificate.
 *
 * No generated client: paths and bodies are written by the caller.
 */
#pragma once

#include <jansson.h>

#include "base/cleanup.h"
#include "base/error.h"

struct kube;

/*
 * Make a client for SERVER ("https://127.0.0.1:6443") that trusts CA_PEM and shows
 * CERT_PEM and KEY_PEM; no connection is made yet.
 */
int kube_new(const char *server, const char *ca_pem, const char *cert_pem, const char *key_pem,
	     struct kube **ret_kube, struct error *err);

/* Like kube_new() with all of that from the kubeconfig at PATH, as kubeadm or we write it. */
int kube_open(const char *path, struct kube **ret_kube, struct error *err);

/* Likewise from TEXT, the contents of a kubeconfig that errors call SHOWN. */
int kube_parse(const char *text, const char *shown, struct kube **ret_kube, struct error *err);
void kube_free(struct kube *kube);
DEFINE_CLEANUP(struct kube *, kube_free)

/* What it trusts and shows, in PEM; valid as long as KUBE is. */
const char *kube_ca(const struct kube *kube);
const char *kube_cert(const struct kube *kube);
const char *kube_key(const struct kube *kube);

/* Talk to SERVER from now on, whatever the kubeconfig said. */
void kube_set_server(struct kube *kube, const char *server);

enum kube_verb {
	KUBE_GET,
	KUBE_TABLE, /* like KUBE_GET, for the Table that kubectl shows: few bytes per object */
	KUBE_CREATE,
	KUBE_MERGE, /* JSON merge patch */
	KUBE_APPLY, /* server-side apply, as the field manager "manykube" */
	KUBE_DELETE,
};

/*
 * Send BODY (may be NULL) to PATH ("/api/v1/nodes") and give the answer, which may be
 * NULL where it is not JSON.  RET_ANSWER may be NULL.  The time for all of it is TIMEOUT_MS.
 *
 * -ECONNREFUSED or another network error: the API is not there; -ENOENT: no such object
 * (HTTP 404); -EEXIST: a conflict (409); -EKEYREJECTED: 401; -EPERM: 403; -EAGAIN: 429 or 5xx;
 * -EBADMSG: anything else that it refused.
 */
int kube_request(struct kube *kube, enum kube_verb verb, const char *path, const json_t *body,
		 unsigned timeout_ms, json_t **ret_answer, struct error *err);

/* Whether PATH ("/readyz") answers with 200 within TIMEOUT_MS. */
bool kube_is_ok(struct kube *kube, const char *path, unsigned timeout_ms);

/* The object called NAME of LIST, as the API gives lists (may be NULL); NULL if there is none. */
const json_t *kube_find_object(const json_t *list, const char *name);

/* Whether a Node object (as the API gives it) has the condition Ready. */
bool kube_node_is_ready(const json_t *node);
