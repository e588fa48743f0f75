/* Changing a cluster to match a file: finding the current state, and whether all changes can be
 * applied. */

#include "plan/apply-look.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "kubeadm/arguments.h"
#include "kubeadm/kubeadm.h"
#include "node/cluster-node.h"
#include "plan/node-need.h"
#include "plan/plan.h"
#include "record/labels.h"
#include "record/options.h"
#include "record/skew.h"
#include "record/world.h"

/* Whether NODE runs.  A node that is paused or shutting down does not count. */
static bool node_is_up(const struct profile *profile, const struct node *node)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	return cluster_node_open(profile, node, &at, NULL) == 0 && cluster_node_is_at_work(&at);
}

static bool api_may_answer(const struct profile *profile)
{
	const struct node *node;

	profile_for_each_node(node, profile)
		if (node->control_plane && node->phase == NODE_JOINED && node_is_up(profile, node))
			return true;
	return false;
}

/* A label or taint as the API prints it: "key=" for "key", "key:NoSchedule" for "key=:NoSchedule";
 * for the caller to free. */
static char *normalize_word(const char *word)
{
	const char *empty = strstr(word, "=:");

	if (empty)
		return xasprintf("%.*s%s", (int)(empty - word), word, empty + 1);
	return xasprintf("%s%s", word, strpbrk(word, "=:") ? "" : "=");
}

/* Remove all words from WORDS that are not in LIVE. */
static void keep_common(struct strlist *words, const struct strlist *live)
{
	struct strlist left = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, words) {
		cleanup_free char *there = normalize_word(word);

		if (strlist_has(live, there))
			strlist_add(&left, word);
	}
	strlist_release(words);
	*words = left;
}

/* Labels and taints may have been removed in the API; those that others have added are ignored. */
static void compare_with_api(struct profile *profile)
{
	json_auto_t *list = NULL;
	const json_t *object;
	size_t i;

	if (!api_may_answer(profile) ||
	    world->kube(profile, KUBE_GET, "/api/v1/nodes", NULL, &list, NULL) < 0)
		return;
	json_array_foreach(json_object_get(list, "items"), i, object) {
		const char *name = json_string_value(
			json_object_get(json_object_get(object, "metadata"), "name"));
		struct node *node = name ? profile_find_node(profile, name) : NULL;
		cleanup_with(strlist_release) struct strlist labels = STRLIST_INIT;
		cleanup_with(strlist_release) struct strlist taints = STRLIST_INIT;

		if (!node || node->phase != NODE_JOINED)
			continue;
		labels_read(object, &labels);
		labels_read_taints(object, &taints);
		keep_common(&node->labels, &labels);
		keep_common(&node->taints, &taints);
	}
}

/* The position of STEP: the cluster first, then the nodes in the order of the file, then the
 * others. */
static size_t step_position(const struct cluster_file *file, const struct apply_step *step)
{
	const struct node_options *node = step->node ? cluster_file_node(file, step->node) : NULL;

	if (!step->node)
		return 0;
	return node ? (size_t)(node - file->nodes) + 1 : SIZE_MAX;
}

static void sort(const struct cluster_file *file, struct apply_plan *plan)
{
	for (size_t i = 1; i < plan->count; i++) {
		struct apply_step step = plan->steps[i];
		size_t at = i;

		for (; at > 0 &&
		       step_position(file, &plan->steps[at - 1]) > step_position(file, &step);
		     at--)
			plan->steps[at] = plan->steps[at - 1];
		plan->steps[at] = step;
	}
}

void apply_look(struct profile *profile, const struct cluster_file *file, struct apply_plan *ret)
{
	const struct node *node;

	compare_with_api(profile);
	apply_plan_make(profile, file, file->foreign, ret);
	profile_for_each_node(node, profile) {
		struct apply_step *step = apply_plan_find(ret, node->name);
		enum node_need need;
		bool is_down;

		if (node->phase == NODE_LEAVING ||
		    (file->node_count > 0 && !cluster_file_node(file, node->name)))
			continue;
		/* A node that runs but has not joined was interrupted; so was one that was about to
		 * be deleted and is cordoned.  A start continues with both. */
		is_down = !node_is_up(profile, node);
		need = node_need_find(profile, node);
		if (!step && (is_down || node->outdated || need != NODE_NEEDS_NOTHING))
			step = apply_plan_add(
				ret, is_down || !node->outdated ? APPLY_START : APPLY_RESTART,
				node->name);
		if (!step)
			continue;
		step->is_down = is_down;
		step->need = node_need_words(need);
		if (!is_down && node->outdated)
			step->action = MAX(step->action, (enum apply_action)APPLY_RESTART);
	}
	sort(file, ret);
}

