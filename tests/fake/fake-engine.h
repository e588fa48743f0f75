/*
 * A container engine for tests: Docker's API on a Unix socket, served by a child process that keeps
 * containers, volumes and images in memory.
 *
 * A container that is started is a process with the arguments of its entry point, run by the
 *program in MANYKUBE_AGENT; it has the network and all else of the test.
 *
 * Files in its directory change what it does, and say what it did:
 *
 *	answer      contains a status and a body, which all requests are answered with
 *	break       contains a number: after that many further requests that change something, the
 *	            connection is closed without an answer; the file is removed
 *	registry    is put before the names of images that containers say they have, as Podman does
 *	requests    has a line for each request: METHOD PATH
 *	things      has a line for each container, volume and image: KIND NAME, sorted
 */
#pragma once

#include <sys/types.h>

struct fake_engine {
	pid_t pid;
	char *socket;
};

#define FAKE_ENGINE_INIT ((struct fake_engine){ .pid = -1 })

/* Start the engine in DIR and let DOCKER_HOST name it; exits on failure. */
void fake_engine_start(const char *dir, struct fake_engine *ret);
void fake_engine_stop(struct fake_engine *engine);
