/* Reading and writing go.mod files. */

#include "payload/gomod.h"

#include <string.h>

#include "base/alloc.h"

#define STAGING " => ./staging/src/"

static bool begins(const char *text, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

char *gomod_go_version(const char *gomod)
{
	for (const char *line = gomod; *line;) {
		size_t len = strcspn(line, "\n");

		if (begins(line, len, "go ")) {
			const char *version = line + 3;

			return xstrndup(version, strspn(version, "0123456789."));
		}
		line += len + (line[len] == '\n');
	}
	return NULL;
}

/* Read the next number and move *P past it; 0 at the end. */
static unsigned long next_number(const char **p)
{
	unsigned long value = 0;

	while (**p && (**p < '0' || **p > '9'))
		(*p)++;
	for (; **p >= '0' && **p <= '9'; (*p)++)
		value = MIN(value, 1000000UL) * 10 + (unsigned long)(**p - '0');
	return value;
}

int gomod_compare_versions(const char *a, const char *b)
{
	while (*a || *b) {
		unsigned long left = next_number(&a);
		unsigned long right = next_number(&b);

		if (left != right)
			return left < right ? -1 : 1;
	}
	return 0;
}

/* Add the line of LEN bytes at LINE, replacing a staging directory with the module's release. */
static void add_line(struct strbuf *out, const char *line, size_t len, const char *rest)
{
	const char *staging = memmem(line, len, STAGING, strlen(STAGING));

	if (begins(line, len, "module ")) {
		strbuf_add(out, "module manykube.internal/payload");
	} else if (staging) {
		const char *module = staging + strlen(STAGING);

		strbuf_add_mem(out, line, (size_t)(staging - line));
		strbuf_add(out, " => ");
		strbuf_add_mem(out, module, (size_t)(line + len - module));
		strbuf_addf(out, " v0.%s", rest);
	} else {
		strbuf_add_mem(out, line, len);
	}
	strbuf_add_char(out, '\n');
}

void gomod_wrap_kubernetes(const char *gomod, const char *version, struct strbuf *out)
{
	const char *dot = strchr(version, '.');
	const char *rest = dot ? dot + 1 : version;

	for (const char *line = gomod; *line;) {
		size_t len = strcspn(line, "\n");

		add_line(out, line, len, rest);
		line += len + (line[len] == '\n');
	}
	strbuf_addf(out, "require k8s.io/kubernetes %s\n", version);
}

void gomod_without_comments(const char *gomod, struct strbuf *out)
{
	for (const char *line = gomod; *line;) {
		size_t len = strcspn(line, "\n");

		if (!begins(line, len, "//")) {
			strbuf_add_mem(out, line, len);
			strbuf_add_char(out, '\n');
		}
		line += len + (line[len] == '\n');
	}
}
