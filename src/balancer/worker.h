/*
 * The front door's worker: the process that talks to the network.
 *
 * It is forked from the keeper (front-door.c), gives up all that it does not need (cage.h), and
 * gets listening sockets and the configuration through a channel.  It opens nothing by a path.  It
 * ends when the keeper closes the channel.
 */
#pragma once

#include "base/process.h"

/* Start a worker as user UID; *RET_CHANNEL is the keeper's end of its channel. */
int worker_start(uid_t uid, struct process *ret_process, int *ret_channel, struct error *err);
