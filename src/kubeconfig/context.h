/* The cluster in the person's kubeconfig: a context, a cluster and a user called as the profile. */
#pragma once

#include "api/kube.h"
#include "record/profile.h"

/* The API's address on this host, for the caller to free: "https://127.0.0.1:41234". */
char *context_server(const struct profile *profile) must_check;

/*
 * A client with the kubeconfig that the cluster has for itself, in its profile's directory. -EACCES
 * if it is closed to the caller; -ENOENT if it is gone (reason_host_config) or was never made
 * (reason_api_not_running); another code if it is damaged.  A start makes it again.
 */
int context_open(const struct profile *profile, struct kube **ret_admin, struct error *err);

/* Fail if the person's kubeconfig is damaged or can't be written: better before a cluster is made.
 */
int context_check(struct error *err);

/*
 * Put PROFILE's context, with the address of now and ADMIN's certificates, into the person's
 * kubeconfig, as its flags say.  Certificates that are not embedded are files of the profile's
 * directory: ca.crt, client.crt, client.key.  Returns whether the kubeconfig had to be changed.
 */
int context_put(const struct profile *profile, const struct kube *admin, struct error *err);

/* Like context_put() with the certificates that the profile has; makes it the current context
 * whatever the profile says. */
int context_update(const struct profile *profile, struct error *err);

/*
 * Make PROFILE's context the current one, as a start does: unless the profile says to keep the
 * current one.  A cluster that is not in the kubeconfig, since it does not run, is not put there.
 * Returns whether kubectl uses PROFILE's context now.
 */
int context_choose(const struct profile *profile, struct error *err);

/* Take NAME out of every kubeconfig that the person's kubectl reads. */
int context_remove(const char *name, struct error *err);
