/* Files with scenarios. */

#include "scenario/scenario.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "base/user.h"

#define API_VERSION "manykube/v1"
#define KIND        "Scenario"

#define STEPS_MOST     1000
#define SECONDS_MOST   (24 * 3600)
#define SETTLE_SECONDS 300
#define WAIT_SECONDS   300

static const char *const condition_words[] = {
	"not-ready", "ready", "pods", "api", "service", NULL
};
static const char *const step_acts[] = { "fail", "heal", "wait", NULL };

struct reader {
	struct scenario *scenario;
	struct error *err;
};

static int refuse_place(const struct reader *reader, struct yaml_place place, const char *fmt, ...)
	printf_like(3, 4);

static int refuse_place(const struct reader *reader, struct yaml_place place, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	(void)yaml_wrong(reader->err, reader->scenario->source, place, "%s", words);
	(void)error_reason(reader->err, -EBADMSG, &reason_cluster_file);
	return error_hint(reader->err, -EBADMSG, "'manykube fail run --help' lists the fields");
}

/* Add the place and the key of VALUE to the error of a check. */
static int refuse_value(const struct reader *reader, const struct yaml_value *value)
{
	cleanup_free char *words = xstrdup(reader->err && reader->err->text ? reader->err->text
									    : "");

	if (reader->err)
		reader->err->reason = NULL;
	return value->key ? refuse_place(reader, value->place, "%s: %s", value->key, words)
			  : refuse_place(reader, value->place, "%s", words);
}

/* An unknown KEY, where those of KNOWN, which ends with NULL, are possible. */
static int refuse_key(const struct reader *reader, const struct yaml_value *item,
		      const char *const *known)
{
	struct suggest suggest = SUGGEST_INIT(item->key);

	for (; *known; known++)
		suggest_offer(&suggest, *known);
	if (suggest.nearest)
		return refuse_place(reader, item->key_place,
				    "unknown field '%s'; did you mean '%s'?", item->key,
				    suggest.nearest);
	return refuse_place(reader, item->key_place, "unknown field '%s'", item->key);
}

static int need_word(const struct reader *reader, const struct yaml_value *value)
{
	if (value->type == YAML_WORD && *value->text)
		return 0;
	return refuse_place(reader, value->place, "'%s' must be a word; this is %s", value->key,
			    yaml_type_words(value));
}

static int read_seconds(const struct reader *reader, const struct yaml_value *value, unsigned *ret)
{
	int r = need_word(reader, value);

	if (r < 0)
		return r;
	if (parse_seconds(value->text, ret, reader->err) < 0)
		return refuse_value(reader, value);
	if (*ret > SECONDS_MOST)
		return refuse_place(reader, value->place, "'%s' is at most 24h, not '%s'",
				    value->key, value->text);
	return 0;
}

/* The index in WORDS, which ends with NULL. */
static int read_choice(const struct reader *reader, const struct yaml_value *value,
		       const char *const *words, size_t *ret)
{
	struct suggest suggest;
	int r = need_word(reader, value);

	if (r < 0)
		return r;
	suggest = SUGGEST_INIT(value->text);
	for (size_t i = 0; words[i]; i++) {
		if (strcmp(words[i], value->text) == 0) {
			*ret = i;
			return 0;
		}
		suggest_offer(&suggest, words[i]);
	}
	if (suggest.nearest)
		return refuse_place(reader, value->place,
				    "unknown value '%s' of '%s'; did you mean '%s'?", value->text,
				    value->key, suggest.nearest);
	return refuse_place(reader, value->place, "unknown value '%s' of '%s'", value->text,
			    value->key);
}

/* A list of names, or one name. */
static int read_names(const struct reader *reader, const struct yaml_value *value,
		      struct strlist *ret)
{
	bool is_list = value->type == YAML_LIST;
	const struct yaml_value *items = is_list ? value->items : value;
	size_t count = is_list ? value->count : 1;

