/* The Docker daemon in the cache. */

#include "payload/docker.h"

static const struct apart docker = {
	.id = COMPONENT_DOCKER,
	.release = &docker_release,
	.title = "Docker",
	.name = "docker",
	.program = "dockerd",
	.command = "docker-env",
};

int docker_program_open(char **ret_path, struct error *err)
{
	return apart_open(&docker, ret_path, err);
}

int docker_program_ensure(const struct payload_source *source, struct observer *observer,
			  char **ret_path, struct error *err)
{
	return apart_ensure(&docker, source, observer, ret_path, err);
}
