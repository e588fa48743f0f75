/* JSON as readable YAML. */

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "data/yaml.h"

/* Whether a parser of YAML 1.1 or 1.2 could read TEXT as something other than a string. */
static bool has_meaning(const char *text)
{
	static const char *const words[] = { "null", "true", "false", "yes", "no",
					     "on",   "off",  "y",     "n" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	/* Numbers, times, dates. */
	return !isalpha((unsigned char)*text) &&
	       strspn(text, "0123456789_.:-+eExXoO") == strlen(text);
}

/* Whether TEXT needs no quotes. */
static bool is_plain(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || (!isalnum((unsigned char)*text) && !strchr("/._", *text)) ||
	    text[len - 1] == ':')
		return false;
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_./:=+@,", *p))
			return false;
	return !has_meaning(text);
}

/* Print a scalar or an empty container; false, printing nothing, for any other value. */
static bool print_word(const json_t *value, struct strbuf *out)
{
	cleanup_free char *text = NULL;

	if (json_object_size(value) > 0 || json_array_size(value) > 0)
		return false;
	if (json_is_string(value) && is_plain(json_string_value(value)))
		text = xstrdup(json_string_value(value));
	else
		text = json_dumps(value, JSON_ENCODE_ANY);
	if (!text)
		abort();
	strbuf_add(out, text);
	return true;
}

static void print_key(const char *key, struct strbuf *out)
{
	json_auto_t *text = json_string(key);

	(void)print_word(text, out);
	strbuf_add_char(out, ':');
}

static void indent(unsigned depth, struct strbuf *out)
{
	strbuf_addf(out, "%*s", (int)depth, "");
}

static void print_lines(const json_t *value, unsigned depth, bool begun, struct strbuf *out);

/* Lists are indented like the key they belong to. */
static void print_map(const json_t *map, unsigned depth, bool begun, struct strbuf *out)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)map, key, value) {
		if (!begun)
			indent(depth, out);
		begun = false;
		print_key(key, out);
		if (json_object_size(value) > 0 || json_array_size(value) > 0) {
			strbuf_add_char(out, '\n');
			print_lines(value, json_is_array(value) ? depth : depth + 2, false, out);
			continue;
		}
		strbuf_add_char(out, ' ');
		(void)print_word(value, out);
		strbuf_add_char(out, '\n');
	}
}

static void print_list(const json_t *list, unsigned depth, bool begun, struct strbuf *out)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		if (!begun)
			indent(depth, out);
		begun = false;
		strbuf_add(out, "- ");
		print_lines(item, depth + 2, true, out);
	}
}

/* BEGUN: the first line is already indented. */
static void print_lines(const json_t *value, unsigned depth, bool begun, struct strbuf *out)
{
	if (json_object_size(value) > 0) {
		print_map(value, depth, begun, out);
	} else if (json_array_size(value) > 0) {
		print_list(value, depth, begun, out);
	} else {
		(void)print_word(value, out);
		strbuf_add_char(out, '\n');
	}
}

char *yaml_print(const json_t *value)
{
	struct strbuf out = STRBUF_INIT;

	print_lines(value, 0, true, &out);
	return strbuf_take(&out);
}
