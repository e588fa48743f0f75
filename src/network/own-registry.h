/*
 * The cluster's own registry of images: a process of this host (registry/cell.h) that the front
 * door's keeper runs.
 *
 * It listens at the same port of 127.0.0.1 and of the cluster's bridge, and nodes forward that port
 * of their 127.0.0.1 to the bridge (node/registries.h): so an image has the same name,
 * localhost:PORT/NAME, on this host and in all nodes.  Its data is in the profile's directory.
 */
#pragma once

#include "base/observer.h"
#include "payload/payload.h"
#include "record/profile.h"

/* The first port that is tried, and the directory below that of the profile. */
#define REGISTRY_PORT 5000
#define REGISTRY_DATA "registry"

enum own_registry_state {
	OWN_REGISTRY_DISABLED,
	OWN_REGISTRY_STOPPED, /* the cluster does not run */
	OWN_REGISTRY_FAILED,  /* the cluster runs, but the registry does not answer */
	OWN_REGISTRY_RUNNING,
};

struct own_registry_status {
	enum own_registry_state state;
	bool is_counted; /* its directory could be read, so the next members are set */
	unsigned repositories;
	uint64_t size_bytes; /* of its first 500,000 files and directories */
};

/*
 * Record that PROFILE has a registry at PORT (0: the one that it has, or the first free one from
 * REGISTRY_PORT on) and, if the cluster runs, start it and tell the nodes.  Gets the program first,
 * so nothing is changed if that fails, or with reason_port_taken.  May be repeated.
 */
int own_registry_enable(struct profile *profile, unsigned port, struct observer *observer,
			struct error *err);

/* The reverse; the images are kept unless DELETE_IMAGES. */
int own_registry_disable(struct profile *profile, bool delete_images, struct error *err);

/* Lead the nodes of PROFILE that run to its registry at PORT, or to none if that is 0.  Others
 * learn it when they start. */
int own_registry_tell_nodes(const struct profile *profile, unsigned port, struct error *err);

/* Check that the running front door holds the port of PROFILE's registry, if it has one, so that no
 * other program can be the registry.  Waits if the front door has yet to open it. */
int own_registry_check(const struct profile *profile, struct error *err);

void own_registry_look(const struct profile *profile, struct own_registry_status *ret);
