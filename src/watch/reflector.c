/* A copy of all objects of one kind. */

#include "watch/reflector.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"

/* Objects in one answer: a page is parsed as a whole. */
#define PAGE 100

#define PAGE_MOST   (24u << 20)
#define LINE_MOST   (8u << 20)
#define COUNT_MOST  100000
#define VALUES_MOST (1u << 19)

/* The API sends bookmarks every minute. */
static const int64_t silence_most_ms = 150 * 1000;
/* Limits of a page, and of all pages of a list: an API may go on for ever. */
static const unsigned page_most_ms = 60 * 1000;
static const int64_t list_most_ms = 300 * 1000;

/* After failures.  Only a watch that lasted shows that the API is well: a hostile one ends each at
 * once, or lets lists succeed. */
static const unsigned retry_ms = 200;
static const unsigned most_doublings = 4;
static const int64_t long_watch_ms = 5000;

struct entry {
	char *key;
	void *kept;
	unsigned round; /* of the list that it was in last */
};

struct reflector {
	struct loop *loop;
	const struct reflector_kind *kind;
	struct https *https;
	reflector_fn changed;
	void *data;
	struct loop_source *retry;
	unsigned failures;
	int64_t heard_ms;
	int64_t listing_ms; /* since when the list is made */
	int64_t watched_ms; /* when the watch began */

	struct entry *entries; /* sorted by key */
	size_t count;
	unsigned round;
	bool complete;
	bool watching;
	bool list_again;
	char *version;   /* to watch from; NULL: list first */
	char *next_page; /* NULL: the first page */
	struct strbuf body;
};

