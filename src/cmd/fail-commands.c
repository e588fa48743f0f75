/* `fail`: the failures that can be caused. */

#include "cmd/command.h"

static const struct command *const subcommands[] = {
	&cmd_fail_freeze,  &cmd_fail_kill,
	&cmd_fail_kubelet, &cmd_fail_runtime,
	&cmd_fail_api,     &cmd_fail_etcd,
	&cmd_fail_disk,    &cmd_fail_memory,
	&cmd_fail_clock,   &cmd_fail_partition,
	&cmd_fail_slow,    &cmd_fail_list,
	&cmd_fail_run,     NULL,
};

const struct command cmd_fail = {
	.name = "fail",
	.elsewhere = "chaos",
	.summary = "cause failures of nodes and their network, to see what the cluster does",
	.description = "A failure lasts until 'manykube heal', or for the time of --for; 'start' "
		       "does not end it.",
	.examples = "manykube fail freeze node-2 --for=2m\n"
		    "manykube fail partition node-3 --from=node-1,node-2\n"
		    "manykube fail list\n",
	.subcommands = subcommands,
};
