/* The nftables of network policies in nodes. */

#include "network/policy-rules.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "node/cluster-node.h"
#include "policy/model.h"
#include "watch/nodes.h"

#define TABLE   "manykube-policy"
#define NFT_MS  10000
#define NO_NODE "the cluster has no node '%s'"

/* A file in memory that contains TEXT, to be read from its beginning. */
static int make_file(const char *text, int *ret_fd, struct error *err)
{
	cleanup_fd int fd = memfd_create("rules", MFD_CLOEXEC);

	if (fd < 0 || file_write_all(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return error_sys(err, "cannot make a file in memory");
	*ret_fd = take_fd(fd);
	return 0;
}

/* In a node with a kernel of its own, its nft loads the rules. */
static int run_nft(const struct cluster_node *at, const char *rules, struct error *err)
{
	cleanup_free char *text = xasprintf(
		"add table inet " TABLE "\ndelete table inet " TABLE "\n%s%s%s",
		rules ? "table inet " TABLE " {\n" : "", rules ? rules : "", rules ? "}\n" : "");
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	struct process_options options = { 0 };
	cleanup_fd int in = -1;
	int r = make_file(text, &in, err);

	if (r < 0)
		return r;
	options.stdin_fd = in;
	r = at->driver->spawn(&at->spec, ARGV("nft", "-f", "-"), &options, &process, err);
	if (r == 0)
		r = process_wait(&process, clock_now_ms() + NFT_MS, err);
	return r > 0 ? error_set(err, -EIO, "nft in node '%s' failed with status %d", at->spec.name,
				 r)
		     : r;
}

int policy_rules_install(const struct profile *profile, const struct node *node, const char *rules,
			 struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r == 0)
		r = at.driver->filter ? at.driver->filter(&at.spec, TABLE, rules, err)
				      : run_nft(&at, rules, err);
	return r < 0 ? error_prefix(err, r, "cannot enforce network policies") : 0;
}

int policy_rules_install_at(const char *dir, const char *name, const char *rules, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const char *slash = strrchr(dir, '/');
	const struct node *node;
	int r = profile_load(slash ? slash + 1 : dir, &profile, err);

	if (r < 0)
		return r;
	node = profile_find_node(&profile, name);
	if (!node || strcmp(profile.dir, dir) != 0)
		return error_set(err, -ENOENT, NO_NODE, name);
	return policy_rules_install(&profile, node, rules, err);
}

void policy_rules_restore(const struct profile *profile, const struct node *node)
{
	cleanup_with(policy_model_release) struct policy_model model = POLICY_MODEL_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = watch_nodes_path(profile->dir, node->name);
	cleanup_free char *rules = NULL;
	int r = file_read(path, WATCH_NODES_MOST, &text, &why);

	if (r == -ENOENT)
		return;
	if (r == 0)
		r = policy_model_parse(text.text, text.len, &model, &why);
	if (r == 0) {
		rules = policy_model_render(&model, true);
		r = policy_rules_install(profile, node, rules, &why);
	}
	if (r < 0)
		log_warning("network policies do not hold on node '%s' until one changes: %s",
			    node->name, why.text);
}