static bool find_entry(const struct reflector *reflector, const char *key, size_t *ret_place)
{
	size_t low = 0;
	size_t high = reflector->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(reflector->entries[middle].key, key);

		if (order == 0) {
			*ret_place = middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_place = low;
	return false;
}

static void remove_at(struct reflector *reflector, size_t place)
{
	struct entry *entry = &reflector->entries[place];

	free(entry->key);
	reflector->kind->free(entry->kept);
	reflector->count--;
	memmove(entry, entry + 1, (reflector->count - place) * sizeof(*entry));
}

static char *key_of(const json_t *object)
{
	const json_t *metadata = json_object_get(object, "metadata");
	const char *space = json_string_value(json_object_get(metadata, "namespace"));
	const char *name = json_string_value(json_object_get(metadata, "name"));

	return name ? xasprintf("%s/%s", space ? space : "", name) : NULL;
}

static void remember_version(struct reflector *reflector, const json_t *object)
{
	const char *version = json_string_value(
		json_object_get(json_object_get(object, "metadata"), "resourceVersion"));

	/* It becomes a part of a path. */
	if (!version || !*version || strlen(version) > 40 || version[strspn(version, "0123456789")])
		return;
	free(reflector->version);
	reflector->version = xstrdup(version);
}

/* Take the state of OBJECT; KEPT is NULL if there is nothing to keep of it. */
static void put_object(struct reflector *reflector, const json_t *object, void *kept)
{
	cleanup_free char *key = key_of(object);
	size_t place;

	if (!key) {
		if (kept)
			reflector->kind->free(kept);
		return;
	}
	if (find_entry(reflector, key, &place)) {
		if (!kept) {
			remove_at(reflector, place);
			return;
		}
		reflector->kind->free(reflector->entries[place].kept);
	} else {
		if (!kept)
			return;
		if (reflector->count >= COUNT_MOST) {
			reflector->kind->free(kept);
			return;
		}
		reflector->entries = xrealloc(reflector->entries, reflector->count + 1,
					      sizeof(*reflector->entries));
		memmove(&reflector->entries[place + 1], &reflector->entries[place],
			(reflector->count - place) * sizeof(*reflector->entries));
		reflector->count++;
		reflector->entries[place].key = take_ptr(key);
	}
	reflector->entries[place].kept = kept;
	reflector->entries[place].round = reflector->round;
}

static void begin_list(struct reflector *reflector);
static void begin_watch(struct reflector *reflector);

static void go_on(struct reflector *reflector)
{
	reflector->heard_ms = clock_now_ms();
	strbuf_reset(&reflector->body);
	if (reflector->version && !reflector->list_again)
		begin_watch(reflector);
	else
		begin_list(reflector);
}

static int on_retry(void *data, arg_unused struct error *err)
{
	struct reflector *reflector = data;

	loop_remove(take_ptr(reflector->retry));
	go_on(reflector);
	return 0;
}

static void retry_later(struct reflector *reflector, int status, const char *why)
{
	unsigned doublings = MIN(reflector->failures, most_doublings);

	if (reflector->failures++ == 0)
		log_debug("watching %s: %s (%d)", reflector->kind->path, why ? why : "refused",
			  status);
	if (!reflector->retry)
		(void)loop_add_timer(reflector->loop, retry_ms << doublings, 0, on_retry, reflector,
				     &reflector->retry, NULL);
}

static void begin_list(struct reflector *reflector)
{
	cleanup_free char *path = xasprintf("%s?limit=%d%s%s", reflector->kind->path, PAGE,
					    reflector->next_page ? "&continue=" : "",
					    reflector->next_page ? reflector->next_page : "");

	reflector->watching = false;
	if (!reflector->next_page) {
		reflector->round++;
		reflector->listing_ms = clock_now_ms();
	}
	https_request(reflector->https, "GET", path, NULL, NULL, page_most_ms);
}

static void begin_watch(struct reflector *reflector)
{
	cleanup_free char *path = xasprintf(
		"%s?watch=true&allowWatchBookmarks=true&timeoutSeconds=3000"
		"&resourceVersion=%s",
		reflector->kind->path, reflector->version);

	reflector->watching = true;
	reflector->watched_ms = clock_now_ms();
	https_request(reflector->https, "GET", path, NULL, NULL, 0);
}

/* Parsed, the smallest value takes far more memory than its text. */
static json_t *load_text(const char *text, size_t len)
{
	size_t values = 0;

	for (size_t i = 0; i < len; i++)
		values += text[i] == ',' || text[i] == '{' || text[i] == '[';
	return values > VALUES_MOST ? NULL : json_loadb(text, len, 0, NULL);
}

/* Remove what was not in the list that has just ended. */
static void sweep(struct reflector *reflector)
{
	for (size_t i = reflector->count; i > 0; i--)
		if (reflector->entries[i - 1].round != reflector->round)
			remove_at(reflector, i - 1);
}

static bool set_next_page(struct reflector *reflector, const json_t *list)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.~=%";
	const char *word = json_string_value(
		json_object_get(json_object_get(list, "metadata"), "continue"));

	free(reflector->next_page);
	reflector->next_page = word && *word && !word[strspn(word, letters)] ? xstrdup(word) : NULL;
	return reflector->next_page;
}

static void end_page(struct reflector *reflector)
{
	json_auto_t *list = load_text(reflector->body.text, reflector->body.len);
	json_t *object;
	size_t i;

	strbuf_release(&reflector->body);
	if (!json_is_array(json_object_get(list, "items"))) {
		retry_later(reflector, 200, "the list cannot be read");
		return;
	}
	json_array_foreach(json_object_get(list, "items"), i, object)
		put_object(reflector, object, reflector->kind->parse(object));
	if (set_next_page(reflector, list)) {
		if (clock_now_ms() - reflector->listing_ms > list_most_ms) {
			free(take_ptr(reflector->next_page));
			retry_later(reflector, 200, "the list does not end");
			return;
		}
		begin_list(reflector);
		return;
	}
	sweep(reflector);
	reflector->list_again = false;
	reflector->complete = true;
	remember_version(reflector, list);
	go_on(reflector);
	reflector->changed(reflector->data);
}

