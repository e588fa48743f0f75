/*
 * The first process of every pod: holds its namespaces, reaps its orphans, and ends when
 * it is told to.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(void)
{
	sigset_t watched;
	int signal_number;

	/* As PID 1 we get only signals that we ask for; waiting for them needs no handlers. */
	(void)sigemptyset(&watched);
	(void)sigaddset(&watched, SIGINT);
	(void)sigaddset(&watched, SIGTERM);
	(void)sigaddset(&watched, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &watched, NULL) < 0)
		return EXIT_FAILURE;

	while (sigwait(&watched, &signal_number) == 0) {
		if (signal_number != SIGCHLD)
			return EXIT_SUCCESS;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	return EXIT_FAILURE;
}
