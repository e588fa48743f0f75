/* Failures in words, and in the record. */

#include "fail/failure-text.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "data/words.h"

/* A failure longer than this is none that anybody waits for. */
#define FOR_SECONDS_MOST    (7 * 24 * 3600)
#define OFFSET_SECONDS_MOST (10 * 365 * 24 * 3600)
#define DELAY_MS_MOST       60000
#define RATE_BITS_LEAST     8000
#define RATE_BITS_MOST      UINT64_C(100000000000)

static const struct {
	const char *word;
	const char *state;
	const char *takes; /* parameters, besides "for" */
} kinds[FAIL_KINDS] = {
	[FAIL_FREEZE] = { "freeze", "frozen", "" },
	[FAIL_KILL] = { "kill", "killed", "" },
	[FAIL_KUBELET] = { "kubelet", "kubelet down", "" },
	[FAIL_RUNTIME] = { "runtime", "runtime down", "" },
	[FAIL_API] = { "api", "API down", "" },
	[FAIL_ETCD] = { "etcd", "etcd down", "" },
	[FAIL_DISK_FULL] = { "disk-full", "disk full", "" },
	[FAIL_MEMORY] = { "memory", "memory used up", "" },
	[FAIL_CLOCK] = { "clock", "clock wrong", "offset" },
	[FAIL_PARTITION] = { "partition", "cut off", "from port" },
	[FAIL_SLOW] = { "slow", "slow network", "to delay jitter loss rate" },
};

const char *fail_kind_word(enum fail_kind kind)
{
	return kinds[kind].word;
}

const char *fail_kind_state(enum fail_kind kind)
{
	return kinds[kind].state;
}

int fail_kind_parse(const char *word, enum fail_kind *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf all = STRBUF_INIT;

	for (unsigned i = 0; i < FAIL_KINDS; i++) {
		if (strcmp(word, kinds[i].word) == 0) {
			*ret = (enum fail_kind)i;
			return 0;
		}
		strbuf_addf(&all, "%s%s", i > 0 ? ", " : "", kinds[i].word);
	}
	return error_because(err, &reason_usage, -EINVAL,
			     "there is no failure '%s'; it can be one of %s", word, all.text);
}

bool fail_kind_takes(enum fail_kind kind, const char *name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_split(&names, kinds[kind].takes, ' ');
	return strcmp(name, "for") == 0 || strlist_has(&names, name);
}

static int bad_word(const char *name, const char *word, const char *example, struct error *err)
{
	return error_because(err, &reason_usage, -EINVAL,
			     "'--%s=%s' is not valid; an example is %s", name, word, example);
}

static int set_peers(struct failure *failure, const char *name, const char *word, struct error *err)
{
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;
	const char *part;

	strlist_split(&parts, word, ',');
	strlist_for_each(part, &parts) {
		if (!parse_is_dns_label(part))
			return bad_word(name, word, "node-1,host", err);
		if (!strlist_has(&failure->peers, part))
			strlist_add(&failure->peers, part);
	}
	return parts.count > 0 ? 0 : bad_word(name, word, "node-1,host", err);
}

/* A number with at most DECIMALS digits after the point, followed by one of UNITS, a list of words
 * of equal rights; *RET is the number shifted by DECIMALS. */
static int parse_decimal(const char *word, unsigned decimals, unsigned long long *ret,
			 const char **ret_unit)
{
	size_t whole = strspn(word, "0123456789");
	size_t part = word[whole] == '.' ? strspn(word + whole + 1, "0123456789") : 0;
	cleanup_with(strbuf_release) struct strbuf digits = STRBUF_INIT;

	if (whole == 0 || part > decimals || (word[whole] == '.' && part == 0))
		return -EINVAL;
	strbuf_add_mem(&digits, word, whole);
	strbuf_add_mem(&digits, word + whole + 1, part);
	for (size_t i = part; i < decimals; i++)
		strbuf_add_char(&digits, '0');
	*ret_unit = word + whole + (part > 0 ? part + 1 : 0);
	return parse_number(digits.text, 0, UINT64_C(1000000000000000), ret, NULL);
}