	if (is_list && count == 0)
		return refuse_place(reader, value->place, "'%s' is empty", value->key);
	for (size_t i = 0; i < count; i++) {
		const struct yaml_value *item = &items[i];

		if (item->type != YAML_WORD)
			return refuse_place(reader, item->place,
					    "'%s' must be a list of names; this is %s", value->key,
					    yaml_type_words(item));
		if (!parse_is_dns_label(item->text))
			return refuse_place(reader, item->place, "'%s' is not the name of a node",
					    item->text);
		if (strlist_has(ret, item->text))
			return refuse_place(reader, item->place, "'%s' has '%s' twice", value->key,
					    item->text);
		strlist_add(ret, item->text);
	}
	return 0;
}

/* A parameter of a failure, with the words of the command's option. */
static int read_parameter(const struct reader *reader, const struct yaml_value *value,
			  struct failure *failure)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *words = NULL;
	int r;

	if (value->type == YAML_LIST) {
		r = read_names(reader, value, &names);
		words = strlist_join(&names, ",");
	} else {
		r = need_word(reader, value);
		words = xstrdup(value->text ? value->text : "");
	}
	if (r < 0)
		return r;
	if (failure_set(failure, value->key, words, reader->err) < 0)
		return refuse_value(reader, value);
	return 0;
}

/* The fields that steps of every kind have; 1 if VALUE is none of them. */
static int read_time(const struct reader *reader, const struct yaml_value *value,
		     struct scenario_step *step)
{
	if (strcmp(value->key, "at") == 0) {
		step->has_at = true;
		return read_seconds(reader, value, &step->at_seconds);
	}
	return strcmp(value->key, "after") == 0 ? read_seconds(reader, value, &step->after_seconds)
						: 1;
}

static int read_fail(const struct reader *reader, const struct yaml_value *map,
		     const struct yaml_value *act, struct scenario_step *step)
{
	static const char *const known[] = { "at",   "after", "fail",   "nodes", "for",
					     "from", "port",  "to",     "delay", "jitter",
					     "loss", "rate",  "offset", NULL };
	const struct yaml_value *item;
	int r = need_word(reader, act);

	if (r == 0 && fail_kind_parse(act->text, &step->failure.kind, reader->err) < 0)
		return refuse_value(reader, act);
	yaml_for_each(item, map) {
		bool is_known = false;

		if (r < 0 || item == act || item->type == YAML_NOTHING)
			continue;
		for (const char *const *key = known; *key; key++)
			is_known = is_known || strcmp(*key, item->key) == 0;
		if (!is_known)
			return refuse_key(reader, item, known);
		r = read_time(reader, item, step);
		if (r == 1 && strcmp(item->key, "nodes") == 0)
			r = read_names(reader, item, &step->failure.nodes);
		else if (r == 1)
			r = read_parameter(reader, item, &step->failure);
	}
	if (r == 0 && step->failure.nodes.count == 0)
		return refuse_place(reader, map->place, "the step has no 'nodes' to fail");
	return r;
}

static int read_heal(const struct reader *reader, const struct yaml_value *map,
		     const struct yaml_value *act, struct scenario_step *step)
{
	static const char *const known[] = { "at", "after", "heal", NULL };
	bool all = act->type == YAML_WORD && strcmp(act->text, "all") == 0;
	const struct yaml_value *item;
	int r = all ? 0 : read_names(reader, act, &step->nodes);

	yaml_for_each(item, map) {
		if (r < 0 || item == act || item->type == YAML_NOTHING)
			continue;
		r = read_time(reader, item, step);
		if (r == 1)
			return refuse_key(reader, item, known);
	}
	return r;
}

