/*
 * Changes of what kubeadm is told, beyond what there are options for.
 *
 * One change is one word: {"kind": "ClusterConfiguration", "merge": {...}}, a merge patch of the
 * document of that kind, or {"kind": ..., "operations": [...]}, a JSON patch.  All merge patches
 * come before all JSON patches, the cluster's before the node's.
 *
 * Two things are merged otherwise than RFC 7386 has it, since nobody who writes a patch wants to
 * lose what is there: arguments (extraArgs, kubeletExtraArgs) by their names, also if they are
 * written as the mapping that older versions of kubeadm had, and names in certificates (certSANs).
 */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/* The kinds of documents there are; ended by NULL. */
extern const char *const kubeadm_patch_kinds[];

/* -EINVAL with reason_usage unless WORD is a change that can be made. */
int kubeadm_patch_check(const char *word, struct error *err);

/* Take what is ours to set out of MERGE, a merge patch of KIND, and add its names to
 * RET_REMOVED. */
void kubeadm_patch_strip(const char *kind, json_t *merge, struct strlist *ret_removed);

/* Whether a node is told a document of KIND: the primary control plane, or those that join. */
bool kubeadm_patch_reaches(const char *kind, bool is_primary);

/* Make the changes of PROFILE and NODE in *DOCUMENT; -EINVAL with reason_usage for one that does
 * not fit it. */
int kubeadm_patch_apply(json_t **document, const struct profile *profile, const struct node *node,
			struct error *err);