static int set_milliseconds(unsigned *ret, const char *name, const char *word, struct error *err)
{
	unsigned long long number;
	const char *unit;

	if (parse_decimal(word, 3, &number, &unit) < 0)
		return bad_word(name, word, "100ms", err);
	if (strcmp(unit, "ms") == 0)
		number /= 1000;
	else if (strcmp(unit, "s") != 0)
		return bad_word(name, word, "100ms", err);
	if (number == 0 || number > DELAY_MS_MOST)
		return error_because(err, &reason_usage, -EINVAL,
				     "'--%s=%s' is not between 1ms and %us", name, word,
				     DELAY_MS_MOST / 1000);
	*ret = (unsigned)number;
	return 0;
}

static int set_loss(struct failure *failure, const char *word, struct error *err)
{
	unsigned long long number;
	const char *unit;

	if (parse_decimal(word, 2, &number, &unit) < 0 || strcmp(unit, "%") != 0)
		return bad_word("loss", word, "5%", err);
	if (number == 0 || number > 10000)
		return error_because(err, &reason_usage, -EINVAL,
				     "'--loss=%s' is not between 0.01%% and 100%%", word);
	failure->loss_hundredths = (unsigned)number;
	return 0;
}

static int set_rate(struct failure *failure, const char *word, struct error *err)
{
	static const struct {
		const char *unit;
		uint64_t bits;
	} units[] = {
		{ "bit", 1 },
		{ "kbit", 1000 },
		{ "mbit", 1000000 },
		{ "gbit", 1000000000 },
	};
	unsigned long long number;
	const char *unit;
	uint64_t bits = 0;

	if (parse_decimal(word, 3, &number, &unit) < 0)
		return bad_word("rate", word, "10mbit", err);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(unit, units[i].unit) == 0 &&
		    number <= RATE_BITS_MOST * 1000 / units[i].bits)
			bits = number * units[i].bits / 1000;
	if (bits == 0 && !strstr(word, "bit"))
		return bad_word("rate", word, "10mbit", err);
	if (bits < RATE_BITS_LEAST || bits > RATE_BITS_MOST)
		return error_because(err, &reason_usage, -EINVAL,
				     "'--rate=%s' is not between 8kbit and 100gbit", word);
	failure->rate_bits = bits;
	return 0;
}

static int set_port(struct failure *failure, const char *word, struct error *err)
{
	unsigned long long port;

	if (parse_number(word, 1, 65535, &port, NULL) < 0)
		return bad_word("port", word, "2380", err);
	failure->port = (unsigned)port;
	return 0;
}

static int set_offset(struct failure *failure, const char *word, struct error *err)
{
	bool back = *word == '-';
	unsigned seconds;

	if (parse_seconds(word + (back || *word == '+'), &seconds, NULL) < 0 || seconds == 0 ||
	    seconds > OFFSET_SECONDS_MOST)
		return bad_word("offset", word, "-5m", err);
	failure->offset_seconds = back ? -(int64_t)seconds : (int64_t)seconds;
	return 0;
}

static int set_duration(struct failure *failure, const char *word, struct error *err)
{
	unsigned seconds;

	if (parse_seconds(word, &seconds, NULL) < 0)
		return bad_word("for", word, "30s", err);
	if (seconds == 0 || seconds > FOR_SECONDS_MOST)
		return error_because(err, &reason_usage, -EINVAL,
				     "'--for=%s' is not between 1s and 7 days", word);
	failure->for_seconds = seconds;
	return 0;
}

