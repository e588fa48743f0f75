/* The subset of Go's templates that selects fields. */

#include "cli/template.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strlist.h"
#include "base/suggest.h"

#define BLANKS " \t\r\n"

static int unknown_field(const char *name, const struct template_field *fields, struct error *err)
{
	struct suggest suggest = SUGGEST_INIT(name);
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *known = NULL;

	for (; fields->name; fields++) {
		strlist_addf(&names, ".%s", fields->name);
		suggest_offer(&suggest, fields->name);
	}
	known = strlist_join(&names, ", ");
	if (suggest.nearest)
		return error_because(err, &reason_usage, -EINVAL,
				     "unknown field '.%s'; did you mean '.%s'? Fields: %s", name,
				     suggest.nearest, known);
	return error_because(err, &reason_usage, -EINVAL, "unknown field '.%s'; fields: %s", name,
			     known);
}

/* Add the LEN bytes at TEXT to OUT, with backslash escapes replaced. */
static void add_escaped(struct strbuf *out, const char *text, size_t len)
{
	static const char letters[] = "ntr\\\"";
	static const char meant[] = "\n\t\r\\\"";

	for (size_t i = 0; i < len; i++) {
		const char *found = NULL;

		if (text[i] == '\\' && i + 1 < len)
			found = memchr(letters, text[i + 1], sizeof(letters) - 1);
		strbuf_add_char(out, found ? meant[found - letters] : text[i]);
		i += found != NULL;
	}
}

/* Execute ACTION, the text between braces. */
static int perform(const char *action, const struct template_field *fields, struct strbuf *out,
		   struct error *err)
{
	size_t len = strlen(action);

	if (action[0] == '.' && len > 1 && strcspn(action, " |()") == len) {
		for (const struct template_field *field = fields; field->name; field++) {
			if (strcmp(field->name, action + 1) == 0) {
				strbuf_add(out, field->value);
				return 0;
			}
		}
		return unknown_field(action + 1, fields, err);
	}
	if (len >= 2 && action[0] == '"' && action[len - 1] == '"') {
		add_escaped(out, action + 1, len - 2);
		return 0;
	}
	if (strncmp(action, "/*", 2) == 0)
		return 0;
	return error_because(err, &reason_usage, -EINVAL,
			     "'{{%s}}' is not supported; use fields, such as {{.Name}}", action);
}

/* The end of the action at TEXT, which is behind its braces: where "}}" is, but not in a string. */
static const char *end_of_action(const char *text)
{
	bool quoted = false;

	for (; *text; text++) {
		if (quoted && text[0] == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && strncmp(text, "}}", 2) == 0)
			return text;
	}
	return NULL;
}

/* Without surrounding white space. */
static char *trim(const char *text, size_t len)
{
	size_t before = strspn(text, BLANKS);

	if (before >= len)
		return xstrdup("");
	while (len > before && strchr(BLANKS, text[len - 1]))
		len--;
	return xstrndup(text + before, len - before);
}

int template_expand(const char *text, const struct template_field *fields, struct strbuf *out,
		    struct error *err)
{
	const char *begin;

	while ((begin = strstr(text, "{{"))) {
		cleanup_free char *action = NULL;
		const char *inner = begin + 2;
		size_t plain = (size_t)(begin - text);
		const char *end = end_of_action(inner);
		size_t len;
		int r;

		if (!end)
			return error_because(err, &reason_usage, -EINVAL,
					     "the template ends within '%s'", begin);
		len = (size_t)(end - inner);
		if (len >= 2 && inner[0] == '-' && strchr(BLANKS, inner[1])) {
			while (plain > 0 && strchr(BLANKS, text[plain - 1]))
				plain--;
			inner++;
			len--;
		}
		add_escaped(out, text, plain);
		text = end + 2;
		if (len >= 2 && end[-1] == '-' && strchr(BLANKS, end[-2])) {
			text += strspn(text, BLANKS);
			len--;
		}
		action = trim(inner, len);
		r = perform(action, fields, out, err);
		if (r < 0)
			return r;
	}
	add_escaped(out, text, strlen(text));
	return 0;
}
