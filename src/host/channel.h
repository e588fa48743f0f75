/*
 * Messages between the front door's keeper and its worker.  Messages of the keeper are text with a
 * descriptor:
 *
 *	socket NAME    a listening socket, which the worker keeps (sockets.h)
 *	config         a file with the configuration, which the worker applies
 *
 * The worker sends reports (report.h).
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

#define CHANNEL_CONFIG "config"
#define CHANNEL_SOCKET "socket "
#define CHANNEL_TEXT   256 /* the size of a buffer for the keeper's messages */

/* Make a pair of connected sockets.  The first is the keeper's;
 * sending on it blocks at most 2 s. */
int channel_new(int ret_ends[2], struct error *err);

/* Send TEXT with the descriptor PASSED, which the caller still owns. */
int channel_send(int fd, const char *text, int passed, struct error *err);

/* Send CHANNEL_CONFIG with a sealed file that contains TEXT. */
int channel_send_config(int fd, const char *text, struct error *err);

/* Receive a message of channel_send(): its text, and its descriptor, which the caller owns. Returns
 * 1, 0 if the channel was closed, -EAGAIN if no message is waiting. */
int channel_receive(int fd, char text[CHANNEL_TEXT], int *ret_passed);
