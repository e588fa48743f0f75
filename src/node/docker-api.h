/* Requests to the Docker daemon of a node. */
#pragma once

#include "engine/request.h"
#include "record/profile.h"

/* Send REQUEST to the daemon of NODE, without a limit of time; errors are those of engine_send().
 */
int docker_api_send(const struct profile *profile, const struct node *node,
		    const struct engine_request *request, struct error *err);
