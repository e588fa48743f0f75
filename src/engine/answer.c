/* What an engine answers. */

#include "engine/answer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"

/* The longest word that is taken from an answer. */
#define WORD_MOST 256

/* The most labels, and the most entries of a list. */
#define ENTRIES_MOST 4096

void engine_info_release(struct engine_info *info)
{
	free(info->version);
	free(info->api);
	free(info->kernel);
	*info = ENGINE_INFO_INIT;
}

void engine_container_release(struct engine_container *container)
{
	free(container->id);
	free(container->image);
	free(container->problem);
	strlist_release(&container->labels);
	*container = ENGINE_CONTAINER_INIT;
}

static json_t *load(const char *text, size_t len, struct error *err)
{
	json_t *answer = json_loadb(text, len, 0, NULL);

	if (!answer)
		(void)error_set(err, -EBADMSG, "the answer of the container engine is damaged");
	return answer;
}

/* The printable part of the word KEY of OBJECT, for the caller to free. */
static char *word_of(const json_t *object, const char *key)
{
	cleanup_with(strbuf_release) struct strbuf word = STRBUF_INIT;
	const char *text = json_string_value(json_object_get(object, key));

	if (text)
		strbuf_add_printable_line(&word, text, strnlen(text, WORD_MOST));
	return xstrdup(word.len > 0 ? word.text : "");
}

int engine_read_version(const char *text, size_t len, struct engine_info *ret, struct error *err)
{
	json_auto_t *answer = load(text, len, err);

	if (!answer)
		return -EBADMSG;
	free(ret->version);
	free(ret->api);
	ret->version = word_of(answer, "Version");
	ret->api = word_of(answer, "ApiVersion");
	return 0;
}

int engine_read_info(const char *text, size_t len, struct engine_info *ret, struct error *err)
{
	json_auto_t *answer = load(text, len, err);
	const json_t *option;
	size_t i;

	if (!answer)
		return -EBADMSG;
	free(ret->kernel);
	ret->kernel = word_of(answer, "KernelVersion");
	ret->rootless = false;
	json_array_foreach(json_object_get(answer, "SecurityOptions"), i, option) {
		const char *word = json_string_value(option);

		if (word && strcmp(word, "name=rootless") == 0)
			ret->rootless = true;
	}
	return 0;
}

static bool split_version(const char *text, unsigned long long ret[2])
{
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;

	strlist_split(&parts, text, '.');
	return parts.count == 2 &&
	       parse_number(parts.items[0], 0, UINT32_MAX, &ret[0], NULL) == 0 &&
	       parse_number(parts.items[1], 0, UINT32_MAX, &ret[1], NULL) == 0;
}

bool engine_api_is(const char *version, const char *wanted)
{
	unsigned long long have[2];
	unsigned long long want[2];

	return split_version(version, have) && split_version(wanted, want) &&
	       (have[0] > want[0] || (have[0] == want[0] && have[1] >= want[1]));
}

static void read_labels(json_t *labels, struct strlist *ret)
{
	const char *key;
	json_t *value;

	json_object_foreach(labels, key, value) {
		const char *text = json_string_value(value);

		if (text && ret->count < ENTRIES_MOST && strlen(key) <= WORD_MOST &&
		    strlen(text) <= WORD_MOST)
			strlist_addf(ret, "%s=%s", key, text);
	}
}

/* The number KEY of OBJECT; 0 if it is none, or not between 0 and MOST. */
static json_int_t number_of(const json_t *object, const char *key, json_int_t most)
{
	json_int_t number = json_integer_value(json_object_get(object, key));

	return number < 0 || number > most ? 0 : number;
}

int engine_read_container(const char *text, size_t len, struct engine_container *ret,
			  struct error *err)
{
	json_auto_t *answer = load(text, len, err);
	const json_t *config;
	const json_t *state;

	if (!answer)
		return -EBADMSG;
	config = json_object_get(answer, "Config");
	state = json_object_get(answer, "State");
	ret->id = word_of(answer, "Id");
	ret->image = word_of(config, "Image");
	read_labels(json_object_get(config, "Labels"), &ret->labels);
	ret->running = json_is_true(json_object_get(state, "Running"));
	ret->paused = json_is_true(json_object_get(state, "Paused"));
	ret->pid = ret->running ? (pid_t)number_of(state, "Pid", INT32_MAX) : 0;
	ret->exit_status = (int)number_of(state, "ExitCode", 255);
	ret->problem = word_of(state, "Error");
	if (*ret->id)
		return 0;
	engine_container_release(ret);
	return error_set(err, -EBADMSG, "the container engine describes a container without an id");
}

static void add_name(const json_t *value, struct strlist *ret)
{
	const char *name = json_string_value(value);

	/* All names and ids are made of these. */
	if (name && *name && strlen(name) <= WORD_MOST && ret->count < ENTRIES_MOST &&
	    !name[strspn(name,
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/@-")])
		strlist_add(ret, name);
}

/* Add the name or names that ENTRY has under KEY. */
static void add_names(const json_t *entry, const char *key, struct strlist *ret)
{
	const json_t *value = json_object_get(entry, key);
	const json_t *name;
	size_t i;

	add_name(value, ret);
	json_array_foreach(value, i, name)
		add_name(name, ret);
}

int engine_read_list(const char *text, size_t len, struct strlist *ret, struct error *err)
{
	json_auto_t *answer = load(text, len, err);
	const json_t *list = answer;
	const json_t *entry;
	size_t i;

	if (!answer)
		return -EBADMSG;
	/* Volumes are wrapped, and only they have names; of images, the names matter. */
	if (json_is_object(answer))
		list = json_object_get(answer, "Volumes");
	json_array_foreach(list, i, entry) {
		if (json_is_object(answer))
			add_names(entry, "Name", ret);
		else if (json_object_get(entry, "RepoTags"))
			add_names(entry, "RepoTags", ret);
		else
			add_names(entry, "Id", ret);
	}
	return 0;
}
