/*
 * The event loop: one thread, one epoll, callbacks.
 *
 * A source is owned by its creator.  Its callback is not called again after loop_remove(), even if
 * that is called from inside a callback.  A callback that returns a negative value ends loop_run(),
 * which then returns that value with ERR set.
 */
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/error.h"

struct loop;
struct loop_source;

typedef int (*loop_fd_fn)(int fd, uint32_t events, void *data, struct error *err);
typedef int (*loop_timer_fn)(void *data, struct error *err);
typedef int (*loop_signal_fn)(int signal, void *data, struct error *err);
typedef int (*loop_exit_fn)(int status, void *data, struct error *err);

int loop_new(struct loop **ret_loop, struct error *err);
void loop_free(struct loop *loop); /* frees its remaining sources too */
DEFINE_CLEANUP(struct loop *, loop_free)

/* Call FN when FD is ready for EVENTS (EPOLLIN, EPOLLOUT).  The caller still owns FD. */
int loop_add_fd(struct loop *loop, int fd, uint32_t events, loop_fd_fn fn, void *data,
		struct loop_source **ret_source, struct error *err);

/* Change the events of SOURCE, made by loop_add_fd(); 0 waits for errors only. */
int loop_set_events(struct loop_source *source, uint32_t events, struct error *err);

/* Call FN after DELAY_MS and then every PERIOD_MS (0: only once). */
int loop_add_timer(struct loop *loop, unsigned delay_ms, unsigned period_ms, loop_timer_fn fn,
		   void *data, struct loop_source **ret_source, struct error *err);

/* Call FN for SIGNAL, which is blocked from now on. */
int loop_add_signal(struct loop *loop, int signal, loop_signal_fn fn, void *data,
		    struct loop_source **ret_source, struct error *err);

/* Reap the child PID when it ends and call FN once with its exit status (128+N for signal N). PIDFD
 * is duplicated. */
int loop_add_child(struct loop *loop, pid_t pid, int pidfd, loop_exit_fn fn, void *data,
		   struct loop_source **ret_source, struct error *err);

void loop_remove(struct loop_source *source);
DEFINE_CLEANUP(struct loop_source *, loop_remove)

/* Run until loop_stop() or a failed callback. */
int loop_run(struct loop *loop, struct error *err);
void loop_stop(struct loop *loop);
