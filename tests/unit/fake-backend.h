/*
 * A control plane for tests of the front door: a process that answers /readyz over TLS.  On other
 * connections, the first byte selects a behaviour: 'n' sends its name and then echoes all data; 'e'
 * echoes all data and, after the client's end, sends "end".
 */
#pragma once

#include <sys/types.h>

struct fake_backend {
	pid_t pid;
	int port;
	volatile int *status; /* the HTTP status of /readyz, 0: no answer; can be changed */
};

/* Listen on PORT (0: any) of 127.0.0.1. */
struct fake_backend fake_backend_start(const char *name, int port);

/* Send SIGNAL to all its processes; SIGKILL also waits for their end. */
void fake_backend_signal(const struct fake_backend *backend, int signal);

/* A currently free port. */
int fake_free_port(void);

/* Connect to 127.0.0.1:PORT with timeouts of 10 s; -1 on failure. */
int fake_connect(int port);
