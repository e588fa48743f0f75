/*
 * Certificates that come to their end: those of control planes, which kubeadm makes for a year, and
 * those of kubelets, which renew theirs by themselves as long as they run.
 */
#pragma once

#include "payload/payload.h"
#include "record/profile.h"

/* The file of a node's /etc that is there while they are renewed; kubeadm is told with it. */
#define CERTIFICATES_CONFIG "manykube/certificates.yaml"

enum certificates {
	CERTIFICATES_OF_KUBEADM = 1 << 0,
	CERTIFICATES_OF_KUBELET = 1 << 1,
};

/*
 * Which certificates of NODE have to be renewed (enum certificates); of an authority that ends,
 * which can't be, people are warned.  A kubelet that RUNS has had its chance, so only an end that
 * has come counts.
 */
unsigned certificates_ending(const struct profile *profile, const struct node *node, bool runs);

/* Renew WHICH of them with kubeadm of PAYLOAD, and tell kubectl if the administrator's is one. */
int certificates_renew(const struct profile *profile, const struct node *node, unsigned which,
		       const struct payload *payload, struct error *err);

/* They are in use, if what uses them began after that. */
void certificates_settle(const struct profile *profile, const struct node *node);

/* Have what uses WHICH of them on NODE, which runs, begin anew, and wait a while for its API
 * server, until DEADLINE_MS at most. */
int certificates_put_to_use(const struct profile *profile, const struct node *node, unsigned which,
			    int64_t deadline_ms, struct error *err);
