/* Ctrl-C in commands that change a cluster. */

#include "cmd/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cli/progress.h"
#include "cli/say.h"

/* Prepared in advance: a signal handler must not allocate. */
static struct strbuf words = STRBUF_INIT;
static int fd = STDERR_FILENO;

static pid_t owner;

static void end_interrupted(int signal)
{
	/* A forked child that has not called exec yet gets the signal as well. */
	if (getpid() != owner)
		_exit(128 + signal);
	progress_abandon();
	(void)!write(fd, words.text, words.len);
	log_last_words(words.text, words.len);
	_exit(reason_interrupted.exit_status);
}

void interrupt_explain(const char *advice)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct sigaction interrupt = { .sa_handler = end_interrupted };
	sigset_t before;

	/* Neither handler may interrupt the other, or run while the texts change. */
	(void)sigaddset(&interrupt.sa_mask, SIGINT);
	(void)sigaddset(&interrupt.sa_mask, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &interrupt.sa_mask, &before);

	owner = getpid();
	error_because(&err, &reason_interrupted, -EINTR, "interrupted by a signal");
	if (advice)
		error_hint(&err, -EINTR, "%s", advice);
	strbuf_reset(&words);
	fd = say_fd();
	/* The terminal has printed ^C at the cursor. */
	if (fd == STDERR_FILENO)
		strbuf_add_char(&words, '\n');
	say_compose(&err, -EINTR, &words);

	(void)sigaction(SIGINT, &interrupt, NULL);
	(void)sigaction(SIGTERM, &interrupt, NULL);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

static const char *advice_of_drain;

static void on_evicted(struct observer *observer)
{
	cleanup_free char *advice = xasprintf(
		"%s; pods that were already evicted stay evicted, and have lost the contents of "
		"emptyDir volumes",
		advice_of_drain);

	observer->evicted = NULL;
	interrupt_explain(advice);
}

void interrupt_explain_drain(const char *advice, struct observer *observer)
{
	advice_of_drain = advice;
	observer->evicted = on_evicted;
	interrupt_explain(advice);
}
