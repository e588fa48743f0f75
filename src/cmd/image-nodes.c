/* Shared by the commands of `image`. */

#include "cmd/image-nodes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/process.h"
#include "cli/events.h"
#include "cli/say.h"
#include "image/name.h"
#include "node/cluster-node.h"

int image_need_nodes(const struct command_context *ctx, const struct strlist *names,
		     struct error *err)
{
	const char *name;

	strlist_for_each(name, names) {
		struct node *node;
		int r = profile_need_node(ctx->profile, name, &node, err);

		if (r < 0)
			return r;
	}
	return 0;
}

const struct strlist *image_chosen(const struct strlist *names)
{
	return names->count ? names : NULL;
}

int image_need_awake(const struct command_context *ctx, const char *name, struct node **ret_node,
		     struct error *err)
{
	struct node *node = profile_primary(ctx->profile);
	int r = name ? profile_need_node(ctx->profile, name, &node, err) : 0;

	if (r < 0)
		return r;
	if (!node || cluster_node_state(ctx->profile, node) != NODE_RUNNING) {
		(void)error_because(err, &reason_node_not_running, -ESRCH, "node '%s' does not run",
				    node ? node->name : "(primary)");
		return node ? error_hint(err, -ESRCH, "'manykube node start %s' starts it",
					 node->name)
			    : -ESRCH;
	}
	*ret_node = node;
	return cluster_node_need_awake(ctx->profile, node, err);
}

int image_complete_names(char *const *operands, struct strlist *ret, struct error *err)
{
	for (; *operands; operands++) {
		cleanup_free char *name = NULL;
		int r;

		/* An id or a digest. */
		if (strncmp(*operands, "sha256:", 7) == 0) {
			strlist_add(ret, *operands);
			continue;
		}
		r = image_name_complete(*operands, &name, err);
		if (r < 0)
			return r;
		strlist_add(ret, name);
	}
	return 0;
}

/* NAME as people write it: app:latest for docker.io/library/app:latest. */
static const char *shorten_name(const char *name)
{
	static const char *const usual[] = { "docker.io/library/", "docker.io/" };

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (strncmp(name, usual[i], strlen(usual[i])) == 0)
			return name + strlen(usual[i]);
	return name;
}

void image_list_names(const struct image_list *list, struct strlist *ret)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct image *image = &list->items[i];

		if (image->names.count)
			strlist_add(ret, shorten_name(image->names.items[0]));
		else
			strlist_addf(ret, "sha256:%.12s", image->config.digest);
	}
}

int image_spread(struct command_context *ctx, const struct strlist *nodes,
		 const struct strlist *images, const char *done, struct observer *observer,
		 struct error *err)
{
	cleanup_with(own_images_outcome_release) struct own_images_outcome outcome =
		OWN_IMAGES_OUTCOME_INIT;
	cleanup_free char *shown = strlist_join_some(images, 5);
	cleanup_free char *waiting = NULL;
	cleanup_free char *ready = NULL;
	int r = own_images_spread(ctx->profile, nodes, observer, &outcome, err);

	if (r < 0)
		return r;
	waiting = strlist_join(&outcome.waiting, ", ");
	ready = strlist_join(&outcome.ready, ", ");
	if (outcome.waiting.count)
		log_warning("%s %s not running or paused, and will be updated at the next start",
			    waiting, outcome.waiting.count == 1 ? "is" : "are");
	if (!ctx->quiet || events_on_stdout())
		say_done("%s %s on %s%s.", done, shown,
			 outcome.ready.count == ctx->profile->node_count ? "all nodes: "
			 : outcome.ready.count == 0                      ? "no node"
									 : "",
			 ready);
	return 0;
}

int image_add_from_node(struct command_context *ctx, const struct node *node, char *const *argv,
			const char *shown, const struct strlist *nodes, struct observer *observer,
			struct image_list *ret_added, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	cleanup_free char *log = xasprintf("%s/logs/images-%s.log", ctx->profile->dir, node->name);
	struct process_options options = { .no_stdin = true, .dies_with_us = true };
	cleanup_fd int output = -1;
	int ends[2];
	int status;
	int r = cluster_node_open(ctx->profile, node, &at, err);

	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	output = ends[0];
	options.stdout_fd = ends[1];
	r = at.driver->spawn(&at.spec, argv, &options, &process, err);
	(void)close(ends[1]);
	if (r < 0)
		return r;
	r = own_images_add(ctx->profile, output, shown, nodes, observer, ret_added, err);
	if (r < 0)
		return r;
	status = process_wait(&process, 0, err);
	return status > 0 ? error_because(err, &reason_node_failed, -EIO,
					  "node '%s' could not write '%s'; see '%s'", node->name,
					  shown, log)
			  : status;
}
