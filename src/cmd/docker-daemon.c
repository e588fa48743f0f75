/* Shared by the commands that use the Docker daemons of nodes. */

#include "cmd/docker-daemon.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cmd/prepare.h"
#include "node/docker-service.h"
#include "node/docker.h"
#include "payload/docker.h"
#include "record/ports.h"

void docker_client_release(struct docker_client *client)
{
	free(client->host);
	free(client->cert_dir);
	*client = DOCKER_CLIENT_INIT;
}

static int need_root(const char *what, struct error *err)
{
	if (geteuid() == 0)
		return 0;
	(void)error_because(err, &reason_not_root, -EPERM, "only root can %s", what);
	return error_hint(err, -EPERM, "run the command as root, for instance with sudo");
}

/* Take the cluster's lock, and load its profile and NODE again. */
static int lock_cluster(struct command_context *ctx, const char *name, int *ret_lock,
			struct node **ret_node, struct error *err)
{
	int r = command_take_lock(ctx, "manykube docker-env", ret_lock, err);

	if (r < 0)
		return r;
	profile_release(ctx->profile);
	r = profile_load(ctx->profile_name, ctx->profile, err);
	return r < 0 ? r : profile_need_node(ctx->profile, name, ret_node, err);
}

static int start_daemon(struct command_context *ctx, const char *name, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_fd int lock = -1;
	struct node *node;
	int r = need_root("start a Docker daemon in a node", err);

	if (r == 0)
		r = lock_cluster(ctx, name, &lock, &node, err);
	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	return docker_service_up(ctx->profile, node, progress_observer(progress), err);
}

int docker_daemon_need(struct command_context *ctx, const char *name, struct docker_client *ret,
		       struct error *err)
{
	struct node *node;
	int r = profile_need_node(ctx->profile, name, &node, err);

	if (r == 0)
		r = docker_service_check(node, err);
	if (r < 0)
		return r;
	if (!node->docker || docker_ask(ctx->profile, node, NULL) < 0) {
		cleanup_free char *word = xstrdup(name);

		r = start_daemon(ctx, word, err);
		if (r == 0)
			r = profile_need_node(ctx->profile, word, &node, err);
		if (r < 0)
			return r;
	}
	*ret = (struct docker_client){
		.host = xasprintf("tcp://%s:%d", node->address, DOCKER_PORT),
		.cert_dir = docker_client_dir(ctx->profile),
	};
	return 0;
}

int docker_daemon_download(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_free char *program = NULL;
	int r = need_root("put a Docker daemon into the cache", err);

	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	return docker_program_ensure(NULL, progress_observer(progress), &program, err);
}

int docker_daemon_stop(struct command_context *ctx, const char *name, struct error *err)
{
	cleanup_fd int lock = -1;
	struct node *node;
	int r = need_root("stop the Docker daemon of a node", err);

	if (r == 0)
		r = lock_cluster(ctx, name, &lock, &node, err);
	return r < 0 ? r : docker_service_down(ctx->profile, node, err);
}
