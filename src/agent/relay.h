/* A program of nodes beside the agent: forwarding TCP connections from a port of 127.0.0.1. */
#pragma once

/* The name of its processes in /proc/PID/comm. */
#define RELAY_NAME "registry-relay"

/*
 * Forward connections from port ARGV[0] of 127.0.0.1 to the same port of the address ARGV[1], until
 * a signal.  Returns an exit status, after a message, if that is impossible.
 */
int relay_run(char *const *argv);
