/* Sets of CPU numbers. */

#include "cgroup/cpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/strlist.h"

/* A limit above the number of CPUs that Linux supports. */
#define IDS_MOST 65536

void cpus_add(struct cpus *cpus, unsigned id)
{
	cpus->ids = xrealloc(cpus->ids, cpus->count + 1, sizeof(*cpus->ids));
	cpus->ids[cpus->count++] = id;
}

/* Add "3" or "0-3". */
static int add_range(struct cpus *cpus, char *text)
{
	char *dash = strchr(text, '-');
	unsigned least = cpus->count > 0 ? cpus->ids[cpus->count - 1] + 1 : 0;
	unsigned long long first;
	unsigned long long last;
	int r;

	if (dash)
		*dash = '\0';
	r = parse_number(text, least, IDS_MOST, &first, NULL);
	last = first;
	if (r == 0 && dash)
		r = parse_number(dash + 1, first, IDS_MOST, &last, NULL);
	if (r < 0)
		return -EINVAL;
	for (unsigned long long id = first; id <= last; id++)
		cpus_add(cpus, (unsigned)id);
	return 0;
}

int cpus_parse(const char *text, struct cpus *ret)
{
	cleanup_with(strlist_release) struct strlist ranges = STRLIST_INIT;
	cleanup_with(cpus_release) struct cpus found = CPUS_INIT;
	cleanup_free char *list = xstrndup(text, strcspn(text, "\n"));

	strlist_split(&ranges, list, ',');
	for (size_t i = 0; i < ranges.count; i++) {
		int r = add_range(&found, ranges.items[i]);

		if (r < 0)
			return r;
	}
	*ret = found;
	found = CPUS_INIT;
	return 0;
}

char *cpus_print(const struct cpus *cpus)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < cpus->count;) {
		size_t end = i + 1;

		while (end < cpus->count && cpus->ids[end] == cpus->ids[end - 1] + 1)
			end++;
		strbuf_addf(&out, "%s%u", i > 0 ? "," : "", cpus->ids[i]);
		if (end > i + 1)
			strbuf_addf(&out, "-%u", cpus->ids[end - 1]);
		i = end;
	}
	return strbuf_take(&out);
}

void cpus_choose(const struct cpus *have, size_t count, size_t first, struct cpus *ret)
{
	*ret = CPUS_INIT;
	count = MIN(count, have->count);
	for (size_t i = 0; i < have->count; i++) {
		size_t from_first = (i + have->count - first % have->count) % have->count;

		if (from_first < count)
			cpus_add(ret, have->ids[i]);
	}
}

void cpus_release(struct cpus *cpus)
{
	free(cpus->ids);
	*cpus = CPUS_INIT;
}
