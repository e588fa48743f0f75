/*
 * The agent's side of a VM's channel (frames.h): runs programs for the host.
 *
 * It is a process of its own, which PID 1 starts again if it ends.
 */
#pragma once

/* Serve the channel; GO is written to once the host wants services to start.  Does not return while
 * the channel exists; returns an exit status. */
int channel_serve(int go, const char *state_file);
