/*
 * Work on one component in a process of its own: several go on at once, and a build can give up
 * its privileges.
 *
 * What a task tells (progress, notes, its error) comes back through a socket, and task_step()
 * passes it on to the one who started it, who may be a task as well.  A task ends with the process
 * that started it.
 */
#pragma once

#include "base/process.h"
#include "payload/work.h"

struct task {
	struct process process;
	int pipe; /* a socket: what it tells, and a byte from us when it may build */
	struct strbuf input;
	enum component_id id;
};

#define TASK_INIT ((struct task){ .process = PROCESS_INIT, .pipe = -1, .input = STRBUF_INIT })

typedef int (*task_fn)(struct work *work, enum component_id id, struct error *err);

/* Run RUN for component ID in a child. */
int task_start(struct work *work, enum component_id id, task_fn run, struct task *ret,
	       struct error *err);

/*
 * Wait for TASK to tell something and pass it on to WORK's observer.  1: it goes on; 0: it has done
 * its work; or it ended with this error.
 */
int task_step(struct task *task, struct work *work, struct error *err);

/* The same with the LEN bytes at DATA that it told: a builder is not to be trusted. */
int task_take(struct task *task, struct work *work, const void *data, size_t len,
	      struct error *err);

/* All of it: start RUN, and return what it returns. */
int task_run(struct work *work, enum component_id id, task_fn run, struct error *err);

/* End the task, if it still runs. */
void task_release(struct task *task);