static int read_wait(const struct reader *reader, const struct yaml_value *map,
		     const struct yaml_value *act, struct scenario_step *step)
{
	static const char *const known[] = { "at", "after", "wait", "nodes", "timeout", NULL };
	const struct yaml_value *item;
	size_t condition = 0;
	int r = read_choice(reader, act, condition_words, &condition);

	step->condition = (enum scenario_condition)condition;
	step->timeout_seconds = WAIT_SECONDS;
	yaml_for_each(item, map) {
		if (r < 0 || item == act || item->type == YAML_NOTHING)
			continue;
		r = read_time(reader, item, step);
		if (r == 1 && strcmp(item->key, "timeout") == 0)
			r = read_seconds(reader, item, &step->timeout_seconds);
		else if (r == 1 && strcmp(item->key, "nodes") == 0 &&
			 step->condition > SCENARIO_READY)
			return refuse_place(reader, item->key_place,
					    "'wait: %s' is not about nodes", act->text);
		else if (r == 1 && strcmp(item->key, "nodes") == 0)
			r = read_names(reader, item, &step->nodes);
		else if (r == 1)
			return refuse_key(reader, item, known);
	}
	if (r == 0 && step->condition == SCENARIO_SERVICE && !reader->scenario->service)
		return refuse_place(reader, act->place,
				    "no service is observed: 'observe' names one");
	return r;
}

static int read_step(const struct reader *reader, const struct yaml_value *map)
{
	static int (*const read[])(const struct reader *, const struct yaml_value *,
				   const struct yaml_value *, struct scenario_step *) = {
		[SCENARIO_FAIL] = read_fail,
		[SCENARIO_HEAL] = read_heal,
		[SCENARIO_WAIT] = read_wait,
	};
	struct scenario *scenario = reader->scenario;
	const struct yaml_value *act = NULL;
	struct scenario_step *step;

	if (map->type != YAML_MAP)
		return refuse_place(reader, map->place,
				    "a step must be a mapping, for instance 'fail: freeze'; this "
				    "is %s",
				    yaml_type_words(map));
	scenario->steps = xrealloc(scenario->steps, scenario->count + 1, sizeof(*scenario->steps));
	step = &scenario->steps[scenario->count++];
	*step = (struct scenario_step){ .failure = FAILURE_INIT, .place = map->place };
	for (size_t i = 0; step_acts[i]; i++) {
		const struct yaml_value *value = yaml_get(map, step_acts[i]);

		if (value && act)
			return refuse_place(reader, value->key_place,
					    "a step has only one of 'fail', 'heal' and 'wait'");
		if (value) {
			act = value;
			step->act = (enum scenario_act)i;
		}
	}
	if (!act)
		return refuse_place(reader, map->place,
				    "the step has none of 'fail', 'heal' and 'wait'");
	if (yaml_get(map, "at") && yaml_get(map, "after"))
		return refuse_place(reader, yaml_get(map, "after")->key_place,
				    "a step has 'at' or 'after', not both");
	return read[step->act](reader, map, act, step);
}

static int read_steps(const struct reader *reader, const struct yaml_value *list)
{
	const struct scenario_step *before = NULL;
	const struct yaml_value *item;

	if (list->type != YAML_LIST || list->count == 0)
		return refuse_place(reader, list->place,
				    "'steps' must be a list of steps; this is %s",
				    list->count ? yaml_type_words(list) : "empty");
	if (list->count > STEPS_MOST)
		return refuse_place(reader, list->place, "a scenario has at most %d steps",
				    STEPS_MOST);
	yaml_for_each(item, list) {
		const struct scenario_step *step;
		int r = read_step(reader, item);

		if (r < 0)
			return r;
		step = &reader->scenario->steps[reader->scenario->count - 1];
		before = NULL;
		for (size_t i = 0; i + 1 < reader->scenario->count; i++)
			if (reader->scenario->steps[i].has_at)
				before = &reader->scenario->steps[i];
		if (step->has_at && before && before->at_seconds > step->at_seconds)
			return refuse_place(reader, yaml_get(item, "at")->place,
					    "'at' is before that of the step on line %u",
					    before->place.line);
	}
	return 0;
}

