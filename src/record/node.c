/* The record of one node. */

#include "record/node.h"

#include <stdlib.h>
#include <string.h>

static const char *const phase_words[] = {
	[NODE_PLANNED] = "planned",
	[NODE_JOINED] = "joined",
	[NODE_LEAVING] = "leaving",
};

const char *node_phase_word(enum node_phase phase)
{
	assert((size_t)phase < ARRAY_SIZE(phase_words));
	return phase_words[phase];
}

int node_phase_parse(const char *word, enum node_phase *ret, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(phase_words); i++) {
		if (strcmp(phase_words[i], word) == 0) {
			*ret = (enum node_phase)i;
			return 0;
		}
	}
	return error_set(err, -EINVAL, "'%s' is not a phase of a node", word);
}

void node_release(struct node *node)
{
	settings_release_node(&node->settings);
	free(node->pod_cidr);
	free(node->address6);
	free(node->pod_cidr6);
	*node = (struct node){ .pod_cidr = NULL };
}
