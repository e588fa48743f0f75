/* Checking the services of a native node. */
#pragma once

#include "driver/driver.h"

/* The driver's ask(), for the node whose agent is PID. */
int native_ask(pid_t pid, const char *place, const char *words, int timeout_ms, struct error *err);

/* The driver's lacks_programs(), for the node whose agent is PID. */
bool native_lacks_programs(pid_t pid);

/* Whether the node with the directory DIR, whose agent is PID, is shutting down. */
bool native_is_stopping(const char *dir, pid_t pid);

/* Whether PID still has its namespaces; a process that is being killed loses them first. */
bool native_has_namespaces(pid_t pid);
