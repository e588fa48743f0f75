/*
 * manykube-agent enter NODE: the first process of a container of an engine.
 *
 * The container is only the place where the node's processes are: manykube makes the node's
 * namespaces and its root file system outside, in a process that then waits (driver/birth.c).  This
 * one waits for SIGUSR1 with that process's pid, enters its namespaces, and becomes the agent, so
 * that the agent is the first process of both, the container and the node.
 *
 * NODE is for those who look at the process.  A container that is started by somebody else gets no
 * signal and ends after a minute.
 */
#pragma once

/* The descriptors of the waiting process that are taken over: the host's file for the state of
 * services, and the pipe for errors, which closes when the agent is executed. */
#define ENTER_STATE_FD  3
#define ENTER_REPORT_FD 4

/* Returns the exit status if it fails. */
int enter_run(void);
