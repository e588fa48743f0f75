/* Checking the services of a native node. */
#pragma once

#include "driver/driver.h"

/* The driver's ask(), for the node whose agent is PID. */
int native_ask(pid_t pid, const char *place, const char *words, int timeout_ms, struct error *err);

/* Whether the node with the directory DIR, whose agent is PID, is shutting down. */
bool native_is_stopping(const char *dir, pid_t pid);
