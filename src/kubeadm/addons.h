/*
 * The addons: what manykube has in every cluster besides what kubeadm installs, and what it changes
 * of that.  One table for all who install them; objects are files in manifests/.
 *
 * They are applied on the server's side, so all of it may be repeated, and an upgrade brings a
 * cluster what a new one has.
 */
#pragma once

#include "record/profile.h"

enum addon_stage {
	ADDON_WITH_API,      /* needs an API and nothing else */
	ADDON_AFTER_KUBEADM, /* changes what kubeadm has installed */
};

struct addon_object {
	const char *path; /* of the object itself, for server-side apply */
	const char *yaml;
};

struct addon {
	const char *name; /* for people: "storage"; NULL ends the table */
	enum addon_stage stage;
	const struct addon_object *objects; /* in this order; a path of NULL ends them */
};

const struct addon *addons_all(void);

/* Install the addons of STAGE, in the order of the table. */
int addons_install(const struct profile *profile, enum addon_stage stage, struct error *err);
