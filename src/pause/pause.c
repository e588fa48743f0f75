/*
 * The first process of every pod: holds the pod's namespaces, reaps orphans, and exits on SIGTERM
 * or SIGINT.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(void)
{
	sigset_t watched;
	int signal_number;

	/* PID 1 receives only signals it asks for; sigwait() needs no handlers. */
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
