/*
 * Work on one component in a separate process, so that several can run at once and a build can drop
 * its privileges.
 *
 * A task sends progress, notes and its error through a socket; task_step() passes them on to the
 * parent, which may be a task as well.  A task ends when its parent ends.
 */
#pragma once

#include "base/process.h"
#include "payload/work.h"

struct task {
	struct process process;
	int pipe; /* a socket for its messages, and for a byte from us that permits building */
	struct strbuf input;
	enum component_id id;
};

#define TASK_INIT ((struct task){ .process = PROCESS_INIT, .pipe = -1, .input = STRBUF_INIT })

typedef int (*task_fn)(struct work *work, enum component_id id, struct error *err);

/* Run RUN for component ID in a child. */
int task_start(struct work *work, enum component_id id, task_fn run, struct task *ret,
	       struct error *err);

/*
 * Wait for messages of TASK and pass them on to WORK's observer.  Returns 1 if the task continues,
 * 0 if it has finished, or its error.
 */
int task_step(struct task *task, struct work *work, struct error *err);

/* The same with the LEN bytes at DATA, which the task sent.  They are not trusted: a task may be a
 * builder. */
int task_take(struct task *task, struct work *work, const void *data, size_t len,
	      struct error *err);

/* Start RUN, wait for it to end, and return its result. */
int task_run(struct work *work, enum component_id id, task_fn run, struct error *err);

/* Kill the task if it still runs, and release it. */
void task_release(struct task *task);