bool apply_has_work(const struct apply_plan *plan, bool prune)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].action != APPLY_DELETE || prune)
			return true;
	return false;
}

static int check_refused(const struct profile *profile, const struct cluster_file *file,
			 const struct apply_plan *plan, struct error *err)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *words = NULL;
	bool upgrade;

	for (size_t i = 0; i < plan->count; i++) {
		cleanup_free char *changes = apply_step_changes(&plan->steps[i]);

		if (plan->steps[i].action == APPLY_REFUSED)
			strlist_add(&all, changes);
	}
	if (all.count == 0)
		return 0;
	words = strlist_join(&all, ", ");
	upgrade = strncmp(words, "kubernetesVersion ", strlen("kubernetesVersion ")) == 0;
	(void)error_because(err, &reason_usage, -EINVAL,
			    "'%s' has changes that are not possible on an existing cluster: %s; "
			    "nothing was changed",
			    file->source, words);
	if (upgrade &&
	    skew_check_upgrade(profile->kubernetes_version, file->options.kubernetes_version,
			       &why) < 0 &&
	    why.hint)
		return error_hint(err, -EINVAL, "%s", why.hint);
	if (upgrade)
		return error_hint(
			err, -EINVAL,
			"'manykube upgrade' upgrades a cluster to a newer Kubernetes; then "
			"apply the file again");
	return error_hint(
		err, -EINVAL,
		"change the file to match the output of 'manykube config view', or create "
		"another cluster from it with -p");
}

static int try_removal(struct profile *twin, const struct apply_step *step, struct error *err)
{
	struct node *node = profile_find_node(twin, step->node);
	cleanup_free char *changes = NULL;

	if (node->control_plane && node->phase != NODE_LEAVING &&
	    profile_control_planes(twin) == 1) {
		changes = apply_step_changes(step);
		(void)error_because(
			err, &reason_usage, -EINVAL,
			"node '%s' is the only control plane, so it cannot be deleted%s%s%s; "
			"nothing was changed",
			step->node, *changes ? " and created again (" : "", changes,
			*changes ? ")" : "");
		return error_hint(
			err, -EINVAL,
			"add another control plane to the file, or create another cluster from "
			"it with -p");
	}
	profile_remove_node(twin, node);
	return 0;
}

static int try_addition(struct profile *twin, const struct node_options *options,
			struct strlist *checked, struct error *err)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	struct node *node;
	int r = plan_node(twin, options, &node, err);

	if (r == 0)
		r = kubeadm_check_patches(twin, node, err);
	/*
	 * If the payload is not in the cache yet, arguments are checked when the node is created.
	 */
	if (r == 0 && payload_open(twin->kubernetes_version, &payload, NULL) == 0)
		r = arguments_check(twin, node, &payload, checked, err);
	return r < 0 ? plan_blame_file(options, r, err) : 0;
}

/* Apply the steps of PLAN that add nodes to TWIN, in the order in which they will be done.  Nodes
 * with fixed addresses come first, since the others get free ones. */
static int try_additions(struct profile *twin, const struct cluster_file *file,
			 const struct apply_plan *plan, struct strlist *checked, struct error *err)
{
	for (int asked = 1; asked >= 0; asked--)
		for (size_t i = 0; i < plan->count; i++) {
			const struct apply_step *step = &plan->steps[i];
			const struct node_options *options;
			int r = 0;

			if (step->action != APPLY_ADD)
				continue;
			options = cluster_file_node(file, step->node);
			if (asked != (options->address != NULL))
				continue;
			if (profile_find_node(twin, step->node))
				r = try_removal(twin, step, err);
			if (r == 0)
				r = try_addition(twin, options, checked, err);
			if (r < 0)
				return r;
		}
	return 0;
}

int apply_check(const struct profile *profile, const struct cluster_file *file,
		const struct apply_plan *plan, bool prune, struct error *err)
{
	cleanup_with(profile_release) struct profile twin = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist checked = STRLIST_INIT;
	int r = check_refused(profile, file, plan, err);

	if (r == 0)
		r = profile_copy(profile, &twin, err);
	if (r < 0)
		return r;
	apply_plan_take(file, &twin);
	r = try_additions(&twin, file, plan, &checked, err);
	for (size_t i = 0; r == 0 && i < plan->count; i++) {
		const struct apply_step *step = &plan->steps[i];

		if (step->action == APPLY_REPLACE || (step->action == APPLY_DELETE && prune))
			r = try_removal(&twin, step, err);
		if (r == 0 && step->action == APPLY_REPLACE)
			r = try_addition(&twin, cluster_file_node(file, step->node), &checked, err);
	}
	if (r < 0)
		return r;
	r = plan_check_ports(&twin, &file->options.ports, err);
	return r < 0 ? error_prefix(err, r, "%s", file->source) : 0;
}