int failure_set(struct failure *failure, const char *name, const char *word, struct error *err)
{
	if (!fail_kind_takes(failure->kind, name))
		return error_because(err, &reason_usage, -EINVAL,
				     "a failure of the kind '%s' has no --%s",
				     fail_kind_word(failure->kind), name);
	if (strcmp(name, "from") == 0 || strcmp(name, "to") == 0)
		return set_peers(failure, name, word, err);
	if (strcmp(name, "port") == 0)
		return set_port(failure, word, err);
	if (strcmp(name, "delay") == 0)
		return set_milliseconds(&failure->delay_ms, name, word, err);
	if (strcmp(name, "jitter") == 0)
		return set_milliseconds(&failure->jitter_ms, name, word, err);
	if (strcmp(name, "loss") == 0)
		return set_loss(failure, word, err);
	if (strcmp(name, "rate") == 0)
		return set_rate(failure, word, err);
	if (strcmp(name, "offset") == 0)
		return set_offset(failure, word, err);
	return set_duration(failure, word, err);
}

/* The times, which only the record has. */
static int set_time(struct failure *failure, const char *name, const char *word, struct error *err)
{
	int64_t *to = strcmp(name, "since") == 0 ? &failure->since : &failure->until;
	unsigned long long number;
	int r = parse_number(word, 0, INT64_MAX, &number, err);

	if (r < 0)
		return error_reason(err, r, &reason_usage);
	*to = (int64_t)number;
	return 0;
}

/* Apply the option at WORDS[0] ("--port=1", or "--port" and "1"); returns how many words it has. */
static int apply_option(struct failure *failure, char *const *words, bool recorded,
			struct error *err)
{
	const char *equals = strchr(words[0], '=');
	cleanup_free char *name = equals ? xstrndup(words[0] + 2, (size_t)(equals - words[0]) - 2)
					 : xstrdup(words[0] + 2);
	const char *value = equals ? equals + 1 : words[1];
	bool is_time = strcmp(name, "since") == 0 || strcmp(name, "until") == 0;
	int r;

	if (!value)
		return error_because(err, &reason_usage, -EINVAL, "'--%s' needs a value", name);
	r = recorded && is_time ? set_time(failure, name, value, err)
				: failure_set(failure, name, value, err);
	return r < 0 ? r : equals ? 1 : 2;
}

static int parse_words(const struct strlist *words, bool recorded, struct failure *failure,
		       struct error *err)
{
	size_t i = 1;
	int r;

	if (words->count == 0)
		return error_because(err, &reason_usage, -EINVAL, "no failure is named");
	r = fail_kind_parse(words->items[0], &failure->kind, err);
	while (r >= 0 && i < words->count) {
		const char *word = words->items[i];

		if (strncmp(word, "--", 2) == 0) {
			r = apply_option(failure, words->items + i, recorded, err);
			i += r > 0 ? (size_t)r : 0;
			continue;
		}
		if (!parse_is_dns_label(word))
			return error_because(err, &reason_usage, -EINVAL,
					     "'%s' is not the name of a node", word);
		if (!strlist_has(&failure->nodes, word))
			strlist_add(&failure->nodes, word);
		i++;
	}
	if (r >= 0 && failure->nodes.count == 0)
		return error_because(err, &reason_usage, -EINVAL, "'%s' names no node",
				     words->items[0]);
	return r < 0 ? r : 0;
}

int failure_parse_text(const char *text, bool recorded, struct failure *ret, struct error *err)
{
	cleanup_with(failure_release) struct failure failure = FAILURE_INIT;
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	int r;

	strlist_split(&words, text, ' ');
	r = parse_words(&words, recorded, &failure, err);
	if (r < 0)
		return r;
	*ret = failure;
	failure = FAILURE_INIT;
	return 0;
}

int failure_parse(const char *words, struct failure *ret, struct error *err)
{
	return failure_parse_text(words, false, ret, err);
}

