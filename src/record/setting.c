/* Operations on settings. */

#include "record/setting.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "record/spec.h"

bool setting_is_of_cluster(const struct setting *setting)
{
	return setting->has_member && setting->places & (SETTING_OF_CLUSTER | SETTING_OF_DEFAULTS);
}

bool setting_is_of_node(const struct setting *setting)
{
	return setting->has_member && setting->places & SETTING_OF_NODE;
}

bool setting_is_list(const struct setting *setting)
{
	return setting->type >= SETTING_WORDS;
}

void *setting_in_cluster(const struct setting *setting, const struct cluster_settings *in)
{
	return (char *)(uintptr_t)in + setting->cluster;
}

void *setting_in_node(const struct setting *setting, const struct node_settings *in)
{
	return (char *)(uintptr_t)in + setting->node;
}

bool *setting_in_flags(const struct setting *setting, const struct cluster_flags *flags)
{
	return (bool *)((uintptr_t)flags + setting->cluster -
			offsetof(struct cluster_settings, flags));
}

const struct setting *setting_find(enum setting_place place, const char *option)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (setting->has_member && setting->places & place && setting->option &&
		    strcmp(setting->option, option) == 0)
			return setting;
	return NULL;
}

char *setting_title(const struct setting *setting)
{
	return xasprintf("%s%s", setting->option ? "--" : "",
			 setting->option ? setting->option : setting->name);
}

bool setting_is_set(const struct setting *setting, const void *member)
{
	if (setting_is_list(setting))
		return ((const struct strlist *)member)->count > 0;
	switch (setting->type) {
	case SETTING_FLAG:
		return false;
	case SETTING_SIZE:
		return *(const uint64_t *)member;
	case SETTING_NUMBER:
	case SETTING_SECONDS:
		return *(const unsigned *)member;
	default:
		return *(const char *const *)member;
	}
}

bool setting_has_word(const struct setting *setting, const struct strlist *list, const char *word)
{
	cleanup_free char *normal = setting->normal ? setting->normal(word) : NULL;
	const char *other;

	if (!normal)
		return strlist_has(list, word);
	strlist_for_each(other, list) {
		cleanup_free char *spelling = setting->normal(other);

		if (spelling && strcmp(spelling, normal) == 0)
			return true;
	}
	return false;
}

void setting_subtract(const struct setting *setting, const struct strlist *wanted,
		      const struct strlist *has, struct strlist *ret)
{
	const char *word;

	strlist_for_each(word, wanted)
		if (!setting_has_word(setting, has, word))
			strlist_add(ret, word);
}

/* Remove the words with the key of WORD from LIST. */
static void remove_key_of(const struct setting *setting, struct strlist *list, const char *word)
{
	struct strlist left = STRLIST_INIT;
	size_t len = strcspn(word, "=");
	const char *other;

	strlist_for_each(other, list) {
		cleanup_free char *normal = setting->normal ? setting->normal(other) : NULL;
		const char *spelling = normal ? normal : other;

		if (strncmp(spelling, word, len) != 0 || (spelling[len] && spelling[len] != '='))
			strlist_add(&left, other);
	}
	strlist_release(list);
	*list = left;
}

int setting_change_words(const struct setting *setting, struct strlist *list,
			 const struct strlist *changes, struct error *err)
{
	const char *word;

	strlist_for_each(word, changes) {
		cleanup_free char *removed = spec_parse_removal(word);
		int r = removed || !setting->check ? 0 : setting->check(word, err);

		if (r < 0) {
			cleanup_free char *title = setting_title(setting);

			return error_prefix(err, r, "%s", title);
		}
		if (removed || setting->by_key)
			remove_key_of(setting, list, removed ? removed : word);
		if (!removed && !setting_has_word(setting, list, word))
			strlist_add(list, word);
	}
	return 0;
}

static bool has_all(const struct setting *setting, const struct strlist *list,
		    const struct strlist *words)
{
	cleanup_with(strlist_release) struct strlist further = STRLIST_INIT;

	setting_subtract(setting, words, list, &further);
	return further.count == 0;
}

