/* Detection of nodes that will never come up. */

#include "node/trouble.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "driver/agent-state.h"
#include "node/cluster-node.h"

/* A kubelet that was killed runs again after one restart; one that cannot work exits every time. */
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

/* Add a hint on what to do; a node that has never joined can simply be deleted. */
static int hint_at_remedy(const struct node *node, struct error *err)
{
	if (node->phase == NODE_PLANNED && !node->primary)
		return error_hint(
			err, -EIO,
			"'manykube logs %s --service=kubelet' shows its whole log; if its "
			"settings are wrong, run 'manykube node delete %s' (it has never "
			"joined) and add it with other settings",
			node->name, node->name);
	return error_hint(
		err, -EIO,
		"'manykube logs %s --service=kubelet' shows its whole log; if its settings are "
		"wrong, edit the output of 'manykube config view' and apply it: 'manykube "
		"apply -f FILE'",
		node->name);
}

static int lacks_programs(const struct node *node, struct error *err)
{
	(void)error_because(err, &reason_node_failed, -EIO,
			    "the programs of node '%s' are gone: their directory in the cache was "
			    "removed while it ran",
			    node->name);
	return error_hint(err, -EIO,
			  "'manykube node stop %s' and 'manykube node start %s' restore them",
			  node->name, node->name);
}

int trouble_check_node(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(tail_release) struct tail tail = TAIL_INIT;
	cleanup_free char *words = NULL;

	if (cluster_node_open(profile, node, &at, NULL) < 0 ||
	    at.driver->files->read_state(&at.spec, &text, NULL) < 0)
		return 0;
	agent_state_parse(text.text, &state);
	/* The state file of a node that does not run is out of date. */
	if (agent_state_failures(&state, "kubelet") < RESTARTS_MOST ||
	    at.driver->query(&at.spec) != NODE_RUNNING)
		return 0;
	if (at.driver->lacks_programs(&at.spec))
		return lacks_programs(node, err);
	(void)at.driver->files->read_end(&at.spec, "/var/log/kubelet.log", LOG_BYTES, &tail, &log,
					 NULL);
	words = log.len ? trouble_last_words(log.text) : NULL;
	(void)error_because(err, &reason_control_plane, -EIO,
			    "the kubelet of node '%s' keeps exiting: %s", node->name,
			    words ? words : "its log does not say why");
	return hint_at_remedy(node, err);
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
