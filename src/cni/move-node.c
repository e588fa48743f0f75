/* A node on its way from one pod network to another. */

#include "cni/move-node.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cni/pods.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "record/cni.h"

#define POLL_MS 200

/* Which network that is not ours the configurations of a node were last cleared for. */
#define MARK "cni/net.d/.manykube-network"

/* Set or remove the routes of NODE to the pods of the others.  Those of flannel, which replaces
 * ours, stay in either case. */
static int route_node(const struct profile *profile, const struct node *node,
		      const struct cluster_node *at, struct error *err)
{
	if (cni_kind(profile->cni) == CNI_FLANNEL)
		return 0;
	return cluster_node_route_all(profile, node, at, !cni_has_our_routes(profile->cni), err);
}

/* Wait until flannel's pod has written the configuration of NODE. */
static int await_flannel(const struct profile *profile, const struct node *node, unsigned seconds,
			 struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + (int64_t)seconds * 1000;

	while (!node_has(profile, node, NODE_CNI_FLANNEL))
		if (!clock_poll(deadline_ms, POLL_MS)) {
			(void)error_because(err, &reason_wait_timeout, -ETIMEDOUT,
					    "flannel did not begin on node '%s'", node->name);
			return error_hint(
				err, -ETIMEDOUT,
				"'manykube kubectl -- -n kube-flannel get pods' shows its "
				"pods; the same command again continues");
		}
	return 0;
}

/* Change the configuration of NODE, which need not run. */
static int change_files(const struct profile *profile, const struct node *node, struct error *err)
{
	bool is_flannel = cni_kind(profile->cni) == CNI_FLANNEL;
	int r = node_files_write_cni(profile, node, err);

	if (!is_flannel)
		node_unlink(profile, node, NODE_CNI_FLANNEL);
	/* Of a network that is not ours, nobody knows which files are its own. */
	if (r < 0 || !cni_is_ours(profile->cni))
		return r;
	node_unlink(profile, node, MARK);
	return pods_set_aside(profile, node, is_flannel ? NODE_CNI_FLANNEL : NODE_CNI_OURS, err);
}

/*
 * Before a network that is not ours is installed, there must be no configuration of another one,
 * which might be taken for it.  Once only, since the new one may be there the next time.
 */
static int clear_node(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf mark = STRBUF_INIT;
	int r;

	if (node_read(profile, node, MARK, &mark, NULL) == 0 &&
	    strcmp(mark.text, profile->cni) == 0)
		return 0;
	r = change_files(profile, node, err);
	if (r == 0)
		r = pods_set_aside(profile, node, NULL, err);
	return r < 0 ? r : node_put(profile, node, MARK, profile->cni, 0644, err);
}

static bool has_files(const struct profile *profile, const struct node *node)
{
	return cluster_node_state(profile, node) != NODE_ABSENT;
}

int move_node_clear_all(const struct profile *profile, struct error *err)
{
	const struct node *node;
	int r = 0;

	if (cni_is_ours(profile->cni))
		return 0;
	profile_for_each_node(node, profile)
		if (r == 0 && has_files(profile, node))
			r = clear_node(profile, node, err);
	return r;
}

static int move_pods(const struct profile *profile, const struct node *node, unsigned seconds,
		     struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r == 0)
		r = route_node(profile, node, &at, err);
	if (r < 0)
		return r;
	r = pods_renew(profile, node, seconds, &why);
	if (r == -ETIMEDOUT)
		log_warning("%s", why.text);
	else if (r < 0)
		return error_move(err, r, &why);
	pods_clean_node(profile, node);
	return 0;
}

int move_node_to_network(const struct profile *profile, const struct node *node, unsigned seconds,
			 struct error *err)
{
	bool runs = node->phase == NODE_JOINED && cluster_node_is_awake(profile, node);
	int r = 0;

	if (runs && cni_kind(profile->cni) == CNI_FLANNEL)
		r = await_flannel(profile, node, seconds, err);
	if (r == 0 && has_files(profile, node))
		r = change_files(profile, node, err);
	return r < 0 || !runs ? r : move_pods(profile, node, seconds, err);
}
