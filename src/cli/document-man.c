/* Documents as man pages: the macros of man(7). */

#include <ctype.h>
#include <string.h>

#include "cli/document.h"

/* Whether a title was written last: the next paragraph needs no macro. */
static bool after_title;

/* Write the LEN bytes at TEXT, which start a line. */
static void put_line(FILE *out, const char *text, size_t len)
{
	/* Otherwise it would be a request. */
	if (len > 0 && (*text == '.' || *text == '\''))
		fputs("\\&", out);
	for (size_t i = 0; i < len; i++) {
		switch (text[i]) {
		case '\\':
			fputs("\\e", out);
			break;
		case '-': /* not a hyphen, so that examples can be copied */
			fputs("\\-", out);
			break;
		case '\'':
			fputs("\\(aq", out);
			break;
		case '~':
			fputs("\\(ti", out);
			break;
		case '^':
			fputs("\\(ha", out);
			break;
		case '`':
			fputs("\\(ga", out);
			break;
		default:
			(void)fputc(text[i], out);
		}
	}
}

static void put_escaped(FILE *out, const char *text)
{
	put_line(out, text, strlen(text));
}

/* Titles are names and plain words. */
static void put_capitals(FILE *out, const char *text)
{
	for (; *text; text++)
		(void)fputc(toupper((unsigned char)*text), out);
}

static void begin_man(FILE *out, const char *name, const char *summary)
{
	fprintf(out, ".TH ");
	put_capitals(out, name);
	fprintf(out, " 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n", name, MANYKUBE_VERSION);
	put_escaped(out, name);
	fprintf(out, " \\- ");
	put_escaped(out, summary);
	fprintf(out, "\n");
}

static void begin_paragraph(FILE *out)
{
	if (!after_title)
		fprintf(out, ".PP\n");
	after_title = false;
}

static void section(FILE *out, unsigned level, const char *title)
{
	if (level == 1) {
		fprintf(out, ".SH ");
		put_capitals(out, title);
	} else {
		fprintf(out, ".SS ");
		put_escaped(out, title);
	}
	fprintf(out, "\n");
	after_title = true;
}

static void paragraph(FILE *out, const char *text)
{
	begin_paragraph(out);
	put_escaped(out, text);
	fprintf(out, "\n");
}

static void code(FILE *out, const char *lines)
{
	begin_paragraph(out);
	fprintf(out, ".RS 4\n.EX\n");
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		put_line(out, lines, len);
		fprintf(out, "\n");
		lines += len + (lines[len] == '\n');
	}
	fprintf(out, ".EE\n.RE\n");
}

static void begin_items(arg_unused FILE *out, arg_unused const char *term,
			arg_unused const char *meaning)
{
}

static void item(FILE *out, const char *term, const char *meaning)
{
	after_title = false;
	fprintf(out, ".TP\n\\fB");
	put_escaped(out, term);
	fprintf(out, "\\fR\n");
	put_escaped(out, meaning);
	fprintf(out, "\n");
}

const struct document_format document_man = {
	.begin = begin_man,
	.section = section,
	.paragraph = paragraph,
	.code = code,
	.begin_items = begin_items,
	.item = item,
};
