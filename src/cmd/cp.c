/* `cp`: copy files and directories to, from and between nodes. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "cmd/command.h"
#include "node/cluster-node.h"
#include "node/copy.h"

/* An operand: a path, on a node if prefixed with NODE:. */
struct operand {
	const char *path;
	struct cluster_node at;
	bool on_node;
};

static void operand_release(struct operand *operand)
{
	cluster_node_release(&operand->at);
}

static int set_node(const struct profile *profile, const struct node *node, struct operand *operand,
		    struct error *err)
{
	if (operand->path[0] != '/') {
		error_because(err, &reason_usage, -EINVAL,
			      "'%s' on node '%s' is not an absolute path", operand->path,
			      node->name);
		return error_hint(err, -EINVAL, "see 'manykube cp --help'");
	}
	operand->on_node = true;
	return cluster_node_open(profile, node, &operand->at, err);
}

static int read_operand(const struct profile *profile, const char *text, struct operand *operand,
			struct error *err)
{
	const char *colon = strchr(text, ':');
	cleanup_free char *name = colon ? xstrndup(text, (size_t)(colon - text)) : NULL;
	struct node *node;
	int r;

	operand->path = text;
	if (!*text)
		return error_because(err, &reason_usage, -EINVAL, "empty path");
	/* ./a:b is a file on the host. */
	if (!name || !parse_is_dns_label(name))
		return 0;
	r = profile_need_node(profile, name, &node, err);
	if (r < 0)
		return r;
	operand->path = colon + 1;
	return set_node(profile, node, operand, err);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(operand_release) struct operand from = { NULL };
	cleanup_with(operand_release) struct operand to = { NULL };
	const struct node *primary = profile_primary(ctx->profile);
	int r = read_operand(ctx->profile, ctx->argv[0], &from, err);

	if (r == 0)
		r = read_operand(ctx->profile, ctx->argv[1], &to, err);
	if (r == 0 && !from.on_node && !to.on_node)
		r = primary ? set_node(ctx->profile, primary, &to, err)
			    : error_because(err, &reason_node_missing, -ENOENT,
					    "the cluster has no primary control plane");
	if (r < 0)
		return r;
	return copy_path(&(struct copy_end){ from.on_node ? &from.at : NULL, from.path },
			 &(struct copy_end){ to.on_node ? &to.at : NULL, to.path }, err);
}

const struct command cmd_cp = {
	.name = "cp",
	.elsewhere = "copy",
	.operands = "[NODE:]SOURCE [NODE:]TARGET",
	.summary = "copy a file or directory to, from or between nodes",
	.description =
		"Copies like 'cp -r': into TARGET if it is a directory, otherwise to that name. A "
		"path without NODE is on this host; if neither has one, TARGET is on the primary "
		"control plane. Paths on nodes are absolute. Modes are kept, and links in "
		"directories stay links. Files on nodes belong to root. Files on this host belong "
		"to you and are written with your rights, also under sudo. A file appears under "
		"its name only when it is complete.",
	.examples = "manykube cp app.yaml /root/app.yaml\n"
		    "manykube cp ./site node-2:/srv\n"
		    "manykube cp node-1:/var/log/pods ./pods\n"
		    "manykube cp node-1:/etc/kubernetes/pki/ca.crt node-2:/root/\n",
	.min_operands = 2,
	.max_operands = 2,
	.complete = COMPLETE_NODE_FILE,
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.run = run,
};
