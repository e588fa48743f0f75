/* What the services of a native node are up to. */
#pragma once

#include "driver/driver.h"

/* The operation `ask` of a driver, for the node whose agent is PID. */
int native_ask(pid_t pid, const char *place, const char *words, int timeout_ms, struct error *err);

/* Whether the node with the directory DIR, whose agent is PID, was told to shut down. */
bool native_is_stopping(const char *dir, pid_t pid);
