/* The cluster in the user's kubeconfig: a context, a cluster and a user, all named after the
 * profile. */
#pragma once

#include "api/kube.h"
#include "record/profile.h"

/* The API's address on this host, for the caller to free: "https://127.0.0.1:41234". */
char *context_server(const struct profile *profile) must_check;

/*
 * Open a client with the cluster's own kubeconfig, in the profile's directory.  -EACCES if the
 * caller may not read it; -ENOENT if it is missing (reason_host_config) or was never created
 * (reason_api_not_running); another code if it is damaged.  A start writes it again.
 */
int context_open(const struct profile *profile, struct kube **ret_admin, struct error *err);

/* Fail if the user's kubeconfig is damaged or cannot be written.  Called before a cluster is
 * created. */
int context_check(struct error *err);

/*
 * Put PROFILE's context, with the current address and ADMIN's certificates, into the user's
 * kubeconfig, as the profile's flags say.  Certificates that are not embedded are files in the
 * profile's directory: ca.crt, client.crt, client.key.  Returns whether the kubeconfig was changed.
 */
int context_put(const struct profile *profile, const struct kube *admin, struct error *err);

/* Like context_put() with the certificates of the profile; always makes it the current context. */
int context_update(const struct profile *profile, struct error *err);

/*
 * Make PROFILE's context the current one, unless the profile says to keep the current one.  A
 * stopped cluster, which is not in the kubeconfig, is not added.  Returns whether kubectl uses
 * PROFILE's context now.
 */
int context_choose(const struct profile *profile, struct error *err);

/* Remove the entries of NAME from every kubeconfig that the user's kubectl reads. */
int context_remove(const char *name, struct error *err);
