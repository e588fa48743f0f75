/* What keeps a node from coming up. */

#include "node/trouble.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "driver/agent-state.h"
#include "driver/tree.h"
#include "node/cluster-node.h"
#include "node/node-files.h"

/* A kubelet that was killed comes back at once; one that can't work ends each time. */
#define RESTARTS_MOST 4
#define LOG_BYTES     16384
#define WORDS_MOST    400

char *trouble_last_words(const char *text)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *best = NULL;
	const char *line;

	strlist_split(&lines, text, '\n');
	strlist_for_each(line, &lines) {
		const char *why = strstr(line, "err=");

		if (why && (line[0] == 'E' || line[0] == 'F'))
			best = why + strlen("err=");
		else if (strncmp(line, "panic: ", 7) == 0 || strncmp(line, "Error: ", 7) == 0)
			best = line;
	}
	return best ? xstrndup(best, WORDS_MOST) : NULL;
}

/* The end of NODE's kubelet.log; the node's root can write there, so links are not followed. */
static void read_log(const char *tree, struct strbuf *out)
{
	cleanup_fd int fd = -1;
	struct stat st;

	if (below_open(tree, "var/log/kubelet.log", O_RDONLY, &fd, NULL) < 0 || fstat(fd, &st) < 0)
		return;
	if (st.st_size > LOG_BYTES)
		(void)lseek(fd, -LOG_BYTES, SEEK_END);
	(void)file_read_fd(fd, LOG_BYTES * 2, out, NULL);
}

/* What can be done; of a node that never joined there is nothing to lose. */
static int hint_at(const struct node *node, struct error *err)
{
	if (node->phase == NODE_PLANNED && !node->primary)
		return error_hint(
			err, -EIO,
			"'manykube logs %s --service=kubelet' has all that it said; if its "
			"settings are wrong, 'manykube node delete %s', for it has never "
			"joined, and add it with others",
			node->name, node->name);
	return error_hint(
		err, -EIO,
		"'manykube logs %s --service=kubelet' has all that it said; if its settings are "
		"wrong, correct what 'manykube config view' prints and apply that: 'manykube "
		"apply -f FILE'",
		node->name);
}

int trouble_check_node(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;
	cleanup_free char *folder = node_folder(profile, node);
	cleanup_free char *tree = node_tree(profile, node);
	cleanup_free char *words = NULL;

	if (node_tree_read_state(folder, &text, NULL) < 0)
		return 0;
	agent_state_parse(text.text, &state);
	/* What a node that does not run has left behind says nothing of now. */
	if (agent_state_failures(&state, "kubelet") < RESTARTS_MOST ||
	    cluster_node_state(profile, node) != NODE_RUNNING)
		return 0;
	read_log(tree, &log);
	words = log.len ? trouble_last_words(log.text) : NULL;
	(void)error_because(err, &reason_control_plane, -EIO,
			    "the kubelet of node '%s' ends again and again: %s", node->name,
			    words ? words : "its log does not say why");
	return hint_at(node, err);
}

int trouble_check(const struct profile *profile, const bool *part, struct error *err)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		int r = !part || part[node - profile->nodes]
				? trouble_check_node(profile, node, err)
				: 0;

		if (r < 0)
			return r;
	}
	return 0;
}
