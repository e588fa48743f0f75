/*
 * Messages between the keeper and its worker: text, from the keeper with a descriptor.
 *
 *	socket NAME    a listening socket to be held from now on (sockets.h)
 *	config         a file with the configuration, which takes effect
 *
 * The worker sends reports (report.h).
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

#define CHANNEL_CONFIG "config"
#define CHANNEL_SOCKET "socket "
#define CHANNEL_TEXT   256 /* bytes of a message from the keeper, at most */

/* A pair of connected ends; the first is the keeper's, which waits for the other only 2 s. */
int channel_new(int ret_ends[2], struct error *err);

/* Send TEXT with the descriptor PASSED, which stays the caller's. */
int channel_send(int fd, const char *text, int passed, struct error *err);

/* Send CHANNEL_CONFIG with a file of TEXT, which the other side can't change. */
int channel_send_config(int fd, const char *text, struct error *err);

/* Receive what channel_send() sent into TEXT, and the caller's own descriptor into *RET_PASSED; 0
 * at the end of the channel, -EAGAIN if nothing waits, else 1. */
int channel_receive(int fd, char text[CHANNEL_TEXT], int *ret_passed);
