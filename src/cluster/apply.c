/*
 * Changing a cluster to match a file, in this order:
 *
 *  1. changes of the cluster itself, and of nodes that do not run, are recorded;
 *  2. one start adds the missing nodes, starts those that are down, and applies the recorded
 *     changes;
 *  3. labels, taints and limits are changed;
 *  4. nodes are restarted, then others are replaced, one after another;
 *  5. nodes that are not in the file are deleted, if requested.
 *
 * So at any time, at most one control plane is missing compared to the beginning.
 */

#include "cluster/apply.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cluster/change-network.h"
#include "cluster/change-node.h"
#include "cluster/cluster.h"
#include "cni/pod-network.h"
#include "describe/file-fields.h"
#include "plan/plan.h"
#include "record/labels.h"
#include "record/options.h"
#include "record/world.h"

struct applying {
	const char *name;
	const struct cluster_file *file;
	const struct apply_plan *plan;
	const struct apply_options *options;
	struct observer *observer;
	struct cni_manifests manifests; /* of a new pod network */
};

/* Get the payload of a replacement before the old node is deleted, and what a new pod network needs
 * before it is recorded. */
static int get_payloads(struct applying *applying, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct payload_source source = { .binary_mirror = applying->options->binary_mirror };
	int r = profile_load(applying->name, &profile, err);

	if (r < 0)
		return r;
	apply_plan_take(applying->file, &profile);
	source.offline = profile.offline;
	r = pod_network_get(&profile, &source, applying->observer, &applying->manifests, err);
	for (size_t i = 0; r == 0 && i < applying->plan->count; i++) {
		const struct apply_step *step = &applying->plan->steps[i];
		cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
		const struct node_options *options;

		if (step->action != APPLY_REPLACE)
			continue;
		options = cluster_file_node(applying->file, step->node);
		if (options->kubernetes_version)
			r = world->payload(options->kubernetes_version, &source, applying->observer,
					   &payload, err);
	}
	return r;
}

/* Change the settings of NODE of PROFILE that take effect when it is started, as the file says. */
static void take_settings(const struct applying *applying, const struct profile *profile,
			  struct node *node)
{
	const struct node_options *options = cluster_file_node(applying->file, node->name);
	struct node wanted = { .control_plane = node->control_plane };
	const struct setting *field;

	/* In a file without nodes, the node is only outdated. */
	if (!options)
		return;
	plan_settings(profile, options, &wanted);
	setting_for_each(field)
		if (setting_is_of_node(field) &&
		    (field->effect == SETTING_ON_RESTART || field->effect == SETTING_GROWING ||
		     field->effect == SETTING_HELD_TO || field->effect == SETTING_OF_DOCKER))
			setting_copy(field, setting_in_node(field, &wanted.settings),
				     setting_in_node(field, &node->settings));
	node_release(&wanted);
}

static int write_down(const struct applying *applying, struct error *err)
{
	cleanup_with(profile_release) struct profile before = PROFILE_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_fd int lock = -1;
	int r = world->network_lock(&lock, err);

	if (r == 0)
		r = profile_load(applying->name, &before, err);
	if (r == 0)
		r = profile_copy(&before, &profile, err);
	if (r < 0)
		return r;
	apply_plan_take(applying->file, &profile);
	for (size_t i = 0; i < applying->plan->count; i++) {
		const struct apply_step *step = &applying->plan->steps[i];

		if ((step->action == APPLY_RESTART || step->action == APPLY_CHANGE) &&
		    step->is_down)
			take_settings(applying, &profile, profile_find_node(&profile, step->node));
	}
	r = world->ports_are_free(&profile, &before, err);
	if (r == 0) {
		cluster_note_network(&profile, &before);
		r = pod_network_keep(&profile, &applying->manifests, err);
	}
	if (r == 0)
		r = profile_save(&profile, err);
	if (r == 0)
		world->after("write down");
	return r;
}

/* Start the nodes called ONLY (NULL: all) after adding the COUNT nodes ADD.  With TRUST_RUNNING, do
 * not wait for members that run. */
static int start_for_apply(const struct applying *applying, const struct node_options *add,
			   size_t count, struct strlist *only, bool trust_running,
			   struct error *err)
{
	const struct cluster_options options = {
		.add = add,
		.add_count = count,
		.only = only,
		.trust_running = trust_running,
		.force = applying->options->force,
		.binary_mirror = applying->options->binary_mirror,
		.wait = WAIT_API | WAIT_NODES,
		.wait_seconds = applying->options->wait_seconds,
	};
	struct cluster_outcome outcome;
	int r = cluster_start(applying->name, &options, applying->observer, &outcome, err);

