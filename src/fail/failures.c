/* Failures in the record. */

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "fail/failure-text.h"
#include "record/ports.h"

#define ETCD_PEER_PORT 2380

static char *print_record(const struct failure *failure)
{
	cleanup_free char *words = failure_print(failure);
	struct strbuf out = STRBUF_INIT;

	strbuf_add(&out, words);
	if (failure->for_seconds)
		strbuf_addf(&out, " --for=%us", failure->for_seconds);
	if (failure->since)
		strbuf_addf(&out, " --since=%" PRId64, failure->since);
	if (failure->until)
		strbuf_addf(&out, " --until=%" PRId64, failure->until);
	return strbuf_take(&out);
}

static void append(struct failures *list, const struct failure *failure)
{
	list->items = xrealloc(list->items, list->count + 1, sizeof(*list->items));
	failure_copy(failure, &list->items[list->count++]);
}

void failures_release(struct failures *list)
{
	for (size_t i = 0; i < list->count; i++)
		failure_release(&list->items[i]);
	free(list->items);
	*list = FAILURES_INIT;
}

void failures_read(const struct profile *profile, struct failures *ret)
{
	const char *text;

	strlist_for_each(text, &profile->failures) {
		cleanup_with(failure_release) struct failure failure = FAILURE_INIT;

		if (failure_parse_text(text, true, &failure, NULL) == 0)
			append(ret, &failure);
	}
}

void failures_of_node(const struct profile *profile, const char *name, struct failures *ret)
{
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	const struct failure *failure;

	failures_read(profile, &all);
	failures_for_each(failure, &all)
		if (strlist_has(&failure->nodes, name) || strlist_has(&failure->peers, name))
			append(ret, failure);
}

void failures_add_json(const struct profile *profile, const char *name, json_t *object)
{
	cleanup_with(failures_release) struct failures own = FAILURES_INIT;
	json_t *list = json_array();
	const struct failure *failure;

	failures_of_node(profile, name, &own);
	failures_for_each(failure, &own)
		(void)json_array_append_new(list, failure_json(failure));
	if (own.count > 0)
		json_object_set(object, "Failures", list);
	json_decref(list);
}

bool failure_is_active(const struct profile *profile, const char *name, enum fail_kind kind)
{
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	const struct failure *failure;

	failures_read(profile, &all);
	failures_for_each(failure, &all)
		if (failure->kind == kind && strlist_has(&failure->nodes, name))
			return true;
	return false;
}

bool failure_disables(const struct profile *profile, const char *name)
{
	cleanup_with(failures_release) struct failures own = FAILURES_INIT;
	const struct failure *failure;

	failures_of_node(profile, name, &own);
	failures_for_each(failure, &own)
		if (failure->kind != FAIL_SLOW && strlist_has(&failure->nodes, name))
			return true;
	return false;
}

bool failure_keeps_down(const struct profile *profile, const char *name)
{
	return failure_is_active(profile, name, FAIL_FREEZE) ||
	       failure_is_active(profile, name, FAIL_KILL);
}

/* The number of control planes among NAMES. */
static unsigned control_planes_in(const struct profile *profile, const struct strlist *names)
{
	unsigned count = 0;
	const char *name;

	strlist_for_each(name, names) {
		const struct node *node = profile_find_node(profile, name);

		count += node && node->control_plane;
	}
	return count;
}

/*
 * Whether FAILURE, a partition, keeps the control plane NAME away from the majority, or its API
 * from this host.  Of two sets of control planes, the smaller one is cut off.
 */
static bool cuts_off(const struct profile *profile, const struct failure *failure, const char *name)
{
	bool is_peer = strlist_has(&failure->peers, name);
	bool from_host = failure->peers.count == 0 ||
			 strlist_has(&failure->peers, FAIL_PEER_HOST) ||
			 strlist_has(&failure->peers, FAIL_PEER_FRONT_DOOR);
	unsigned own = control_planes_in(profile, &failure->nodes);
	unsigned others = control_planes_in(profile, &failure->peers);

	if (failure->port && failure->port != ETCD_PORT && failure->port != ETCD_PEER_PORT &&
	    failure->port != API_SERVER_PORT)
		return false;
	if (from_host)
		return !is_peer;
	return is_peer ? others < own && others > 0 : own <= others;
}

bool failure_stops_etcd(const struct profile *profile, const char *name)
{
	cleanup_with(failures_release) struct failures own = FAILURES_INIT;
	const struct failure *failure;

	failures_of_node(profile, name, &own);
	failures_for_each(failure, &own)
		if (failure->kind == FAIL_FREEZE || failure->kind == FAIL_KILL ||
		    failure->kind == FAIL_API || failure->kind == FAIL_ETCD ||
		    (failure->kind == FAIL_PARTITION && cuts_off(profile, failure, name)))
			return true;
	return false;
}

char *failures_describe(const struct profile *profile, const char *name)
{
	cleanup_with(failures_release) struct failures own = FAILURES_INIT;
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	const struct failure *failure;

	failures_of_node(profile, name, &own);
	failures_for_each(failure, &own)
		if (!strlist_has(&words, fail_kind_state(failure->kind)))
			strlist_add(&words, fail_kind_state(failure->kind));
	return words.count > 0 ? strlist_join(&words, ", ") : NULL;
}

static bool is_same_list(const struct strlist *a, const struct strlist *b)
{
	const char *item;

	if (a->count != b->count)
		return false;
	strlist_for_each(item, a)
		if (!strlist_has(b, item))
			return false;
	return true;
}

bool failure_is_same(const struct failure *a, const struct failure *b)
{
	return a->kind == b->kind && a->port == b->port && is_same_list(&a->nodes, &b->nodes) &&
	       is_same_list(&a->peers, &b->peers);
}

/* Whether TEXT, of the record, is FAILURE. */
static bool is_record_of(const char *text, const struct failure *failure)
{
	cleanup_with(failure_release) struct failure other = FAILURE_INIT;

	return failure_parse_text(text, true, &other, NULL) == 0 &&
	       failure_is_same(&other, failure);
}

void failures_remove(struct profile *profile, const struct failure *failure)
{
	struct strlist left = STRLIST_INIT;
	const char *text;

	strlist_for_each(text, &profile->failures)
		if (!is_record_of(text, failure))
			strlist_add(&left, text);
	strlist_release(&profile->failures);
	profile->failures = left;
}

void failures_add(struct profile *profile, const struct failure *failure)
{
	cleanup_free char *text = print_record(failure);

	failures_remove(profile, failure);
	strlist_add(&profile->failures, text);
}
