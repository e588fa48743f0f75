/* `logs`: what the nodes' services have to say. */

#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/tail.h"
#include "cmd/command.h"

#define LOOK_EVERY_MS 250

static struct {
	const char *node;
	bool follow;
	unsigned length;
} arg = {
	.length = 60,
};

static const struct opt options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE", "only this node's logs",
		   .complete = COMPLETE_NODE),
	OPT_FLAG('f', "follow", &arg.follow, "go on with what comes, until Ctrl-C"),
	OPT_COUNT(0, "length", &arg.length, "how many lines of each log to show"),
	OPT_END,
};

/* The logs of a node below the profile's folder; %s is its name. */
static const struct {
	const char *service;
	const char *path;
} sources[] = {
	{ "agent", "nodes/%s/agent.log" },
	{ "containerd", "nodes/%s/var/log/containerd.log" },
	{ "kubelet", "nodes/%s/var/log/kubelet.log" },
	{ "kubeadm", "logs/kubeadm-%s.log" },
};

/* A log that is shown. */
struct source {
	char *title; /* "node-1: kubelet" */
	struct tail tail;
};

struct sources {
	struct source *items;
	size_t count;
	const char *last_title; /* the heading that was printed last */
};

static void sources_release(struct sources *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->items[i].title);
		tail_release(&all->items[i].tail);
	}
	free(all->items);
}

/* NODE's name put into FORMAT, which has one %s. */
static char *path_of(const struct profile *profile, const char *format, const char *node)
{
	const char *gap = strstr(format, "%s");

	return xasprintf("%s/%.*s%s%s", profile->folder, (int)(gap - format), format, node,
			 gap + 2);
}

/* Open the logs of NODE that there are; those that we may not read are named. */
static void open_logs(struct sources *all, const struct profile *profile, const char *node)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		cleanup_with(error_clear) struct error err = ERROR_INIT;
		cleanup_free char *path = path_of(profile, sources[i].path, node);
		struct tail tail;
		int r = tail_open(path, &tail, &err);

		if (r == -ENOENT)
			continue;
		if (r < 0) {
			log_warning("%s", err.text);
			continue;
		}
		all->items = xrealloc(all->items, all->count + 1, sizeof(*all->items));
		all->items[all->count++] = (struct source){
			.title = xasprintf("%s: %s", node, sources[i].service),
			.tail = tail,
		};
	}
}

static void print(struct sources *all, const struct source *source, const struct strbuf *text)
{
	if (text->len == 0)
		return;
	if (all->last_title != source->title)
		printf("%s==> %s <==\n", all->last_title ? "\n" : "", source->title);
	all->last_title = source->title;
	(void)fwrite(text->text, 1, text->len, stdout);
	if (text->text[text->len - 1] != '\n')
		printf("\n");
}

/* Whether somebody still reads what we write: without new lines no write would tell. */
static bool has_reader(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) == 0 && fflush(stdout) == 0;
}

static int follow(struct sources *all, struct error *err)
{
	/* Ctrl-C is how one ends this, nothing that went wrong. */
	(void)signal(SIGINT, SIG_DFL);
	while (has_reader()) {
		clock_rest_ms(LOOK_EVERY_MS);
		for (size_t i = 0; i < all->count; i++) {
			cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
			int r = tail_more(&all->items[i].tail, &text, err);

			if (r < 0)
				return r;
			print(all, &all->items[i], &text);
		}
	}
	return EXIT_FAILURE;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(sources_release) struct sources all = { NULL };
	struct node *node = NULL;
	int r;

	if (arg.node) {
		r = profile_need_node(ctx->profile, arg.node, &node, err);
		if (r < 0)
			return r;
		open_logs(&all, ctx->profile, node->name);
	} else {
		profile_for_each_node(node, ctx->profile)
			open_logs(&all, ctx->profile, node->name);
	}
	if (all.count == 0)
		return error_set(err, -ENOENT, "cluster '%s' has no logs that can be read",
				 ctx->profile->name);
	for (size_t i = 0; i < all.count; i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

		r = tail_last(&all.items[i].tail, arg.length, &text, err);
		if (r < 0)
			return r;
		print(&all, &all.items[i], &text);
	}
	return arg.follow ? follow(&all, err) : 0;
}

const struct command cmd_logs = {
	.name = "logs",
	.summary = "show the last lines of the nodes' logs",
	.description = "The agent, containerd, the kubelet and kubeadm of every node.",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = options,
	.examples = "manykube logs\n"
		    "manykube logs -n node-2 --length 200\n"
		    "manykube logs -f\n",
	.run = run,
};
