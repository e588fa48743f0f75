/* Shared by the commands that use the Docker daemons of nodes. */
#pragma once

#include "cmd/command.h"

/* The variables that lead a Docker client to the daemon of NODE. */
struct docker_client {
	char *host;     /* DOCKER_HOST */
	char *cert_dir; /* DOCKER_CERT_PATH */
};

#define DOCKER_CLIENT_INIT ((struct docker_client){ NULL })

void docker_client_release(struct docker_client *client);

/*
 * Make sure that the daemon of node NAME of CTX's cluster answers; CTX's profile is loaded again if
 * that changes it.  Only starting the daemon needs root and the cluster's lock.
 */
int docker_daemon_need(struct command_context *ctx, const char *name, struct docker_client *ret,
		       struct error *err);

/* Build the daemon's program unless it is in the cache. */
int docker_daemon_download(struct command_context *ctx, struct error *err);

/* Stop the daemon of node NAME. */
int docker_daemon_stop(struct command_context *ctx, const char *name, struct error *err);
