/* `worker`: the commands of `node`, for workers only. */

#include "cmd/command.h"

static const struct command *const subcommands[] = {
	&cmd_worker_list,
	&cmd_worker_create,
	&cmd_worker_start,
	&cmd_worker_stop,
	&cmd_worker_delete,
	&cmd_worker_ssh,
	&cmd_worker_status,
	&cmd_worker_logs,
	&cmd_worker_ip,
	&cmd_worker_docker_env,
	NULL,
};

const struct command cmd_worker = {
	.name = "worker",
	.summary = "work with the workers of a cluster",
	.description =
		"Like 'node', but for workers only: control planes are not listed, and naming one "
		"is an error. 'create' only registers a worker; 'start' creates it.",
	.examples = "manykube worker create database --memory=4g\n"
		    "manykube worker start database\n"
		    "manykube worker list\n",
	.subcommands = subcommands,
};
