/* Certificates that expire: those of control planes, which kubeadm issues for a year, and those of
 * kubelets, which renew them themselves while they run. */
#pragma once

#include "payload/payload.h"
#include "record/profile.h"

/* This file in a node's /etc exists while certificates are being renewed; it is also kubeadm's
 * configuration for that. */
#define CERTIFICATES_CONFIG "manykube/certificates.yaml"

enum certificates {
	CERTIFICATES_OF_KUBEADM = 1 << 0,
	CERTIFICATES_OF_KUBELET = 1 << 1,
};

/*
 * The certificates of NODE that must be renewed (enum certificates).  An authority that is about to
 * expire cannot be renewed; a warning is logged.  A kubelet that RUNS renews its own certificate in
 * time, so that one counts only once it has expired.
 */
unsigned certificates_ending(const struct profile *profile, const struct node *node, bool runs);

/* Renew the certificates WHICH with the kubeadm of PAYLOAD, and update the kubeconfig if the
 * administrator's is among them. */
int certificates_renew(const struct profile *profile, const struct node *node, unsigned which,
		       const struct payload *payload, struct error *err);

/* Mark the renewal as finished: the programs that use the certificates were started after it. */
void certificates_settle(const struct profile *profile, const struct node *node);

/* Restart the programs that use the certificates WHICH on NODE, which runs, and wait a while for
 * its API server, until DEADLINE_MS at most. */
int certificates_put_to_use(const struct profile *profile, const struct node *node, unsigned which,
			    int64_t deadline_ms, struct error *err);
