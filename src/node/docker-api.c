/* Requests to the Docker daemon of a node. */

#include "node/docker-api.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "node/docker.h"
#include "record/ports.h"

int docker_api_send(const struct profile *profile, const struct node *node,
		    const struct engine_request *request, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf cert = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf key = STRBUF_INIT;
	cleanup_free char *url = xasprintf("https://%s:%d", node->address, DOCKER_PORT);
	cleanup_free char *shown = xasprintf("the Docker daemon of node '%s'", node->name);
	const struct engine_place place = {
		.shown = shown, .url = url, .ca = &ca, .cert = &cert, .key = &key
	};
	int r = docker_read_client(profile, &ca, &cert, &key, err);

	return r < 0 ? r : engine_send(&place, request, err);
}
