/*
 * A control plane for the front door's tests: one process that answers /readyz over TLS, and
 * on connections that begin otherwise does what their first byte says:
 * 'n' sends its name and then whatever it gets; 'e' sends everything back and, after the
 * client's end, "end".
 */
#pragma once

#include <sys/types.h>

struct fake_backend {
	pid_t pid;
	int port;
	volatile int
		*status; /* the HTTP status of /readyz, 0: no answer; may be changed any time */
};

/* Listen on PORT (0: any) of 127.0.0.1. */
struct fake_backend fake_backend_start(const char *name, int port);

/* Send SIGNAL to all of its processes; SIGKILL waits for the end. */
void fake_backend_signal(const struct fake_backend *backend, int signal);

/* A port that is free now. */
int fake_free_port(void);

/* Connect to 127.0.0.1:PORT with limits of 10 s on everything; -1 if that fails. */
int fake_connect(int port);