static bool is_same_word(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

const char *setting_usual_word(const struct setting *setting)
{
	return setting->usual && *setting->usual != '(' ? setting->usual : NULL;
}

/* The word of MEMBER, or the default if that is a fixed word; may be NULL. */
static const char *word_or_usual(const struct setting *setting, const void *member)
{
	const char *word = *(const char *const *)member;

	return word ? word : setting_usual_word(setting);
}

bool setting_equals(const struct setting *setting, const void *one, const void *other)
{
	if (setting_is_list(setting))
		return has_all(setting, one, other) && has_all(setting, other, one);
	switch (setting->type) {
	case SETTING_FLAG:
		return *(const bool *)one == *(const bool *)other;
	case SETTING_SIZE:
		return *(const uint64_t *)one == *(const uint64_t *)other;
	case SETTING_NUMBER:
	case SETTING_SECONDS:
		return *(const unsigned *)one == *(const unsigned *)other;
	default:
		return is_same_word(word_or_usual(setting, one), word_or_usual(setting, other));
	}
}

static char *size_text(uint64_t bytes)
{
	static const char units[] = "bkmgt";
	size_t unit = 0;

	while (unit < 4 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	return xasprintf("%llu%c", (unsigned long long)bytes, units[unit]);
}

static char *seconds_text(unsigned seconds)
{
	if (seconds % 3600 == 0)
		return xasprintf("%uh", seconds / 3600);
	return seconds % 60 == 0 ? xasprintf("%um", seconds / 60) : xasprintf("%us", seconds);
}

char *setting_print(const struct setting *setting, const void *member)
{
	if (setting->type == SETTING_FLAG)
		return *(const bool *)member ? xstrdup("true") : NULL;
	if (!setting_is_set(setting, member))
		return NULL;
	switch (setting->type) {
	case SETTING_NUMBER:
		if (setting->may_be_all && *(const unsigned *)member == ALL_CPUS)
			return xstrdup("max");
		return xasprintf("%u", *(const unsigned *)member);
	case SETTING_SIZE:
		if (setting->may_be_all && *(const uint64_t *)member == ALL_MEMORY)
			return xstrdup("max");
		return size_text(*(const uint64_t *)member);
	case SETTING_SECONDS:
		return seconds_text(*(const unsigned *)member);
	default:
		return xstrdup(*(const char *const *)member);
	}
}

static bool is_word(const struct setting *setting)
{
	return setting->type >= SETTING_WORD && setting->type <= SETTING_CHOICE;
}

/* Containerd is told of a mirror once; in other lists, a later word may replace an earlier one. */
static void copy_list(const struct setting *setting, const struct strlist *from, struct strlist *to)
{
	const char *word;

	strlist_release(to);
	strlist_for_each(word, from)
		if (setting->type != SETTING_MIRRORS || !setting_has_word(setting, to, word))
			strlist_add(to, word);
}

void setting_borrow(const struct setting *setting, const void *from, void *to)
{
	if (setting_is_list(setting)) {
		copy_list(setting, from, to);
	} else if (setting->type == SETTING_FLAG) {
		*(bool *)to = *(const bool *)from;
	} else if (setting->type == SETTING_SIZE) {
		*(uint64_t *)to = *(const uint64_t *)from;
	} else if (setting->type == SETTING_NUMBER || setting->type == SETTING_SECONDS) {
		*(unsigned *)to = *(const unsigned *)from;
	} else {
		*(const char **)to = *(const char *const *)from;
	}
}

void setting_copy(const struct setting *setting, const void *from, void *to)
{
	const char *word;

	if (!is_word(setting)) {
		setting_borrow(setting, from, to);
		return;
	}
	word = *(const char *const *)from;
	free(*(char **)to);
	*(char **)to = word ? xstrdup(word) : NULL;
}

void setting_set_word(const char **member, const char *word)
{
	free((void *)(uintptr_t)*member);
	*member = xstrdup(word);
}

/* Store "max" as unset. */
static void store_max_as_unset(const struct setting *setting, void *member)
{
	if (setting->type == SETTING_SIZE && *(uint64_t *)member == ALL_MEMORY)
		*(uint64_t *)member = 0;
	if (setting->type == SETTING_NUMBER && *(unsigned *)member == ALL_CPUS)
		*(unsigned *)member = 0;
}

void setting_keep(const struct setting *setting, const void *from, void *to)
{
	setting_copy(setting, from, to);
	if (setting->may_be_all)
		store_max_as_unset(setting, to);
}

void setting_say_all(const struct setting *setting, void *member)
{
	if (!setting->may_be_all || setting_is_set(setting, member))
		return;
	if (setting->type == SETTING_SIZE)
		*(uint64_t *)member = ALL_MEMORY;
	else
		*(unsigned *)member = ALL_CPUS;
}

/* Remove the words of TO whose key is also in FROM. */
static void remove_replaced_keys(struct strlist *to, const struct strlist *from)
{
	struct strlist both = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, to) {
		size_t len = strcspn(word, "=");
		bool stays = true;

		for (size_t i = 0; i < from->count; i++)
			stays = stays && (strncmp(from->items[i], word, len) != 0 ||
					  from->items[i][len] != '=');
		if (stays)
			strlist_add(&both, word);
	}
	strlist_release(to);
	*to = both;
}

static void inherit_list(const struct setting *setting, const struct strlist *defaults,
			 const struct strlist *own, struct strlist *to)
{
	if (defaults)
		setting_copy(setting, defaults, to);
	if (setting->change) {
		(void)setting->change(to, own, NULL);
		return;
	}
	if (setting->by_key)
		remove_replaced_keys(to, own);
	if (own->count)
		strlist_add_all(to, own->items);
}

void settings_inherit(const struct cluster_settings *defaults, const struct node_settings *own,
		      struct node_settings *node)
{
	const struct setting *setting;

	setting_for_each(setting) {
		bool shared = setting->places & SETTING_OF_DEFAULTS;
		const void *usual = shared ? setting_in_cluster(setting, defaults) : NULL;
		const void *from = setting_in_node(setting, own);
		void *to = setting_in_node(setting, node);

		if (!setting_is_of_node(setting))
			continue;
		if (setting_is_list(setting))
			inherit_list(setting, usual, from, to);
		else if (shared)
			setting_keep(setting, setting_is_set(setting, from) ? from : usual, to);
	}
}

/* Free the memory of MEMBER and leave it empty. */
static void release_member(const struct setting *setting, void *member)
{
	if (setting_is_list(setting))
		strlist_release(member);
	else if (is_word(setting))
		free(take_ptr(*(char **)member));
}

void settings_release_cluster(struct cluster_settings *settings)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (setting_is_of_cluster(setting))
			release_member(setting, setting_in_cluster(setting, settings));
	*settings = (struct cluster_settings){ NULL };
}

void settings_release_node(struct node_settings *settings)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (setting_is_of_node(setting))
			release_member(setting, setting_in_node(setting, settings));
	*settings = (struct node_settings){ NULL };
}
