/* `worker`: another name for what is done with nodes. */

#include "cmd/command.h"

static const struct command *const subcommands[] = {
	&cmd_node_list, &cmd_worker_create, &cmd_node_start, &cmd_node_stop, &cmd_node_delete,
	&cmd_ssh,       &cmd_status,        &cmd_logs,       &cmd_ip,        NULL,
};

const struct command cmd_worker = {
	.name = "worker",
	.summary = "register, start, stop and look at workers",
	.description = "The same as 'node', but that 'create' only registers a worker; 'start' "
		       "makes what is missing.",
	.examples = "manykube worker create database --memory=4g\n"
		    "manykube worker start database\n"
		    "manykube worker list\n",
	.subcommands = subcommands,
};
