/* Help generated from option tables. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/opt.h"
#include "cli/text.h"

/* Longer options have their help on the next line. */
#define WIDEST_NAME    28
#define NARROWEST_GAP  8  /* where help starts if all options are longer */
#define NARROWEST_HELP 24 /* with fewer columns beside the options, help goes below them */

char *opt_heading(const struct opt *opt)
{
	struct strbuf out = STRBUF_INIT;

	if (opt->letter)
		strbuf_addf(&out, "-%c, --%s", opt->letter, opt->name);
	else
		strbuf_addf(&out, "--%s", opt->name);
	if (opt->operand)
		strbuf_addf(&out, opt->type == OPT_TYPE_SECONDS_MAYBE ? "[=%s]" : "=%s",
			    opt->operand);
	return strbuf_take(&out);
}

static void add_seconds(struct strbuf *out, unsigned seconds)
{
	if (seconds >= 60)
		strbuf_addf(out, "%um", seconds / 60);
	if (seconds % 60)
		strbuf_addf(out, "%us", seconds % 60);
}

static void add_size(struct strbuf *out, uint64_t bytes)
{
	if (bytes % (1u << 30) == 0)
		strbuf_addf(out, "%llug", (unsigned long long)(bytes >> 30));
	else
		strbuf_addf(out, "%llum", (unsigned long long)(bytes >> 20));
}

/* " (default: 6m)", or nothing if the option has no default to show. */
static void add_default(struct strbuf *out, const struct opt *opt)
{
	cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;

	switch (opt->type) {
	case OPT_TYPE_STRING:
	case OPT_TYPE_CHOICE:
		if (*opt->to.string)
			strbuf_add(&value, *opt->to.string);
		break;
	case OPT_TYPE_COUNT:
	case OPT_TYPE_POSITIVE:
		if (*opt->to.count)
			strbuf_addf(&value, "%u", *opt->to.count);
		break;
	case OPT_TYPE_SECONDS:
		add_seconds(&value, *opt->to.seconds);
		break;
	case OPT_TYPE_SIZE:
		if (*opt->to.bytes)
			add_size(&value, *opt->to.bytes);
		break;
	case OPT_TYPE_FLAG:
		if (*opt->to.flag)
			strbuf_add(&value, "true");
		break;
	default:
		break;
	}
	if (value.len)
		strbuf_addf(out, " (default: %s)", value.text);
	if (opt->type == OPT_TYPE_LIST || opt->type == OPT_TYPE_WORDS ||
	    opt->type == OPT_TYPE_REPEAT)
		strbuf_add(out, " (may be repeated)");
}

void opt_describe(const struct opt *opt, struct strbuf *out)
{
	strbuf_add(out, opt->help);
	if (opt->type != OPT_TYPE_HELP)
		add_default(out, opt);
}

/* The option as shown in the list: short options are a column of their own. */
static char *indented(const struct opt *opt)
{
	cleanup_free char *heading = opt_heading(opt);

	return xasprintf("%s%s", opt->letter ? "  " : "      ", heading);
}

void opt_print_help(const struct opt *table, unsigned columns, FILE *out)
{
	unsigned width = NARROWEST_GAP;

	for (const struct opt *opt = table; opt->type != OPT_TYPE_END; opt++) {
		cleanup_free char *name = indented(opt);

		if (text_width(name) <= WIDEST_NAME)
			width = MAX(width, text_width(name));
	}
	if (columns < width + 2 + NARROWEST_HELP)
		width = 4;
	for (const struct opt *opt = table; opt->type != OPT_TYPE_END; opt++) {
		cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;
		cleanup_with(strbuf_release) struct strbuf help = STRBUF_INIT;
		cleanup_free char *name = indented(opt);
		unsigned at = text_width(name);

		strbuf_add(&line, name);
		if (at > width)
			strbuf_addf(&line, "\n%*s", (int)width + 2, "");
		else
			strbuf_addf(&line, "%*s", (int)(width + 2 - at), "");
		opt_describe(opt, &help);
		text_wrap(&line, help.text, width + 2, width + 2, columns);
		fprintf(out, "%s\n", line.text);
	}
}
