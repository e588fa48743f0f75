/* `node`: the nodes of a cluster. */

#include "cmd/command.h"

static const struct command *const subcommands[] = {
	&cmd_node_list,   &cmd_node_add,   &cmd_node_start,   &cmd_node_stop,    &cmd_node_set,
	&cmd_node_delete, &cmd_node_pause, &cmd_node_unpause, &cmd_node_recover, NULL,
};

const struct command cmd_node = {
	.name = "node",
	.elsewhere = "nodes",
	.summary = "work with the nodes of a cluster",
	.examples = "manykube node list\n"
		    "manykube node list -p dev -o wide\n",
	.subcommands = subcommands,
};
