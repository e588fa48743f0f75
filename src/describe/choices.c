/* The settings that a user gives with options of `start`. */

#include "describe/choices.h"

#include <string.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cni/manifests.h"
#include "data/inet.h"
#include "driver/driver.h"
#include "driver/mount-owner.h"
#include "kubeadm/kubeadm-patch.h"
#include "node-images/own-images.h"
#include "node/base-image.h"
#include "record/cni.h"
#include "vm/kernel.h"

typedef int (*check_fn)(const char *word, struct error *err);

/* The check for words of SETTING; NULL: none. */
static check_fn check_of(const struct setting *setting)
{
	/* Checks that need more than record/, where the table is, knows. */
	static const struct {
		const char *key;
		check_fn check;
	} further[] = {
		{ "images", own_images_check },
		{ "baseImage", base_check },
		{ "kernel", vm_kernel_check },
		{ "cni", cni_manifests_check },
		{ "kubeadmPatches", kubeadm_patch_check },
	};

	for (size_t i = 0; setting->key && i < ARRAY_SIZE(further); i++)
		if (strcmp(further[i].key, setting->key) == 0)
			return further[i].check;
	return setting->check;
}

int choices_check_word(const struct setting *setting, enum setting_place place, const char *word,
		       struct error *err)
{
	struct strlist one = { (char *[]){ (char *)(uintptr_t)word, NULL }, 1 };
	cleanup_with(strlist_release) struct strlist kept = STRLIST_INIT;
	check_fn check = check_of(setting);

	/* The list of a node may also remove words of the defaults. */
	if (place == SETTING_OF_NODE && setting->change)
		return setting->change(&kept, &one, err);
	return check ? check(word, err) : 0;
}

/* VALUE as text, for the caller to free; NULL if it is unset. */
static char *as_text(const struct setting *setting, const void *value)
{
	if (!setting_is_set(setting, value))
		return NULL;
	return setting_is_list(setting) ? strlist_join(value, ",") : setting_print(setting, value);
}

static int check_words(const struct setting *setting, enum setting_place place, const void *value,
		       struct error *err)
{
	const struct strlist *list = value;
	const char *word;
	int r = 0;

	if (setting->type < SETTING_FLAG) {
		word = *(const char *const *)value;
		r = word ? choices_check_word(setting, place, word, err) : 0;
	} else if (setting_is_list(setting)) {
		strlist_for_each(word, list)
			if (r == 0)
				r = choices_check_word(setting, place, word, err);
	}
	return r;
}

static int check_number(const struct setting *setting, unsigned value, struct error *err)
{
	if (value <= setting->most || (setting->may_be_all && value == ALL_CPUS))
		return 0;
	return error_because(err, &reason_usage, -EINVAL, "%u is not between %u and %u", value,
			     setting->least, setting->most);
}

/* Check VALUE of SETTING, given at PLACE. */
static int check_value(const struct setting *setting, enum setting_place place, const void *value,
		       struct error *err)
{
	cleanup_free char *title = NULL;
	int r = 0;

	if (setting->check_size)
		return setting->check_size(*(const uint64_t *)value, err);
	if (setting->type == SETTING_NUMBER)
		r = check_number(setting, *(const unsigned *)value, err);
	else
		r = check_words(setting, place, value, err);
	/* The error of `change` already names the option. */
	if (r == 0 || (place == SETTING_OF_NODE && setting->change))
		return r;
	title = setting_title(setting);
	return error_prefix(err, r, "%s", title);
}

static int check_node(const struct node_settings *node, struct error *err)
{
	const struct setting *setting;
	int r = 0;

	/* Names are checked when nodes are planned. */
	setting_for_each(setting)
		if (r == 0 && setting_is_of_node(setting) && strcmp(setting->key, "name") != 0)
			r = check_value(setting, SETTING_OF_NODE, setting_in_node(setting, node),
					err);
	return r;
}