/* An event; returns whether the copy may have changed. */
static bool take_event(struct reflector *reflector, const char *line, size_t len)
{
	json_auto_t *event = load_text(line, len);
	const char *type = json_string_value(json_object_get(event, "type"));
	const json_t *object = json_object_get(event, "object");

	if (!type || strcmp(type, "ERROR") == 0) {
		/* Most likely 410: the version is too old. */
		reflector->list_again = true;
		return false;
	}
	remember_version(reflector, object);
	if (strcmp(type, "BOOKMARK") == 0)
		return false;
	put_object(reflector, object,
		   strcmp(type, "DELETED") == 0 ? NULL : reflector->kind->parse(object));
	return true;
}

static void on_body(const char *data, size_t len, void *to)
{
	struct reflector *reflector = to;
	size_t most = reflector->watching ? LINE_MOST : PAGE_MOST;
	bool changed = false;
	const char *end;

	reflector->heard_ms = clock_now_ms();
	if (reflector->body.len + len > most) {
		reflector->list_again = true;
		strbuf_release(&reflector->body);
		return;
	}
	strbuf_add_mem(&reflector->body, data, len);
	if (!reflector->watching || https_status(reflector->https) != 200)
		return;
	while ((end = memchr(reflector->body.text, '\n', reflector->body.len))) {
		size_t line = (size_t)(end - reflector->body.text);

		changed |= take_event(reflector, reflector->body.text, line);
		strbuf_drop_front(&reflector->body, line + 1);
	}
	if (reflector->body.len == 0)
		strbuf_release(&reflector->body);
	if (changed)
		reflector->changed(reflector->data);
}

static void on_done(int status, const char *why, void *to)
{
	struct reflector *reflector = to;
	bool lasted = reflector->watching &&
		      clock_now_ms() - reflector->watched_ms >= long_watch_ms;

	if (lasted)
		reflector->failures = 0;
	if (status == 410 || (status == 400 && reflector->watching)) {
		reflector->list_again = true;
		free(take_ptr(reflector->next_page));
	}
	if (status != 200) {
		/* A page of a list that was begun elsewhere may not exist any more. */
		if (!reflector->watching)
			free(take_ptr(reflector->next_page));
		retry_later(reflector, status, why);
	} else if (reflector->watching && !lasted) {
		retry_later(reflector, status, "the watch ended at once");
	} else if (reflector->watching) {
		/* The server ends watches after a while. */
		go_on(reflector);
	} else {
		end_page(reflector);
	}
}

void reflector_check(struct reflector *reflector)
{
	/* A page has a limit of its own. */
	if (reflector->watching && !reflector->retry &&
	    clock_now_ms() - reflector->heard_ms > silence_most_ms)
		go_on(reflector);
}

bool reflector_is_complete(const struct reflector *reflector)
{
	return reflector->complete;
}

size_t reflector_count(const struct reflector *reflector)
{
	return reflector->count;
}

void *reflector_at(const struct reflector *reflector, size_t number, const char **ret_key)
{
	if (ret_key)
		*ret_key = reflector->entries[number].key;
	return reflector->entries[number].kept;
}

struct reflector *reflector_new(struct loop *loop, const struct https_target *target,
				const struct reflector_kind *kind, reflector_fn changed, void *data)
{
	static const struct https_events events = { .body = on_body, .done = on_done };
	struct reflector *reflector = xcalloc(1, sizeof(*reflector));

	*reflector = (struct reflector){
		.loop = loop, .kind = kind, .changed = changed, .data = data, .body = STRBUF_INIT
	};
	reflector->https = https_new(loop, target, &events, reflector);
	go_on(reflector);
	return reflector;
}

void reflector_free(struct reflector *reflector)
{
	https_free(reflector->https);
	if (reflector->retry)
		loop_remove(reflector->retry);
	while (reflector->count > 0)
		remove_at(reflector, reflector->count - 1);
	free(reflector->entries);
	free(reflector->version);
	free(reflector->next_page);
	strbuf_release(&reflector->body);
	free(reflector);
}
