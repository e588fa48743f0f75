/* Shared by the commands of `image`. */

#include "cmd/image-nodes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/say.h"
#include "image/name.h"
#include "node/cluster-node.h"

/* An ID, and the fewest digits of one without its prefix. */
#define ID_PREFIX "sha256:"
#define ID_LEAST  12

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

static bool is_id(const char *word)
{
	const size_t len = strlen(word);

	return strncmp(word, ID_PREFIX, strlen(ID_PREFIX)) == 0 ||
	       (len >= ID_LEAST && len < SHA256_HEX_SIZE &&
		strspn(word, "0123456789abcdef") == len);
}

int image_complete_names(char *const *operands, struct strlist *ret, struct error *err)
{
	for (; *operands; operands++) {
		cleanup_free char *name = NULL;
		int r;

		/* An ID, as a digest or as 'image ls' prints it. */
		if (is_id(*operands)) {
			strlist_addf(ret, "%s%s", **operands == 's' ? "" : ID_PREFIX, *operands);
			continue;
		}
		r = image_name_complete(*operands, &name, err);
		if (r < 0)
			return r;
		strlist_add(ret, name);
	}
	return 0;
}

int image_refuse_tags(const struct command_context *ctx, const struct strlist *tags,
		      struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r = tags->count ? image_complete_names(tags->items, &names, err) : 0;

	return r < 0 ? r : image_refuse_kubernetes(ctx, &names, err);
}

int image_refuse_kubernetes(const struct command_context *ctx, const struct strlist *names,
			    struct error *err)
{
	cleanup_with(strlist_release) struct strlist own = STRLIST_INIT;
	const char *name;
	int r = own_images_list_kubernetes(ctx->profile, &own, err);

	if (r < 0)
		return r;
	strlist_for_each(name, names)
		if (strlist_has(&own, name))
			return error_because(err, &reason_usage, -EINVAL,
					     "'%s' is one of Kubernetes' own images, which the "
					     "cluster needs as it is",
					     name);
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

		const char *name;

		strlist_for_each(name, &image->names)
			strlist_add(ret, shorten_name(name));
		if (image->names.count == 0)
			strlist_addf(ret, "%.12s", image->manifest.digest);
	}
}

/* Say when the nodes called WAITING, which cannot take images now, get them. */
static void tell_waiting(const struct profile *profile, const struct strlist *waiting)
{
	cleanup_with(strlist_release) struct strlist paused = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist stopped = STRLIST_INIT;
	cleanup_free char *paused_text = NULL;
	cleanup_free char *stopped_text = NULL;
	const char *name;

	strlist_for_each(name, waiting) {
		const struct node *node = profile_find_node(profile, name);

		strlist_add(cluster_node_state(profile, node) == NODE_RUNNING ? &paused : &stopped,
			    name);
	}
	paused_text = strlist_join(&paused, ", ");
	stopped_text = strlist_join(&stopped, ", ");
	if (paused.count)
		log_warning("%s %s paused; 'manykube unpause' also updates %s images", paused_text,
			    paused.count == 1 ? "is" : "are", paused.count == 1 ? "its" : "their");
	if (stopped.count)
		log_warning("%s %s not running; 'manykube start' also updates %s images",
			    stopped_text, stopped.count == 1 ? "is" : "are",
			    stopped.count == 1 ? "its" : "their");
}

int image_spread(struct command_context *ctx, const struct strlist *nodes,
		 const struct strlist *images, const char *done, struct observer *observer,
		 struct error *err)
{
	cleanup_with(own_images_outcome_release) struct own_images_outcome outcome =
		OWN_IMAGES_OUTCOME_INIT;
	cleanup_free char *shown = strlist_join_some(images, 5);
	cleanup_free char *ready = NULL;
	int r = own_images_spread(ctx->profile, nodes, observer, &outcome, err);

	if (r < 0)
		return r;
	ready = strlist_join(&outcome.ready, ", ");
	tell_waiting(ctx->profile, &outcome.waiting);
	if (ctx->quiet && !events_on_stdout())
		return 0;
	if (outcome.ready.count == 0)
		say_done("%s %s, which no node has yet.", done, shown);
	else
		say_done("%s %s on %s%s.", done, shown,
			 outcome.ready.count == ctx->profile->node_count ? "all nodes: " : "",
			 ready);
	return 0;
}