	if (r < 0 || !outcome.only_registered)
		return r;
	(void)error_because(err, &reason_api_not_running, -ESRCH,
			    "no control plane of cluster '%s' runs, and '%s' does not list any",
			    applying->name, applying->file->source);
	return error_hint(err, -ESRCH, "'manykube start' brings all up");
}

static int remove_node(const struct applying *applying, const char *name, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	bool api_knows;
	int r = profile_load(applying->name, &profile, err);

	return r < 0 ? r
		     : cluster_remove_node(&profile, name, false, applying->options->drain_seconds,
					   applying->observer, &api_knows, err);
}

/* Nodes that are to be added may be partly deleted. */
static int finish_deletions(const struct applying *applying, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r = profile_load(applying->name, &profile, err);

	for (size_t i = 0; r == 0 && i < applying->plan->count; i++) {
		const struct apply_step *step = &applying->plan->steps[i];

		if (step->action == APPLY_ADD && profile_find_node(&profile, step->node))
			r = remove_node(applying, step->node, err);
	}
	return r;
}

static int bring_all_up(const struct applying *applying, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const struct cluster_file *file = applying->file;
	cleanup_free struct node_options *missing = xcalloc(file->node_count + 1, sizeof(*missing));
	size_t count = 0;

	for (size_t i = 0; i < file->node_count; i++) {
		const struct apply_step *step = apply_plan_find(applying->plan,
								file->nodes[i].name);

		if (step && step->action == APPLY_ADD)
			missing[count++] = file->nodes[i];
		else
			strlist_add(&names, file->nodes[i].name);
	}
	return start_for_apply(applying, missing, count, file->node_count > 0 ? &names : NULL, true,
			       err);
}

/* Convert CHANGE to words for cluster_change_node(); removing a taint needs its effect, too. */
static void collect_word_changes(const struct apply_change *change, struct strlist *ret)
{
	const char *word;

	strlist_for_each(word, &change->lost) {
		bool is_taint = change->setting->change == labels_change_taints;
		const char *effect = is_taint ? strrchr(word, ':') : NULL;

		strlist_addf(ret, "%.*s%s-", (int)strcspn(word, "=:"), word, effect ? effect : "");
	}
	if (change->gained.count > 0)
		strlist_add_all(ret, change->gained.items);
}

/* The changes of STEP that a running node can get; WANTED is the node after all changes. */
static bool collect_live_changes(const struct apply_step *step, const struct node *wanted,
				 struct node_settings *ret)
{
	bool any = false;

	for (size_t i = 0; i < step->change_count; i++) {
		const struct apply_change *change = &step->changes[i];
		const struct setting *setting = change->setting;

		if (!setting)
			continue;
		if (setting->effect == SETTING_AT_ONCE) {
			collect_word_changes(change, setting_in_node(setting, ret));
		} else if (setting->effect == SETTING_HELD_TO && step->action == APPLY_CHANGE) {
			/* A node that is restarted gets them with the restart. */
			setting_borrow(setting, setting_in_node(setting, &wanted->settings),
				       setting_in_node(setting, ret));
			setting_say_all(setting, setting_in_node(setting, ret));
		} else {
			continue;
		}
		any = true;
	}
	return any;
}

static bool changes_services(const struct apply_step *step)
{
	for (size_t i = 0; i < step->change_count; i++)
		if (step->changes[i].setting &&
		    step->changes[i].setting->effect == SETTING_OF_DOCKER)
			return true;
	return false;
}

static int change_at_once(const struct applying *applying, const struct apply_step *step,
			  struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct node_options *options = cluster_file_node(applying->file, step->node);
	struct node_settings changes = { .cpus = 0 };
	struct node wanted = { .control_plane = false };
	bool needs_restart;
	struct node *node;
	int r = profile_load(applying->name, &profile, err);

	if (r == 0)
		r = profile_need_node(&profile, step->node, &node, err);
	if (r == 0 && options)
		plan_settings(&profile, options, &wanted);
	if (r == 0 && options && step->action == APPLY_CHANGE && changes_services(step)) {
		const char *what = node->docker ? "restarting Docker" : "changing node";

		observe_begin(applying->observer, what, step->node);
		r = cluster_change_services(&profile, node, &wanted.settings, err);
		observe_end(applying->observer, what, step->node, r == 0);
	}
	if (r == 0 && collect_live_changes(step, &wanted, &changes)) {
		observe_begin(applying->observer, "changing node", step->node);
		r = cluster_change_node(&profile, step->node, &changes, &needs_restart, err);
		observe_end(applying->observer, "changing node", step->node, r == 0);
	}
	node_release(&wanted);
	strlist_release(&changes.labels);
	strlist_release(&changes.taints);
	return r;
}

