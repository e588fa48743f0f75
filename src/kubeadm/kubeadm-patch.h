/*
 * User-defined changes to kubeadm's configuration, beyond those that have options.
 *
 * One change is one word: {"kind": "ClusterConfiguration", "merge": {...}}, a merge patch of the
 * document of that kind, or {"kind": ..., "operations": [...]}, a JSON patch.  All merge patches
 * are applied before all JSON patches, those of the cluster before those of the node.
 *
 * Two kinds of lists are not replaced, as RFC 7386 would do, but merged, so that existing items are
 * kept: arguments (extraArgs, kubeletExtraArgs) by their names, even if they are written as a
 * mapping, as in older versions of kubeadm, and names in certificates (certSANs).
 */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/* The kinds of documents; NULL-terminated. */
extern const char *const kubeadm_patch_kinds[];

/* -EINVAL with reason_usage unless WORD is a valid change. */
int kubeadm_patch_check(const char *word, struct error *err);

/* Remove the fields that manykube sets itself from MERGE, a merge patch of KIND, and append their
 * names to RET_REMOVED. */
void kubeadm_patch_strip(const char *kind, json_t *merge, struct strlist *ret_removed);

/* Whether a node gets a document of KIND, as the primary control plane or as a node that joins. */
bool kubeadm_patch_reaches(const char *kind, bool is_primary);

/* Apply the changes of PROFILE and NODE to *DOCUMENT; -EINVAL with reason_usage if one cannot be
 * applied. */
int kubeadm_patch_apply(json_t **document, const struct profile *profile, const struct node *node,
			struct error *err);
