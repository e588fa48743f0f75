/*
 * What the cluster's logic does to the world around it, as a table, so that tests can
 * run the same logic against a world of their own and end it after any step.
 *
 * Nodes themselves come from driver/driver.h.
 */
#pragma once

#include <jansson.h>

#include "api/kube.h"
#include "base/observer.h"
#include "payload/payload.h"
#include "record/profile.h"

struct world {
	/* Get the payload of a version; see payload_ensure(). */
	int (*payload)(const char *version, const struct payload_source *source,
		       struct observer *observer, struct payload *ret, struct error *err);

	/* Fail unless the host has room for that much; see probe_room(). */
	int (*room)(uint64_t memory_bytes, uint64_t disk_bytes, struct error *err);

	/* Keep others on this host from choosing networks and ports until the descriptor is closed.
	 */
	int (*network_lock)(int *ret_fd, struct error *err);

	/* Choose the networks of a new profile; see network_plan(). */
	int (*network_plan)(struct profile *profile, const char *wanted, struct error *err);

	/* See that nobody has the host's ports that PROFILE wants and BEFORE (may be NULL) had not;
	 * see network_ports_are_free(). */
	int (*ports_are_free)(const struct profile *profile, const struct profile *before,
			      struct error *err);
	int (*network_up)(const struct profile *profile, struct error *err);

	/* Remove the host's way to the pods of NODE; see network_forget(). */
	int (*network_forget)(const struct node *node, struct error *err);
	int (*network_down)(const struct profile *profile, struct error *err);

	/* Have the front door run and know the control planes that have joined. */
	int (*front_door_up)(const struct profile *profile, struct error *err);

	/* Whether a front door runs that does not answer; see balancer_hangs(). */
	bool (*front_door_hangs)(const struct profile *profile);

	/* Like front_door_up() without the control planes called NAMES; returns when it leads
	 * nobody to them. Connections to them stay open. */
	int (*front_door_without)(const struct profile *profile, const struct strlist *names,
				  struct error *err);
	int (*front_door_down)(const struct profile *profile, struct error *err);

	/* Ask the cluster's API, through the front door, as its administrator. */
	int (*kube)(const struct profile *profile, enum kube_verb verb, const char *path,
		    const json_t *body, json_t **ret_answer, struct error *err);

	/* Whether the API server of NODE itself is ready. */
	bool (*api_is_ready)(const struct profile *profile, const struct node *node);

	/* Ask the member of etcd on NODE. */
	int (*etcd)(const struct profile *profile, const struct node *node, const char *path,
		    const json_t *body, json_t **ret_answer, struct error *err);

	/* Whether the first control plane's API runs and has made the roles of Kubernetes' own
	 * parts; only asks. */
	bool (*roles_are_made)(const struct profile *profile);

	/* Give the administrator its rights; it is no error if it has them. */
	int (*give_admin_rights)(const struct profile *profile);

	/* Whether the first control plane's API lets the administrator in; only asks. */
	bool (*admin_is_ready)(const struct profile *profile);

	/* Have kubeadm of PAYLOAD renew all certificates of NODE, a control plane. */
	int (*renew)(const struct profile *profile, const struct node *node,
		     const struct payload *payload, struct error *err);

	/* See that NODE has the images of PAYLOAD; see images_import(). */
	int (*import_images)(const struct profile *profile, const struct node *node,
			     const struct payload *payload, struct error *err);

	/* Add the cluster to the user's kubeconfig, or remove it. */
	int (*kubeconfig_add)(const struct profile *profile, struct error *err);
	int (*kubeconfig_remove)(const char *name, struct error *err);

	/* Called after every step with its name; a test may end the process here. */
	void (*after)(const char *step);
};

extern const struct world world_real;

/*
 * Have everything that asks an API give up at *DEADLINE_MS, by clock_now_ms(), whatever a single
 * request may take otherwise; one that is made later still has a moment.  NULL: no such end.
 * Returns what was set before, for world_restore() at the end of the caller's block.
 */
const int64_t *world_until(const int64_t *deadline_ms) must_check;
void world_restore(const int64_t **before);

/* The world in use; &world_real unless a test says otherwise. */
extern const struct world *world;