/*
 * Stop the node called ONLY; a control plane stays a member of etcd if the others are a majority.
 */
static int stop_for_apply(const struct applying *applying, struct profile *profile,
			  const struct strlist *only, struct error *err)
{
	int r = cluster_leave_to_stop(profile, only, true, applying->observer, NULL);

	if (r < 0)
		r = cluster_leave_to_stop(profile, only, false, applying->observer, err);
	if (r == 0)
		r = cluster_stop_nodes(profile, only, applying->observer, err);
	return MIN(r, 0);
}

static int restart_step(const struct applying *applying, const struct apply_step *step,
			struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist only = STRLIST_INIT;
	struct node *node = NULL;
	int r = profile_load(applying->name, &profile, err);

	if (r == 0)
		r = profile_need_node(&profile, step->node, &node, err);
	if (r < 0)
		return r;
	take_settings(applying, &profile, node);
	node->outdated = true;
	r = profile_save(&profile, err);
	if (r < 0)
		return r;
	world->after("note restart");
	strlist_add(&only, step->node);
	r = stop_for_apply(applying, &profile, &only, err);
	if (r < 0)
		return r;
	r = start_for_apply(applying, NULL, 0, &only, false, err);
	if (r < 0 && err && !err->hint)
		(void)error_hint(
			err, r,
			"apply the file with the previous settings of '%s' to restore it, or "
			"apply it again when the cause is fixed",
			step->node);
	return r;
}

static int replace_step(const struct applying *applying, const struct apply_step *step,
			struct error *err)
{
	cleanup_with(strlist_release) struct strlist only = STRLIST_INIT;
	int r = remove_node(applying, step->node, err);

	return r < 0 ? r
		     : start_for_apply(applying, cluster_file_node(applying->file, step->node), 1,
				       &only, false, err);
}

static int change_step(const struct applying *applying, const struct apply_step *step,
		       struct error *err)
{
	return step->action == APPLY_CHANGE || step->action == APPLY_RESTART
		       ? change_at_once(applying, step, err)
		       : 0;
}

static int disturb(const struct applying *applying, const struct apply_step *step,
		   struct error *err)
{
	if (step->action == APPLY_RESTART && !step->is_down)
		return restart_step(applying, step, err);
	return 0;
}

static int make_anew(const struct applying *applying, const struct apply_step *step,
		     struct error *err)
{
	return step->action == APPLY_REPLACE ? replace_step(applying, step, err) : 0;
}

static int take_away(const struct applying *applying, const struct apply_step *step,
		     struct error *err)
{
	return step->action == APPLY_DELETE && applying->options->prune
		       ? remove_node(applying, step->node, err)
		       : 0;
}

/* Make the pods anew if the pod network has changed, now or in an interrupted command. */
static int move_pods(const struct applying *applying, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r = profile_load(applying->name, &profile, err);

	return r < 0 ? r
		     : cluster_finish_network(&profile, applying->options->wait_seconds,
					      applying->observer, err);
}

/* Nodes that fail on purpose could not be changed, and would be waited for. */
static int check_failures(const char *name, const struct apply_plan *plan, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	if (plan->count == 0 || profile_load(name, &profile, NULL) < 0)
		return 0;
	return fail_need_none(&profile, "applying a file", err);
}

int apply_carry_out(const char *name, const struct cluster_file *file,
		    const struct apply_plan *plan, const struct apply_options *options,
		    struct observer *observer, struct error *err)
{
	static int (*const rounds[])(const struct applying *, const struct apply_step *,
				     struct error *) = { change_step, disturb, make_anew,
							 take_away };
	struct applying applying = { name, file, plan, options, observer, CNI_MANIFESTS_INIT };
	int r = check_failures(name, plan, err);

	if (r == 0)
		r = get_payloads(&applying, err);
	if (r == 0)
		r = write_down(&applying, err);
	if (r == 0)
		r = finish_deletions(&applying, err);
	if (r == 0)
		r = bring_all_up(&applying, err);
	if (r == 0)
		r = move_pods(&applying, err);
	cni_manifests_release(&applying.manifests);
	for (size_t round = 0; round < ARRAY_SIZE(rounds); round++)
		for (size_t i = 0; r == 0 && i < plan->count; i++)
			r = rounds[round](&applying, &plan->steps[i], err);
	return r;
}
