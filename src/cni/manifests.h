/*
 * The manifests of a pod network that the user has given: a file, the files of a directory, or what
 * a URL answers.
 *
 * They are read and checked before anything of a cluster is made, and copied into the cluster's
 * directory, so that the original is needed once.
 */
#pragma once

#include "base/strlist.h"
#include "record/profile.h"

struct cni_manifests {
	struct strlist names; /* of the files, for messages */
	struct strlist texts; /* of each */
};

#define CNI_MANIFESTS_INIT ((struct cni_manifests){ STRLIST_INIT, STRLIST_INIT })

/* Check the word of the setting; of what is on this host also the contents. */
int cni_manifests_check(const char *word, struct error *err);

/*
 * Read and check what WORD names.  A URL is refused with reason_download if the cluster is OFFLINE.
 * -EINVAL or -EBADMSG with reason_usage if anything is no manifest; ERR names file and line.
 */
int cni_manifests_read(const char *word, bool offline, struct cni_manifests *ret,
		       struct error *err);

/* Whether PROFILE has its manifests in its directory. */
bool cni_manifests_are_stored(const struct profile *profile);

/* Write MANIFESTS into the directory of PROFILE.  Those of an earlier network are kept until
 * cni_manifests_remove(), which deletes their objects. */
int cni_manifests_store(const struct profile *profile, const struct cni_manifests *manifests,
			struct error *err);

/* Apply the stored manifests. */
int cni_manifests_apply(const struct profile *profile, struct error *err);

/* Delete the objects of stored manifests other than those that PROFILE uses now, and then the
 * manifests. */
int cni_manifests_remove(const struct profile *profile, struct error *err);

void cni_manifests_release(struct cni_manifests *manifests);
