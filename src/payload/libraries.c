/* The shared libraries that a program of the host loads. */

#include "payload/libraries.h"

#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"

/* Parse "name => /path (address)", "/path (address)" or "linux-vdso.so.1 (address)", which has no
 * path. */
static int parse_line(const char *line, struct strlist *paths, struct error *err)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	const char *word;

	if (strstr(line, "=> not found"))
		return error_set(err, -ENOENT, "a library is missing: %s", line);
	strlist_split(&words, line, ' ');
	strlist_for_each(word, &words) {
		if (word[0] != '/')
			continue;
		if (!strlist_has(paths, word))
			strlist_add(paths, word);
		return 0;
	}
	return 0;
}

int libraries_parse(const char *listing, struct strlist *ret_paths, struct error *err)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	char *line;

	strlist_split(&lines, listing, '\n');
	for (size_t i = 0; i < lines.count; i++) {
		int r;

		line = lines.items[i];
		for (char *p = line; *p; p++)
			if (*p == '\t')
				*p = ' ';
		r = parse_line(line, ret_paths, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int libraries_of(const char *program, struct strlist *ret_paths, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf listing = STRBUF_INIT;
	cleanup_free char *copy = xstrdup(program);
	cleanup_fd int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct process_options options = { .no_stdin = true, .stderr_fd = quiet };
	int r;

	/* For a static program, ldd exits with status 1 and a message on standard error. */
	r = process_capture(ARGV("ldd", copy), &options, &listing, err);
	if (r < 0)
		return r;
	return r == 0 ? libraries_parse(listing.text, ret_paths, err) : 0;
}
