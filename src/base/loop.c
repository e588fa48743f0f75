/* The event loop: one thread, one epoll, callbacks. */

#include "base/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "base/alloc.h"

enum source_type {
	SOURCE_FD,
	SOURCE_TIMER,
	SOURCE_SIGNAL,
	SOURCE_CHILD,
};

struct loop_source {
	struct loop *loop;
	struct loop_source *previous;
	struct loop_source *next;
	enum source_type type;
	int fd;
	bool owns_fd;
	bool removed; /* freed after the current batch of events */
	pid_t pid;
	void *data;
	union {
		loop_fd_fn fd;
		loop_timer_fn timer;
		loop_signal_fn signal;
		loop_exit_fn exit;
	} fn;
};

struct loop {
	int epoll;
	bool stopping;
	struct loop_source *sources;
	struct loop_source *removed;
};

int loop_new(struct loop **ret_loop, struct error *err)
{
	cleanup_with(loop_freep) struct loop *loop = xcalloc(1, sizeof(*loop));

	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0)
		return error_sys(err, "cannot make an event loop");
	*ret_loop = take_ptr(loop);
	return 0;
}

static void free_removed(struct loop *loop)
{
	while (loop->removed) {
		struct loop_source *source = loop->removed;

		loop->removed = source->next;
		free(source);
	}
}

void loop_free(struct loop *loop)
{
	while (loop->sources)
		loop_remove(loop->sources);
	free_removed(loop);
	if (loop->epoll >= 0)
		(void)close(loop->epoll);
	free(loop);
}

/* Add a source that watches FD.  On failure, an owned descriptor is closed. */
static int add_source(struct loop *loop, enum source_type type, int fd, bool owns_fd,
		      uint32_t events, void *data, struct loop_source **ret_source,
		      struct error *err)
{
	struct loop_source *source = xcalloc(1, sizeof(*source));
	struct epoll_event event = { .events = events, .data.ptr = source };

	*source = (struct loop_source){
		.loop = loop,
		.type = type,
		.fd = fd,
		.owns_fd = owns_fd,
		.data = data,
		.next = loop->sources,
	};
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		int r = error_sys(err, "cannot watch a descriptor");

		if (owns_fd)
			(void)close(fd);
		free(source);
		return r;
	}
	if (loop->sources)
		loop->sources->previous = source;
	loop->sources = source;
	*ret_source = source;
	return 0;
}

int loop_add_fd(struct loop *loop, int fd, uint32_t events, loop_fd_fn fn, void *data,
		struct loop_source **ret_source, struct error *err)
{
	int r = add_source(loop, SOURCE_FD, fd, false, events, data, ret_source, err);

	if (r == 0)
		(*ret_source)->fn.fd = fn;
	return r;
}

int loop_set_events(struct loop_source *source, uint32_t events, struct error *err)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (epoll_ctl(source->loop->epoll, EPOLL_CTL_MOD, source->fd, &event) < 0)
		return error_sys(err, "cannot watch a descriptor");
	return 0;
}

int loop_add_timer(struct loop *loop, unsigned delay_ms, unsigned period_ms, loop_timer_fn fn,
		   void *data, struct loop_source **ret_source, struct error *err)
{
	struct itimerspec when = {
		.it_value = { delay_ms / 1000,
			      (long)(delay_ms % 1000) * 1000000 + (delay_ms == 0) },
		.it_interval = { period_ms / 1000, (long)(period_ms % 1000) * 1000000 },
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	int r;

	if (fd < 0 || timerfd_settime(fd, 0, &when, NULL) < 0)
		return error_sys(err, "cannot make a timer");
	r = add_source(loop, SOURCE_TIMER, fd, true, EPOLLIN, data, ret_source, err);
	if (r == 0)
		(*ret_source)->fn.timer = fn;
	return r;
}

int loop_add_signal(struct loop *loop, int signal, loop_signal_fn fn, void *data,
		    struct loop_source **ret_source, struct error *err)
{
	sigset_t set;
	int fd;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_sys(err, "cannot wait for signal %d", signal);
	r = add_source(loop, SOURCE_SIGNAL, fd, true, EPOLLIN, data, ret_source, err);
	if (r == 0)
		(*ret_source)->fn.signal = fn;
	return r;
}

int loop_add_child(struct loop *loop, pid_t pid, int pidfd, loop_exit_fn fn, void *data,
		   struct loop_source **ret_source, struct error *err)
{
	int fd = fcntl(pidfd, F_DUPFD_CLOEXEC, 3);
	int r;

	if (fd < 0)
		return error_sys(err, "cannot watch process %d", (int)pid);
	r = add_source(loop, SOURCE_CHILD, fd, true, EPOLLIN, data, ret_source, err);
	if (r == 0) {
		(*ret_source)->fn.exit = fn;
		(*ret_source)->pid = pid;
	}
	return r;
}

void loop_remove(struct loop_source *source)
{
	struct loop *loop = source->loop;

	if (source->removed)
		return;
	(void)epoll_ctl(loop->epoll, EPOLL_CTL_DEL, source->fd, NULL);
	if (source->owns_fd)
		(void)close(source->fd);
	if (source->previous)
		source->previous->next = source->next;
	else
		loop->sources = source->next;
	if (source->next)
		source->next->previous = source->previous;

	/* The current batch may hold an event for SOURCE, so it is freed after the batch. */
	source->removed = true;
	source->next = loop->removed;
	loop->removed = source;
}

static int dispatch(struct loop_source *source, uint32_t events, struct error *err)
{
	struct signalfd_siginfo info;
	uint64_t ticks;
	int status;

	switch (source->type) {
	case SOURCE_FD:
		return source->fn.fd(source->fd, events, source->data, err);
	case SOURCE_TIMER:
		if (read(source->fd, &ticks, sizeof(ticks)) != sizeof(ticks))
			return 0;
		return source->fn.timer(source->data, err);
	case SOURCE_SIGNAL:
		if (read(source->fd, &info, sizeof(info)) != sizeof(info))
			return 0;
		return source->fn.signal((int)info.ssi_signo, source->data, err);
	case SOURCE_CHILD:
		if (waitpid(source->pid, &status, WNOHANG) != source->pid)
			return 0;
		(void)epoll_ctl(source->loop->epoll, EPOLL_CTL_DEL, source->fd, NULL);
		status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		return source->fn.exit(status, source->data, err);
	}
	return 0;
}

int loop_run(struct loop *loop, struct error *err)
{
	struct epoll_event events[32];

	loop->stopping = false;
	while (!loop->stopping) {
		int n = epoll_wait(loop->epoll, events, ARRAY_SIZE(events), -1);

		if (n < 0 && errno != EINTR)
			return error_sys(err, "cannot wait for events");
		for (int i = 0; i < n && !loop->stopping; i++) {
			struct loop_source *source = events[i].data.ptr;
			int r = source->removed ? 0 : dispatch(source, events[i].events, err);

			if (r < 0)
				return r;
		}
		free_removed(loop);
	}
	return 0;
}

void loop_stop(struct loop *loop)
{
	loop->stopping = true;
}