static int read_service(const struct reader *reader, const struct yaml_value *value)
{
	struct scenario *scenario = reader->scenario;
	const char *slash;
	int r = need_word(reader, value);

	if (r < 0)
		return r;
	slash = strchr(value->text, '/');
	scenario->namespace = slash ? xstrndup(value->text, (size_t)(slash - value->text))
				    : xstrdup("default");
	scenario->service = xstrdup(slash ? slash + 1 : value->text);
	if (!parse_is_dns_label(scenario->namespace) || !parse_is_dns_label(scenario->service))
		return refuse_place(reader, value->place, "'%s' is not a service: [NAMESPACE/]NAME",
				    value->text);
	return 0;
}

static int read_observe(const struct reader *reader, const struct yaml_value *map)
{
	static const char *const known[] = { "service", "protocol", NULL };
	static const char *const protocols[] = { "http", "tcp", NULL };
	const struct yaml_value *item;
	size_t protocol = 0;
	int r = 0;

	if (map->type != YAML_MAP)
		return refuse_place(reader, map->place, "'observe' must be a mapping; this is %s",
				    yaml_type_words(map));
	yaml_for_each(item, map) {
		if (r < 0 || item->type == YAML_NOTHING)
			continue;
		if (strcmp(item->key, "service") == 0)
			r = read_service(reader, item);
		else if (strcmp(item->key, "protocol") == 0)
			r = read_choice(reader, item, protocols, &protocol);
		else
			return refuse_key(reader, item, known);
	}
	reader->scenario->connects_only = protocol == 1;
	if (r == 0 && !reader->scenario->service)
		return refuse_place(reader, map->place, "'observe' names no service");
	return r;
}

/* KEY must have the value WANTED. */
static int need_header(const struct reader *reader, const struct yaml_value *root, const char *key,
		       const char *wanted)
{
	const struct yaml_value *value = yaml_get(root, key);

	if (!value)
		return refuse_place(reader, root->place, "'%s: %s' is missing", key, wanted);
	if (value->type != YAML_WORD || strcmp(value->text, wanted) != 0)
		return refuse_place(reader, value->place, "'%s' must be '%s'", key, wanted);
	return 0;
}

/* The fields of the file, except for the steps, which need to know them. */
static int read_head(const struct reader *reader, const struct yaml_value *root)
{
	static const char *const known[] = { "apiVersion", "kind",  "name", "observe",
					     "settle",     "steps", NULL };
	const struct yaml_value *item;
	int r = 0;

	yaml_for_each(item, root) {
		bool is_known = false;

		for (const char *const *key = known; *key; key++)
			is_known = is_known || strcmp(*key, item->key) == 0;
		if (!is_known)
			return refuse_key(reader, item, known);
		if (r < 0 || item->type == YAML_NOTHING)
			continue;
		if (strcmp(item->key, "observe") == 0)
			r = read_observe(reader, item);
		else if (strcmp(item->key, "settle") == 0)
			r = read_seconds(reader, item, &reader->scenario->settle_seconds);
		else if (strcmp(item->key, "name") == 0)
			r = need_word(reader, item);
		if (r == 0 && strcmp(item->key, "name") == 0)
			reader->scenario->name = xstrdup(item->text);
	}
	return r;
}

static int read_root(const struct reader *reader, const struct yaml_value *root)
{
	const struct yaml_value *steps;
	int r;

	if (root->type != YAML_MAP)
		return refuse_place(
			reader, root->place,
			"the file must be a mapping that starts with 'apiVersion: " API_VERSION
			"'; this is %s",
			root->type == YAML_NOTHING ? "empty" : yaml_type_words(root));
	r = need_header(reader, root, "apiVersion", API_VERSION);
	if (r == 0)
		r = need_header(reader, root, "kind", KIND);
	if (r == 0)
		r = read_head(reader, root);
	if (r < 0)
		return r;
	steps = yaml_get(root, "steps");
	if (!steps)
		return refuse_place(reader, root->place, "the scenario has no 'steps'");
	return read_steps(reader, steps);
}

