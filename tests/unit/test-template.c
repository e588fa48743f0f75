#include "cli/template.h"
#include "test.h"

static const struct template_field fields[] = { { "Name", "node-1" },
						{ "Host", "Running" },
						{ NULL, NULL } };
static struct error why;

static char *expand(const char *text)
{
	struct strbuf out = STRBUF_INIT;

	if (template_expand(text, fields, &out, &why) == 0)
		return strbuf_take(&out);
	strbuf_release(&out);
	return NULL;
}

TEST(fields_stand_where_they_are_named)
{
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "", "" },
		{ "{{.Host}}", "Running" },
		{ "{{ .Name }}: {{.Host}}", "node-1: Running" },
		{ "{{.Name}}\\t{{.Host}}\\n", "node-1\tRunning\n" },
		{ "{{.Name}}{{\"\\t}}\\\"\"}}{{.Host}}", "node-1\t}}\"Running" },
		{ "a  {{- .Name -}}  b", "anode-1b" },
		{ "{{/* nothing */}}{.Name} }} \\x \\", "{.Name} }} \\x \\" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *got = expand(cases[i].text);

		ASSERT_STR(got, cases[i].want);
	}
}

TEST(what_is_not_understood_is_said)
{
	ASSERT(!expand("{{.Hots}}"));
	ASSERT_STR(why.text, "unknown field '.Hots'; did you mean '.Host'? Fields: .Name, .Host");
	ASSERT_INT(why.reason->exit_status, 14);
	ASSERT(!expand("{{.Nothing.Else}}"));
	ASSERT_STR(why.text, "unknown field '.Nothing.Else'; fields: .Name, .Host");
	ASSERT(!expand("{{range .}}"));
	ASSERT(strstr(why.text, "'{{range .}}' is not supported"));
	ASSERT(!expand("{{}}"));
	ASSERT(!expand("{{.}}"));
	ASSERT(!expand("x {{.Name"));
	ASSERT_STR(why.text, "the template ends within '{{.Name'");
	error_clear(&why);
}