int choices_check(const struct cluster_options *options, struct error *err)
{
	const struct setting *setting;
	int r = 0;

	for (size_t i = 0; r == 0 && i < options->add_count; i++)
		r = check_node(&options->add[i].settings, err);
	setting_for_each(setting)
		if (r == 0 && setting_is_of_cluster(setting))
			r = check_value(setting, SETTING_OF_CLUSTER,
					setting_in_cluster(setting, &options->settings), err);
	return r < 0 ? r : cni_check_family(options->cni, options->ip_family, err);
}

static int hint_refusal(const struct setting *setting, struct error *err)
{
	if (setting->type == SETTING_VERSION)
		return error_hint(err, -EINVAL,
				  "omit the option to start the cluster as it is, or use 'manykube "
				  "upgrade' for a newer version");
	if (setting->moves_pods)
		return error_hint(
			err, -EINVAL,
			"omit the option to start the cluster as it is; 'manykube network "
			"set' takes it, and makes all pods anew");
	if (setting->places & SETTING_OF_DEFAULTS && setting->set_help)
		return error_hint(
			err, -EINVAL,
			"omit the option to start the cluster as it is; 'manykube node "
			"set NODE' takes it for a node, and 'manykube apply' changes nodes "
			"as a file says");
	if (setting->places & SETTING_OF_DEFAULTS)
		return error_hint(
			err, -EINVAL,
			"omit the option to start the cluster as it is; 'manykube apply' "
			"changes it as a file says, and 'manykube config view' prints the "
			"file of the cluster");
	if (setting_find(SETTING_OF_NODE, setting->option))
		return error_hint(err, -EINVAL,
				  "omit the option to start the cluster as it is; 'manykube node "
				  "add' and 'manykube apply' take it for the kubelets of single "
				  "nodes; for all components, create another cluster with -p");
	return error_hint(err, -EINVAL,
			  "omit the option to start the cluster as it is, or create another "
			  "cluster with -p");
}

static int refuse(const struct setting *setting, const struct profile *profile, const char *has,
		  const char *wanted, struct error *err)
{
	cleanup_free char *title = setting_title(setting);

	if (!has)
		(void)error_because(err, &reason_usage, -EINVAL,
				    "cluster '%s' exists without %s, which cannot be set to '%s' "
				    "now",
				    profile->name, title, wanted);
	else if (setting_is_list(setting))
		(void)error_because(err, &reason_usage, -EINVAL,
				    "cluster '%s' exists with %s=%s, to which '%s' cannot be added",
				    profile->name, title, has, wanted);
	else
		(void)error_because(
			err, &reason_usage, -EINVAL,
			"cluster '%s' exists with %s=%s, which cannot be changed to '%s'",
			profile->name, title, has, wanted);
	return hint_refusal(setting, err);
}

/* Whether one of WORDS excludes WORD. */
static bool is_excluded(const struct setting *setting, const char *word,
			const struct strlist *words)
{
	const char *other;

	if (setting->excludes)
		strlist_for_each(other, words)
			if (setting->excludes(word, other))
				return true;
	return false;
}

/* Add WORDS to the list KEPT, and remove the words that they exclude. */
static void add_words(const struct setting *setting, const struct strlist *words,
		      struct strlist *kept)
{
	struct strlist all = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, kept)
		if (!is_excluded(setting, word, words))
			strlist_add(&all, word);
	strlist_for_each(word, words)
		if (!setting_has_word(setting, &all, word))
			strlist_add(&all, word);
	strlist_release(kept);
	*kept = all;
}

/* Change SETTING of an existing cluster to VALUE; words are only added to lists. */
static int take_change(const struct setting *setting, const void *value, struct profile *profile,
		       struct error *err)
{
	cleanup_with(strlist_release) struct strlist further = STRLIST_INIT;
	void *kept = setting_in_cluster(setting, &profile->settings);
	cleanup_free char *wanted = as_text(setting, value);
	cleanup_free char *has = as_text(setting, kept);