int scenario_parse(const char *source, const char *text, size_t len, struct scenario *ret,
		   struct error *err)
{
	cleanup_with(scenario_release) struct scenario scenario = {
		.source = xstrdup(source),
		.settle_seconds = SETTLE_SECONDS,
	};
	cleanup_with(yaml_value_release) struct yaml_value root = YAML_VALUE_INIT;
	struct error own = ERROR_INIT;
	struct reader reader = { &scenario, &own };
	int r = yaml_read(source, text, len, &root, &own);

	if (r == 0)
		r = read_root(&reader, &root);
	if (r < 0) {
		(void)error_reason(&own, r, &reason_cluster_file);
		r = error_move(err, r, &own);
		if (!err)
			error_clear(&own);
		return r;
	}
	error_clear(&own);
	*ret = scenario;
	scenario = SCENARIO_INIT;
	return 0;
}

int scenario_read(const char *path, struct scenario *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	bool is_input = strcmp(path, "-") == 0;
	cleanup_fd int opened = -1;
	struct stat st;
	int r = is_input ? 0 : user_open(path, 0, &opened, err);

	if (r < 0)
		return error_reason(err, r, &reason_host_path);
	if (!is_input && fstat(opened, &st) == 0 && S_ISDIR(st.st_mode))
		return error_because(err, &reason_host_path, -EISDIR,
				     "'%s' is a directory, not a scenario", path);
	r = file_read_fd(is_input ? STDIN_FILENO : opened, YAML_TEXT_LIMIT, &text, err);
	if (r == -EFBIG)
		return error_because(err, &reason_cluster_file, -EBADMSG,
				     "%s:1:1: not a scenario: larger than %d MiB",
				     is_input ? "stdin" : path, YAML_TEXT_LIMIT >> 20);
	if (r < 0) {
		(void)error_prefix(err, r, "cannot read the file '%s'", path);
		return error_reason(err, r, &reason_cluster_file);
	}
	return scenario_parse(is_input ? "stdin" : path, text.text, text.len, ret, err);
}

int scenario_step_wrong(const struct scenario *scenario, const struct scenario_step *step, int r,
			struct error *err)
{
	return error_prefix(err, r, "%s:%u:%u", scenario->source, step->place.line,
			    step->place.column);
}

static char *wait_words(const struct scenario *scenario, const struct scenario_step *step)
{
	cleanup_free char *names = step->nodes.count ? strlist_join(&step->nodes, ", ")
						     : xstrdup("all nodes");
	const char *verb = step->nodes.count == 1 ? "is" : "are";

	switch (step->condition) {
	case SCENARIO_NOT_READY:
		return xasprintf("wait until %s %s not Ready", names, verb);
	case SCENARIO_READY:
		return xasprintf("wait until %s %s Ready", names, verb);
	case SCENARIO_PODS:
		return xstrdup("wait until all pods are Ready");
	case SCENARIO_API:
		return xstrdup("wait until the API answers");
	default:
		return xasprintf("wait until the service %s answers", scenario->service);
	}
}

char *scenario_step_words(const struct scenario *scenario, const struct scenario_step *step)
{
	cleanup_free char *names = strlist_join(&step->nodes, " ");

	if (step->act == SCENARIO_FAIL)
		return failure_print(&step->failure);
	if (step->act == SCENARIO_HEAL)
		return xasprintf("heal %s", step->nodes.count ? names : "all");
	return wait_words(scenario, step);
}

void scenario_release(struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->count; i++) {
		failure_release(&scenario->steps[i].failure);
		strlist_release(&scenario->steps[i].nodes);
	}
	free(scenario->steps);
	free(scenario->source);
	free(scenario->name);
	free(scenario->namespace);
	free(scenario->service);
	*scenario = SCENARIO_INIT;
}
