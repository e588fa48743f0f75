#include <signal.h>

#include "base/loop.h"
#include "base/process.h"
#include "test.h"

struct seen {
	struct loop *loop;
	int ticks;
	int status;
	int signal;
};

static int on_tick(void *data, arg_unused struct error *err)
{
	struct seen *seen = data;

	if (++seen->ticks == 3)
		loop_stop(seen->loop);
	return 0;
}

static int on_exit_status(int status, void *data, arg_unused struct error *err)
{
	struct seen *seen = data;

	seen->status = status;
	loop_stop(seen->loop);
	return 0;
}

static int on_signal(int signal, void *data, arg_unused struct error *err)
{
	struct seen *seen = data;

	seen->signal = signal;
	loop_stop(seen->loop);
	return 0;
}

TEST(timers_repeat)
{
	cleanup_with(loop_freep) struct loop *loop = NULL;
	struct loop_source *timer;
	struct seen seen = { 0 };

	ASSERT_OK(loop_new(&loop, &err));
	seen.loop = loop;
	ASSERT_OK(loop_add_timer(loop, 0, 1, on_tick, &seen, &timer, &err));
	ASSERT_OK(loop_run(loop, &err));
	ASSERT_INT(seen.ticks, 3);
}

TEST(children_report_their_status)
{
	cleanup_with(loop_freep) struct loop *loop = NULL;
	struct process process = PROCESS_INIT;
	struct loop_source *child;
	struct seen seen = { 0 };

	ASSERT_OK(loop_new(&loop, &err));
	seen.loop = loop;
	ASSERT_OK(process_spawn(ARGV("false"), NULL, &process, &err));
	ASSERT_OK(loop_add_child(loop, process.pid, process.pidfd, on_exit_status, &seen, &child,
				 &err));
	ASSERT_OK(loop_run(loop, &err));
	ASSERT_INT(seen.status, 1);
	(void)close(process.pidfd);
}

TEST(signals_become_events)
{
	cleanup_with(loop_freep) struct loop *loop = NULL;
	struct loop_source *source;
	struct seen seen = { 0 };

	ASSERT_OK(loop_new(&loop, &err));
	seen.loop = loop;
	ASSERT_OK(loop_add_signal(loop, SIGTERM, on_signal, &seen, &source, &err));
	(void)kill(getpid(), SIGTERM);
	ASSERT_OK(loop_run(loop, &err));
	ASSERT_INT(seen.signal, SIGTERM);
}
