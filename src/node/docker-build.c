/* Building images with the Docker daemon of a node. */

#include "node/docker-build.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "image/room.h"
#include "node/docker-api.h"

void build_options_release(struct build_options *options)
{
	strlist_release(&options->tags);
	strlist_release(&options->args);
	strlist_release(&options->labels);
	strlist_release(&options->hosts);
	*options = BUILD_OPTIONS_INIT;
}

/* Add KEY to a query unless VALUE is NULL. */
static void add_value(struct strbuf *query, const char *key, const char *value)
{
	if (!value)
		return;
	strbuf_addf(query, "&%s=", key);
	engine_add_encoded(query, value);
}

/* Add PAIRS, NAME=VALUE, as an object of JSON; NAME alone is null. */
static void add_pairs(struct strbuf *query, const char *key, const struct strlist *pairs)
{
	json_auto_t *object = json_object();
	cleanup_free char *text = NULL;
	const char *pair;

	strlist_for_each(pair, pairs) {
		const char *value = strchr(pair, '=');
		size_t len = value ? (size_t)(value - pair) : strlen(pair);
		cleanup_free char *name = xstrndup(pair, len);

		(void)json_object_set_new(object, name,
					  value ? json_string(value + 1) : json_null());
	}
	text = json_dumps(object, JSON_COMPACT);
	if (pairs->count > 0)
		add_value(query, key, text);
}

char *docker_build_path(const struct build_options *options, const char *dockerfile)
{
	cleanup_with(strbuf_release) struct strbuf query = STRBUF_INIT;
	const char *item;

	/* Version 2 is BuildKit. */
	strbuf_add(&query, "/build?version=2");
	strlist_for_each(item, &options->tags)
		add_value(&query, "t", item);
	strlist_for_each(item, &options->hosts)
		add_value(&query, "extrahosts", item);
	add_value(&query, "dockerfile", dockerfile);
	add_value(&query, "remote", options->remote);
	add_value(&query, "target", options->target);
	add_value(&query, "platform", options->platform);
	add_value(&query, "networkmode", options->network);
	add_value(&query, "nocache", options->no_cache ? "1" : NULL);
	add_value(&query, "pull", options->pull ? "1" : NULL);
	add_pairs(&query, "buildargs", &options->args);
	add_pairs(&query, "labels", &options->labels);
	return strbuf_take(&query);
}

/* A build under way. */
struct build {
	struct build_context *context;
	struct build_answer *answer;
	build_show_fn *show;
	void *show_data;
};

static ssize_t read_context(void *data, char *to, size_t size, struct error *err)
{
	struct build *build = data;

	return build->context ? build_context_read(build->context, to, size, err) : 0;
}

static int take_progress(void *data, const char *bytes, size_t len, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct build *build = data;
	int r = build_answer_add(build->answer, bytes, len, &text, err);

	if (text.len > 0)
		build->show(text.text, build->show_data);
	return r;
}

/* A step of a build may print nothing for long. */
#define SILENT_SECONDS (30 * 60)

int docker_build(const struct profile *profile, const struct node *node,
		 const struct build_options *options, struct build_context *context,
		 build_show_fn *show, void *data, struct build_answer *ret_answer,
		 struct error *err)
{
	cleanup_with(build_answer_release) struct build_answer answer = BUILD_ANSWER_INIT;
	struct build build = { context, &answer, show, data };
	cleanup_free char *path = docker_build_path(
		options, context ? build_context_dockerfile(context) : options->dockerfile);
	const struct engine_request request = { .path = path,
						.read = read_context,
						.type = "application/x-tar",
						.take = take_progress,
						.data = &build,
						.silent_seconds = SILENT_SECONDS };
	int r = docker_api_send(profile, node, &request, err);

	if (r == -ETIMEDOUT)
		return error_hint(err, r,
				  "the build was cancelled; a step that prints something from "
				  "time to time may take as long as it wants");
	if (r < 0)
		return r;
	if (!answer.failure && !*answer.image_id)
		return error_set(err, -EBADMSG,
				 "the Docker daemon of node '%s' ended the build without a result",
				 node->name);
	*ret_answer = answer;
	answer = BUILD_ANSWER_INIT;
	return 0;
}

/* The daemon may need minutes before an archive begins, but then it sends one. */
#define SLOW_SECONDS 600

/* An archive that is being written. */
struct saved {
	int fd;
	struct room room;
};

static int take_archive(void *data, const char *bytes, size_t len, struct error *err)
{
	struct saved *saved = data;
	int r = room_write(&saved->room, saved->fd, bytes, len, err);

	if (r == -ENOSPC)
		(void)error_hint(err, r, "free some space, then run the same command again");
	return r < 0 ? error_prefix(err, r, "cannot store the image on this host") : 0;
}

int docker_save(const struct profile *profile, const struct node *node, const struct strlist *names,
		int fd, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf path = STRBUF_INIT;
	struct saved saved = { .fd = fd };
	struct engine_request request = { .take = take_archive,
					  .data = &saved,
					  .slow_seconds = SLOW_SECONDS };
	const char *name;
	int r = room_open(&saved.room, fd, 0, err);

	if (r < 0)
		return r;
	strbuf_add(&path, "/images/get?");
	strlist_for_each(name, names) {
		strbuf_addf(&path, "%snames=", name_i > 0 ? "&" : "");
		engine_add_encoded(&path, name);
	}
	request.path = path.text;
	return docker_api_send(profile, node, &request, err);
}
