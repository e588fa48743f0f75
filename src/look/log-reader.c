/* Reading a log. */

#include "look/log-reader.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Sizes of the part at the end of a log to read, until it contains enough lines. */
static const size_t portions[] = { 64 << 10, 1 << 20, 16 << 20 };

#define MOST portions[ARRAY_SIZE(portions) - 1]

static int read_end(struct log_reader *reader, size_t most, struct strbuf *out, struct error *err)
{
	if (reader->at.driver)
		return reader->at.driver->files->read_end(&reader->at.spec, reader->path, most,
							  &reader->tail, out, err);
	return tail_end(reader->dir, reader->path, most, &reader->tail, out, err);
}

int log_reader_open(const struct profile *profile, const struct log_source *log,
		    struct log_reader *ret, struct error *err)
{
	cleanup_with(log_reader_release) struct log_reader reader = LOG_READER_INIT;
	cleanup_with(strbuf_release) struct strbuf nothing = STRBUF_INIT;
	struct node *node;
	int r = 0;

	reader.dir = xstrdup(profile->dir);
	reader.path = xstrdup(log->path);
	if (log->in_node)
		r = profile_need_node(profile, log->node, &node, err);
	if (r == 0 && log->in_node)
		r = cluster_node_open(profile, node, &reader.at, err);
	if (r == 0)
		r = read_end(&reader, 0, &nothing, err);
	if (r < 0)
		return r;
	*ret = reader;
	reader = LOG_READER_INIT;
	return 0;
}

int log_reader_last(struct log_reader *reader, unsigned lines, struct strbuf *out,
		    struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(portions); i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		int r = read_end(reader, lines > 0 ? portions[i] : 0, &text, err);
		bool is_all = text.len < portions[i] || portions[i] == MOST;

		if (r < 0)
			return r;
		if (!tail_keep_lines(&text, lines) && !is_all)
			continue;
		strbuf_add_mem(out, text.text, text.len);
		return 0;
	}
	return 0;
}

int log_reader_more(struct log_reader *reader, struct strbuf *out, struct error *err)
{
	if (reader->at.driver)
		return reader->at.driver->files->read_more(&reader->at.spec, reader->path, MOST,
							   &reader->tail, out, err);
	return tail_more(reader->dir, reader->path, MOST, &reader->tail, out, err);
}

void log_reader_release(struct log_reader *reader)
{
	cluster_node_release(&reader->at);
	free(reader->dir);
	free(reader->path);
	tail_release(&reader->tail);
	*reader = LOG_READER_INIT;
}
