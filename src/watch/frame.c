/* Messages of the watcher to the keeper. */

#include "watch/frame.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/strlist.h"
#include "data/inet.h"

#define ROUTES_MOST 1024

int frame_send(int fd, const char *name, const char *text, size_t len, struct error *err)
{
	cleanup_free char *line = xasprintf("%s %zu\n", name, len);
	int r = file_write_all(fd, line, strlen(line));

	if (r == 0)
		r = file_write_all(fd, text, len);
	return r < 0 ? error_set(err, r, "cannot send to the keeper") : 0;
}

int frame_take(const struct strbuf *in, char name[FRAME_NAME_MOST + 1], const char **ret_text,
	       size_t *ret_len, size_t *ret_used)
{
	const char *end = memchr(in->text, '\n', in->len);
	size_t line = end ? (size_t)(end - in->text) : in->len;
	cleanup_free char *words = NULL;
	unsigned long long len;
	char *space;

	if (line > FRAME_NAME_MOST || memchr(in->text, '\0', line))
		return -EBADMSG;
	if (!end)
		return 0;
	words = xstrndup(in->text, line);
	space = strrchr(words, ' ');
	if (!space || parse_number(space + 1, 0, FRAME_MOST, &len, NULL) < 0)
		return -EBADMSG;
	if (in->len - line - 1 < len)
		return 0;
	*space = '\0';
	memcpy(name, words, strlen(words) + 1);
	*ret_text = end + 1;
	*ret_len = (size_t)len;
	*ret_used = line + 1 + (size_t)len;
	return 1;
}

static int parse_route(const char *line, struct frame_route *ret)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;

	strlist_split(&words, line, ' ');
	return words.count == 2 && inet_parse_address(words.items[0], &ret->address, NULL) == 0 &&
			       inet_parse_address(words.items[1], &ret->via, NULL) == 0
		       ? 0
		       : -EBADMSG;
}

int frame_parse_routes(const char *text, size_t len, struct frame_route **ret_routes,
		       size_t *ret_count, struct error *err)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *copy = xstrndup(text, len);
	cleanup_free struct frame_route *routes = NULL;

	if (strlen(copy) != len)
		return error_set(err, -EBADMSG, "the routes contain a NUL");
	strlist_split(&lines, copy, '\n');
	if (lines.count > ROUTES_MOST)
		return error_set(err, -EBADMSG, "there are too many routes");
	routes = xcalloc(lines.count + 1, sizeof(*routes));
	for (size_t i = 0; i < lines.count; i++)
		if (parse_route(lines.items[i], &routes[i]) < 0)
			return error_set(err, -EBADMSG, "a route is invalid");
	*ret_routes = take_ptr(routes);
	*ret_count = lines.count;
	return 0;
}
