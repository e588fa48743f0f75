/* Checking the services of a native node. */
#pragma once

#include "driver/driver.h"

/* The driver's ask(), for the node whose agent is PID. */
int native_ask(pid_t pid, const char *place, const char *words, int timeout_ms, struct error *err);

/* The driver's lacks_programs(), for the node whose agent is PID. */
bool native_lacks_programs(pid_t pid);

/* Whether the node with the directory DIR, whose agent is PID, is shutting down. */
bool native_is_stopping(const char *dir, pid_t pid);

/* Whether PID blocks SIGNAL. */
bool native_blocks_signal(pid_t pid, int signal);

/* Whether PID still has its namespaces; a process that is being killed loses them first. */
bool native_has_namespaces(pid_t pid);

/*
 * Create the file on the host, in its full length, to which the agent of the node writes the state
 * of services: it maps and closes it.  That of an earlier start is removed first, so that its
 * processes cannot write to the new one.  The log that agents of earlier versions wrote on the host
 * is removed, too.
 */
int native_open_state(const struct node_spec *spec, int *ret_fd, struct error *err);
