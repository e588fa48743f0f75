/* Becoming the first process of a node that was prepared outside of the container. */

#include "agent/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/text.h"
#include "host/confine.h"

/* All but that of processes, which is the container's. */
#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP)

static const int64_t patience_ms = 60000;

/* Where errors go, besides the container's log; -1 until it is known. */
static int report = -1;

static int give_up(const char *what)
{
	struct text text = { 0 };

	text_add(&text, what, ": ", strerror(errno), NULL);
	say(text.buf, NULL);
	if (report >= 0)
		write_all(report, text.buf, text.len);
	return EXIT_FAILURE;
}

/* Wait for the pid of the process that has the node's namespaces; 0 if nobody sends it. */
static pid_t wait_for_pid(void)
{
	int64_t deadline = now_ms() + patience_ms;
	struct signalfd_siginfo info;
	struct pollfd wait = { .events = POLLIN };
	sigset_t wanted;

	(void)sigemptyset(&wanted);
	(void)sigaddset(&wanted, SIGUSR1);
	(void)sigaddset(&wanted, SIGTERM);
	(void)sigaddset(&wanted, SIGINT);
	wait.fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	/* That SIGUSR1 is blocked tells the host that this process waits. */
	(void)sigprocmask(SIG_BLOCK, &wanted, NULL);
	while (now_ms() < deadline) {
		(void)poll(&wait, 1, (int)(deadline - now_ms()));
		if (read(wait.fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
			continue;
		return info.ssi_signo == SIGUSR1 && info.ssi_code == SI_QUEUE ? info.ssi_int : 0;
	}
	say("this container is a node of manykube, which 'manykube start' starts", NULL);
	return 0;
}

/* A new and empty keyring; the kernel may have none. */
static bool renew_keyring(void)
{
	return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS ||
	       errno == EPERM;
}

static bool replace_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	return null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
	       dup2(null, STDERR_FILENO) >= 0;
}

static int become_agent(int state)
{
	static char *const environment[] = { NULL };
	struct text number = { 0 };
	sigset_t none;

	text_add_number(&number, (uint64_t)state);
	if (fcntl(state, F_SETFD, 0) < 0 || !replace_streams())
		return give_up("cannot prepare the node's streams");
	if (confine() < 0)
		return give_up("cannot confine the node");
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execve("/opt/manykube/agent",
		     (char *[]){ "manykube-agent", "/etc/manykube/agent.conf",
				 "/run/manykube/state", number.buf, "/var/log/agent.log", NULL },
		     environment);
	return give_up("cannot run the agent");
}

int enter_run(void)
{
	pid_t pid = wait_for_pid();
	int process;
	int state;

	if (pid <= 0)
		return EXIT_SUCCESS;
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process >= 0)
		report = (int)syscall(SYS_pidfd_getfd, process, ENTER_REPORT_FD, 0);
	if (report < 0)
		return give_up("cannot take over the node's descriptors");
	state = (int)syscall(SYS_pidfd_getfd, process, ENTER_STATE_FD, 0);
	if (state < 0)
		return give_up("cannot take over the node's state");
	if (!renew_keyring())
		return give_up("cannot make the node's keyring");
	if (setns(process, NAMESPACES) < 0)
		return give_up("cannot enter the node's namespaces");
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return give_up("cannot become the node's root");
	/* Changing ids made this process undumpable; the host must be able to enter it. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	/* It has nothing more to do, and its copy of the pipe must not stay. */
	if (syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0) < 0)
		return give_up("cannot end the process that prepared the node");
	(void)close(process);
	return become_agent(state);
}
