/*
 * The addons: objects that manykube installs in every cluster besides those of kubeadm, and its
 * changes to the latter.  There is one table of them; the objects are files in manifests/.
 *
 * They are installed by server-side apply, so that installation can be repeated, and an upgrade
 * gives an existing cluster the same addons as a new one.
 */
#pragma once

#include "record/profile.h"

enum addon_stage {
	ADDON_WITH_API, /* needs the API only */
	ADDON_AT_START, /* likewise, and is installed by every start: earlier versions lack it */
	ADDON_AFTER_KUBEADM, /* changes what kubeadm has installed */
};

struct addon_object {
	const char *path; /* of the object, for server-side apply */
	const char *yaml;
};

struct addon {
	const char *name; /* for messages: "storage"; NULL ends the table */
	enum addon_stage stage;
	const struct addon_object *objects; /* in this order; terminated by a path of NULL */
};

const struct addon *addons_all(void);

/* Install the addons of STAGE, in the order of the table. */
int addons_install(const struct profile *profile, enum addon_stage stage, struct error *err);