static void add_decimal(struct strbuf *out, const char *name, uint64_t number, uint64_t one,
			const char *unit)
{
	uint64_t rest = number % one;
	unsigned digits = 0;

	for (uint64_t left = one; left > 1; left /= 10)
		digits++;
	while (digits > 0 && rest % 10 == 0) {
		rest /= 10;
		digits--;
	}
	strbuf_addf(out, " --%s=%" PRIu64, name, number / one);
	if (digits > 0)
		strbuf_addf(out, ".%0*" PRIu64, (int)digits, rest);
	strbuf_add(out, unit);
}

static void add_rate(struct strbuf *out, uint64_t bits)
{
	if (bits % 1000000 == 0)
		add_decimal(out, "rate", bits / 1000000, 1, "mbit");
	else if (bits % 1000 == 0)
		add_decimal(out, "rate", bits / 1000, 1, "kbit");
	else
		add_decimal(out, "rate", bits, 1, "bit");
}

char *failure_print(const struct failure *failure)
{
	struct strbuf out = STRBUF_INIT;
	const char *name;

	strbuf_add(&out, fail_kind_word(failure->kind));
	strlist_for_each(name, &failure->nodes)
		strbuf_addf(&out, " %s", name);
	if (failure->peers.count > 0) {
		cleanup_free char *peers = strlist_join(&failure->peers, ",");

		strbuf_addf(&out, " --%s=%s", failure->kind == FAIL_SLOW ? "to" : "from", peers);
	}
	if (failure->port)
		strbuf_addf(&out, " --port=%u", failure->port);
	if (failure->delay_ms)
		strbuf_addf(&out, " --delay=%ums", failure->delay_ms);
	if (failure->jitter_ms)
		strbuf_addf(&out, " --jitter=%ums", failure->jitter_ms);
	if (failure->loss_hundredths)
		add_decimal(&out, "loss", failure->loss_hundredths, 100, "%");
	if (failure->rate_bits)
		add_rate(&out, failure->rate_bits);
	if (failure->offset_seconds)
		strbuf_addf(&out, " --offset=%" PRId64 "s", failure->offset_seconds);
	return strbuf_take(&out);
}

static void add_number(json_t *object, const char *key, int64_t number)
{
	if (number)
		json_object_set_new(object, key, json_integer(number));
}

static void add_time(json_t *object, const char *key, int64_t seconds)
{
	cleanup_free char *text = seconds ? clock_rfc3339(seconds) : NULL;

	if (text)
		json_object_set_new(object, key, json_string(text));
}

json_t *failure_json(const struct failure *failure)
{
	json_t *object = json_pack("{s:s, s:o}", "kind", fail_kind_word(failure->kind), "nodes",
				   words_to_json(&failure->nodes));

	if (failure->peers.count > 0)
		json_object_set_new(object, failure->kind == FAIL_SLOW ? "to" : "from",
				    words_to_json(&failure->peers));
	add_number(object, "port", failure->port);
	add_number(object, "delayMilliseconds", failure->delay_ms);
	add_number(object, "jitterMilliseconds", failure->jitter_ms);
	if (failure->loss_hundredths)
		json_object_set_new(object, "lossPercent",
				    json_real((double)failure->loss_hundredths / 100));
	add_number(object, "rateBitsPerSecond", (int64_t)failure->rate_bits);
	add_number(object, "offsetSeconds", failure->offset_seconds);
	add_time(object, "since", failure->since);
	add_time(object, "until", failure->until);
	return object;
}

static void copy_list(const struct strlist *from, struct strlist *to)
{
	const char *item;

	strlist_for_each(item, from)
		strlist_add(to, item);
}

void failure_copy(const struct failure *from, struct failure *ret)
{
	*ret = *from;
	ret->nodes = STRLIST_INIT;
	ret->peers = STRLIST_INIT;
	copy_list(&from->nodes, &ret->nodes);
	copy_list(&from->peers, &ret->peers);
}

void failure_release(struct failure *failure)
{
	strlist_release(&failure->nodes);
	strlist_release(&failure->peers);
	*failure = FAILURE_INIT;
}
