/* The control group hierarchies of this host, from /proc/self/mountinfo. */

#include "cgroup/cgroup-find.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strlist.h"

void cgroup_hierarchies_release(struct cgroup_hierarchies *h)
{
	for (size_t i = 0; i < h->count; i++) {
		free(h->all[i].mount);
		free(h->all[i].options);
	}
	h->count = 0;
}

/* The controllers in the super options of a v1 mount: all options except generic ones. */
static char *controller_options(const char *super)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist kept = STRLIST_INIT;
	const char *word;

	strlist_split(&words, super, ',');
	strlist_for_each(word, &words) {
		if (strcmp(word, "rw") == 0 || strcmp(word, "ro") == 0 ||
		    strcmp(word, "xattr") == 0 || strcmp(word, "clone_children") == 0 ||
		    strncmp(word, "release_agent=", 14) == 0)
			continue;
		if (strncmp(word, "name=", 5) == 0)
			strlist_add(&kept, "none");
		strlist_add(&kept, word);
	}
	return strlist_join(&kept, ",");
}

static bool known(const struct cgroup_hierarchies *h, bool v2, const char *options)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->all[i].v2 == v2 && strcmp(h->all[i].options, options) == 0)
			return true;
	return false;
}

/* One line of mountinfo: "ID PARENT DEV ROOT MOUNT OPTIONS [TAGS...] - TYPE SOURCE SUPER". */
static void add_mountinfo_line(struct cgroup_hierarchies *h, const char *line)
{
	cleanup_with(strlist_release) struct strlist fields = STRLIST_INIT;
	cleanup_free char *options = NULL;
	size_t dash = 6;
	bool v2;

	strlist_split(&fields, line, ' ');
	while (dash < fields.count && strcmp(fields.items[dash], "-") != 0)
		dash++;
	if (dash + 3 >= fields.count || h->count == CGROUP_HIERARCHIES_MAX)
		return;
	v2 = strcmp(fields.items[dash + 1], "cgroup2") == 0;
	if (!v2 && strcmp(fields.items[dash + 1], "cgroup") != 0)
		return;
	options = v2 ? xstrdup("") : controller_options(fields.items[dash + 3]);
	if (known(h, v2, options))
		return;
	h->has_v1 = h->has_v1 || (!v2 && strncmp(options, "none,", 5) != 0);
	h->all[h->count++] = (struct cgroup_hierarchy){
		.mount = xstrdup(fields.items[4]),
		.options = take_ptr(options),
		.v2 = v2,
	};
}

int cgroup_find_hierarchies(struct cgroup_hierarchies *h, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf mounts = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;
	int r;

	*h = (struct cgroup_hierarchies){ .count = 0 };
	r = file_read("/proc/self/mountinfo", 16 << 20, &mounts, err);
	if (r < 0)
		return r;
	strlist_split(&lines, mounts.text, '\n');
	strlist_for_each(line, &lines)
		add_mountinfo_line(h, line);
	if (h->count == 0)
		return error_because(err, &reason_host_unsupported, -ENOENT,
				     "no cgroup hierarchy is mounted on this host");
	return 0;
}

bool cgroup_has_controller(const struct cgroup_hierarchy *hierarchy, const char *name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_split(&names, hierarchy->options, ',');
	return strlist_has(&names, name);
}
