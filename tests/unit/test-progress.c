#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include "cli/progress.h"
#include "test.h"

/* What is answered to a question when ANSWER was typed; NULL: there is no terminal. */
static bool ask(const char *answer, bool quiet)
{
	struct progress *progress;
	struct observer *observer;
	int terminal = -1;
	int person = -1;
	bool result;

	if (answer)
		ASSERT_INT(openpty(&person, &terminal, NULL, NULL, NULL), 0);
	else
		terminal = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (answer)
		ASSERT_INT(write(person, answer, strlen(answer)), strlen(answer));
	ASSERT(dup2(terminal, STDIN_FILENO) >= 0 && dup2(terminal, STDERR_FILENO) >= 0);
	clearerr(stdin);
	progress = progress_new(quiet, 0);
	observer = progress_observer(progress);
	observe_begin(observer, "getting Kubernetes", NULL);
	result = observe_confirm(observer, "getting Kubernetes", "It takes long.");
	observe_end(observer, "getting Kubernetes", NULL, result);
	progress_free(progress);
	(void)close(terminal);
	(void)close(person);
	return result;
}

TEST(long_work_is_asked_about_on_a_terminal)
{
	(void)setenv("TERM", "xterm", 1);
	ASSERT(ask("y\n", false));
	ASSERT(!ask("n\n", false));
	ASSERT(!ask("\n", true));
}

TEST(nobody_is_asked_who_can_not_answer_or_has_done_so)
{
	ASSERT(ask(NULL, false));
	progress_assume_yes = true;
	ASSERT(ask("n\n", false));
}
