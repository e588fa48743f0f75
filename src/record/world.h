/*
 * The operations of the cluster logic on its environment, as a table of functions, so that tests
 * can run the same logic in an environment of their own and stop it after any step.
 *
 * Nodes are handled through driver/driver.h.
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

	/* Fail unless the host has that much memory and disk space; see probe_room(). */
	int (*room)(uint64_t memory_bytes, uint64_t disk_bytes, struct error *err);

	/* Prevent other commands on this host from choosing networks and ports until RET_FD is
	 * closed. */
	int (*network_lock)(int *ret_fd, struct error *err);

	/* Choose the networks of a new profile; see network_plan(). */
	int (*network_plan)(struct profile *profile, const char *wanted, struct error *err);

	/* Check that the host's ports that PROFILE uses, and BEFORE (may be NULL) did not use, are
	 * free; see network_ports_are_free(). */
	int (*ports_are_free)(const struct profile *profile, const struct profile *before,
			      struct error *err);
	int (*network_up)(const struct profile *profile, struct error *err);

	/* Remove the host's route to the pods of NODE; see network_forget(). */
	int (*network_forget)(const struct node *node, struct error *err);
	int (*network_down)(const struct profile *profile, struct error *err);

	/* Whether the network is up, that is, whether the cluster was started and not stopped. */
	bool (*network_is_up)(const struct profile *profile);

	/* Make RULES the rules of the cluster's failures on its bridge (fail/cut.h); NULL: remove
	 * them, which succeeds if there are none. */
	int (*cut)(const struct profile *profile, const char *rules, struct error *err);

	/* Delay packets to a node by its port of the bridge; and whether this host can.  See
	 * fail/delay.h. */
	int (*delay)(const char *link, unsigned delay_ms, unsigned jitter_ms, struct error *err);
	int (*delay_probe)(struct error *err);

	/* Start the process that ends failures when their time is over, in place of an earlier one;
	 * or end it.  Does nothing in that process itself. */
	int (*failure_timer)(const struct profile *profile, bool wanted, struct error *err);

	/* Start the front door if it does not run, and configure it with the control planes that
	 * have joined. */
	int (*front_door_up)(const struct profile *profile, struct error *err);

	/* Whether the front door runs but does not answer; see balancer_hangs(). */
	bool (*front_door_hangs)(const struct profile *profile);

	/* Like front_door_up(), but without the control planes called NAMES.  Returns when the
	 * front door sends no new connections to them; existing ones stay open. */
	int (*front_door_without)(const struct profile *profile, const struct strlist *names,
				  struct error *err);
	int (*front_door_down)(const struct profile *profile, struct error *err);

	/* Send a request to the cluster's API, through the front door, as its administrator. */
	int (*kube)(const struct profile *profile, enum kube_verb verb, const char *path,
		    const json_t *body, json_t **ret_answer, struct error *err);

	/* Whether the API server on NODE is ready. */
	bool (*api_is_ready)(const struct profile *profile, const struct node *node);

	/* Send a request to the etcd member on NODE. */
	int (*etcd)(const struct profile *profile, const struct node *node, const char *path,
		    const json_t *body, json_t **ret_answer, struct error *err);

	/* Whether the first control plane's API runs and has created the roles of Kubernetes' own
	 * components; a single request. */
	bool (*roles_are_made)(const struct profile *profile);

	/* Give the administrator its rights; not an error if it has them already. */
	int (*give_admin_rights)(const struct profile *profile);

	/* Whether the first control plane's API accepts the administrator; a single request. */
	bool (*admin_is_ready)(const struct profile *profile);

	/* Renew all certificates of NODE, a control plane, with the kubeadm of PAYLOAD. */
	int (*renew)(const struct profile *profile, const struct node *node,
		     const struct payload *payload, struct error *err);

	/* Import the images of PAYLOAD into NODE if they are missing; see images_import(). */
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
 * Make all API requests fail after *DEADLINE_MS, a time of clock_now_ms(), whatever the timeout of
 * a single request; a request made later still gets a short time.  NULL: no deadline.  Returns the
 * previous deadline, for world_restore() at the end of the caller's block.
 */
const int64_t *world_until(const int64_t *deadline_ms) must_check;
void world_restore(const int64_t **before);

/* The world in use; &world_real unless a test replaces it. */
extern const struct world *world;
