/*
 * The front door's worker: the process that does the networking.
 *
 * It is forked from the keeper (keeper.c), drops all rights that it does not need (host/cage.h),
 * and receives listening sockets and the configuration through a channel (host/channel.h).  It
 * opens no files.  It ends when the keeper closes the channel.
 */
#pragma once

#include "base/process.h"

/* Start a worker as user UID; *RET_CHANNEL is the keeper's end of its channel. */
int worker_start(uid_t uid, struct process *ret_process, int *ret_channel, struct error *err);