	if (!wanted || setting_equals(setting, kept, value))
		return 0;
	if (setting_is_list(setting)) {
		setting_subtract(setting, value, kept, &further);
		if (further.count == 0)
			return 0;
		free(wanted);
		wanted = strlist_join(&further, ",");
	}
	if (!setting->any_time)
		return refuse(setting, profile, has ? has : setting_usual_word(setting), wanted,
			      err);
	if (setting_is_list(setting))
		add_words(setting, &further, kept);
	else
		setting_copy(setting, value, kept);
	return 0;
}

static void take_flags(const struct cluster_options *options, struct profile *profile)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (setting_is_of_cluster(setting) && setting->type == SETTING_FLAG &&
		    *setting_in_flags(setting, &options->given))
			setting_copy(setting, setting_in_flags(setting, &options->flags),
				     setting_in_flags(setting, &profile->flags));
}

void choices_take_new(const struct cluster_options *options, struct profile *profile)
{
	const struct setting *setting;

	setting_for_each(setting) {
		void *kept = setting_in_cluster(setting, &profile->settings);

		if (!setting_is_of_cluster(setting))
			continue;
		setting_keep(setting, setting_in_cluster(setting, &options->settings), kept);
		if ((setting->type == SETTING_WORD || setting->type == SETTING_CHOICE) &&
		    setting->places & SETTING_OF_CLUSTER && setting_usual_word(setting) &&
		    !setting_is_set(setting, kept))
			setting_copy(setting, &setting->usual, kept);
	}
}

int choices_take(const struct cluster_options *options, struct profile *profile, struct error *err)
{
	const struct setting *setting;
	int r = 0;

	/* Limits of nodes are handled when nodes are planned. */
	setting_for_each(setting)
		if (r == 0 && setting_is_of_cluster(setting) && !setting->may_be_all)
			r = take_change(setting, setting_in_cluster(setting, &options->settings),
					profile, err);
	if (r == 0)
		take_flags(options, profile);
	return r;
}

/* The change of a list as a sentence, for the caller to free. */
static char *describe_list(const struct setting *setting, const struct strlist *before,
			   const struct strlist *after)
{
	cleanup_with(strlist_release) struct strlist gained = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist lost = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist stays = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *title = setting_title(setting);
	cleanup_free char *added = NULL;
	cleanup_free char *removed = NULL;
	cleanup_free char *kept = NULL;

	setting_subtract(setting, after, before, &gained);
	setting_subtract(setting, before, after, &lost);
	setting_subtract(setting, before, &lost, &stays);
	added = strlist_join(&gained, ", ");
	removed = strlist_join(&lost, ", ");
	kept = strlist_join(&stays, ", ");
	strbuf_addf(&text, "Adding to %s: %s", title, added);
	if (lost.count)
		strbuf_addf(&text, "; it replaces %s", removed);
	if (stays.count)
		strbuf_addf(&text, "; %s %s; 'manykube apply' removes what is not in its file",
			    kept, stays.count == 1 ? "stays" : "stay");
	return advice_complete(text.text);
}

void choices_describe(const struct profile *before, const struct profile *after,
		      struct strlist *ret_sentences)
{
	const struct setting *setting;

	setting_for_each(setting) {
		const void *old = setting_in_cluster(setting, &before->settings);
		const void *new = setting_in_cluster(setting, &after->settings);
		cleanup_free char *title = setting_title(setting);
		cleanup_free char *sentence = NULL;
		cleanup_free char *had = NULL;
		cleanup_free char *has = NULL;

		if (!setting_is_of_cluster(setting) || setting_equals(setting, old, new) ||
		    !setting_is_set(setting, new))
			continue;
		if (setting_is_list(setting)) {
			sentence = describe_list(setting, old, new);
			strlist_add(ret_sentences, sentence);
			continue;
		}
		had = as_text(setting, old);
		has = as_text(setting, new);
		strlist_addf(ret_sentences, "Changing %s%s%s to %s", title, had ? " from " : "",
			     had ? had : "", has);
	}
}
