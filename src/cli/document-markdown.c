/* Documents as Markdown, with the tables that GitHub knows. */

#include <string.h>

#include "cli/document.h"

/* Write TEXT with a backslash before each of SPECIAL. */
static void put_escaped(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			(void)fputc('\\', out);
		(void)fputc(*text, out);
	}
}

static void begin_markdown(FILE *out, const char *name, const char *summary)
{
	fprintf(out, "# %s\n\n<!-- Written by 'make docs'. -->\n\n", name);
	put_escaped(out, summary, "\\<*`");
	fprintf(out, "\n");
}

static void section(FILE *out, unsigned level, const char *title)
{
	fprintf(out, "\n%s ", level == 1 ? "##" : "###");
	put_escaped(out, title, "\\<*`");
	fprintf(out, "\n");
}

static void paragraph(FILE *out, const char *text)
{
	fprintf(out, "\n");
	put_escaped(out, text, "\\<*`");
	fprintf(out, "\n");
}

static void code(FILE *out, const char *lines)
{
	fprintf(out, "\n```\n%s```\n", lines);
}

static void begin_items(FILE *out, const char *term, const char *meaning)
{
	fprintf(out, "\n| %s | %s |\n| --- | --- |\n", term, meaning);
}

static void item(FILE *out, const char *term, const char *meaning)
{
	fprintf(out, "| `");
	put_escaped(out, term, "|");
	fprintf(out, "` | ");
	put_escaped(out, meaning, "\\<*`|");
	fprintf(out, " |\n");
}

const struct document_format document_markdown = {
	.begin = begin_markdown,
	.section = section,
	.paragraph = paragraph,
	.code = code,
	.begin_items = begin_items,
	.item = item,
};
