/*
 * The privileged side of the watcher, in the event loop of the front door's keeper: it starts the
 * watcher, starts it again when it ends, and does what it asks for, if that is within the cluster.
 *
 * Of the watcher it takes only messages of a strict form (frame.h): routes from addresses that are
 * for services to addresses of the cluster's nodes, and models of the policies of these nodes
 * (policy/model.h), whose rules it loads (nodes.h).  It writes its routes to the file `routes`
 * before it makes them, so that its successor can remove them.
 */
#pragma once

#include "base/loop.h"
#include "watch/nodes.h"

struct watch_keep;

/* DIR is the profile's directory.  CHANGED is called when another watcher runs. */
struct watch_keep *watch_keep_new(struct loop *loop, const char *dir, watch_install_fn install,
				  void (*changed)(void *data), void *data);

/* Ends the watcher; routes stay as they are. */
void watch_keep_free(struct watch_keep *keep);
DEFINE_CLEANUP(struct watch_keep *, watch_keep_free)

/* Read the configuration (config.h), and run a watcher if there is one; one that runs is replaced
 * if anything has changed. */
void watch_keep_apply(struct watch_keep *keep);

/* The pid of the watcher; 0 if none runs at the moment. */
pid_t watch_keep_pid(const struct watch_keep *keep);
