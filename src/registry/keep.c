/* Keeping the registry of a cluster running. */

#include "registry/keep.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

/* The delay before it is started again.  It doubles each time, unless it ran for long. */
static const unsigned restart_ms = 50;
static const unsigned most_doublings = 8;
static const int64_t long_life_ms = 60 * 1000;

static const int64_t end_limit_ms = 1000;

struct registry_keep {
	struct loop *loop;
	char *program; /* NULL: no registry is wanted */
	char *data;
	int sockets[CELL_SOCKETS_MAX];
	size_t count;
	struct process process;
	struct loop_source *life;    /* while it runs */
	struct loop_source *restart; /* until it is started again */
	int64_t began_ms;
	unsigned failures; /* consecutive early ends */
};

struct registry_keep *registry_keep_new(struct loop *loop)
{
	struct registry_keep *keep = xcalloc(1, sizeof(*keep));

	keep->loop = loop;
	keep->process = PROCESS_INIT;
	return keep;
}

static void remove_source(struct loop_source **source)
{
	if (*source)
		loop_remove(take_ptr(*source));
}

static int start_registry(struct registry_keep *keep, struct error *err);

static int on_restart(void *data, arg_unused struct error *err)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	struct registry_keep *keep = data;

	remove_source(&keep->restart);
	if (start_registry(keep, &problem) < 0)
		log_warning("%s", problem.text);
	return 0;
}

static int start_later(struct registry_keep *keep, struct error *err)
{
	unsigned doublings = MIN(keep->failures, most_doublings);

	keep->failures++;
	return loop_add_timer(keep->loop, restart_ms << doublings, 0, on_restart, keep,
			      &keep->restart, err);
}

static int on_end(int status, void *data, struct error *err)
{
	struct registry_keep *keep = data;

	remove_source(&keep->life);
	(void)close(keep->process.pidfd);
	keep->process = PROCESS_INIT;
	log_warning("the registry exited with status %d; starting it again", status);
	if (clock_now_ms() - keep->began_ms > long_life_ms)
		keep->failures = 0;
	return start_later(keep, err);
}

static int start_registry(struct registry_keep *keep, struct error *err)
{
	const struct cell cell = { keep->program, keep->data, keep->sockets, keep->count };
	int r = cell_start(&cell, &keep->process, err);

	if (r < 0) {
		(void)start_later(keep, NULL);
		return r;
	}
	keep->began_ms = clock_now_ms();
	return loop_add_child(keep->loop, keep->process.pid, keep->process.pidfd, on_end, keep,
			      &keep->life, err);
}

static void end_registry(struct registry_keep *keep)
{
	remove_source(&keep->restart);
	remove_source(&keep->life);
	if (keep->process.pid > 0) {
		(void)kill(keep->process.pid, SIGTERM);
		(void)process_wait(&keep->process, clock_now_ms() + end_limit_ms, NULL);
		process_release(&keep->process);
	}
	for (size_t i = 0; i < keep->count; i++)
		(void)close(keep->sockets[i]);
	keep->count = 0;
	free(keep->program);
	free(keep->data);
	keep->program = NULL;
	keep->data = NULL;
	keep->failures = 0;
}

void registry_keep_free(struct registry_keep *keep)
{
	end_registry(keep);
	free(keep);
}

static bool is_same(const struct registry_keep *keep, const struct cell *wanted)
{
	return keep->program && strcmp(keep->program, wanted->program) == 0 &&
	       strcmp(keep->data, wanted->data) == 0 && keep->count == wanted->count;
}

int registry_keep_set(struct registry_keep *keep, const struct cell *wanted, bool same_sockets,
		      struct error *err)
{
	if (wanted && same_sockets && is_same(keep, wanted))
		return 0;
	end_registry(keep);
	if (!wanted)
		return 0;
	if (wanted->count > CELL_SOCKETS_MAX)
		return error_set(err, -E2BIG, "a registry has at most %d sockets",
				 CELL_SOCKETS_MAX);
	for (size_t i = 0; i < wanted->count; i++) {
		int fd = fcntl(wanted->sockets[i], F_DUPFD_CLOEXEC, 3);

		if (fd < 0)
			return error_sys(err, "cannot keep a socket of the registry");
		keep->sockets[keep->count++] = fd;
	}
	keep->program = xstrdup(wanted->program);
	keep->data = xstrdup(wanted->data);
	return start_registry(keep, err);
}

pid_t registry_keep_pid(const struct registry_keep *keep)
{
	return MAX(keep->process.pid, 0);
}
