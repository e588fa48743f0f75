/*
 * manykube-agent [CONFIG [STATE_FILE [STATE_FD [LOG]]]]: PID 1 of a node.
 * manykube-agent relay PORT ADDRESS: one of its services, see relay.h.
 * manykube-agent ballast: another one, see ballast.h.
 * manykube-agent enter NODE: the first process of a container that becomes a node, see enter.h.
 * /init, then manykube-agent vm: the same as PID 1 of a VM, see vm.h.
 * manykube-agent do VERB WORDS...: what the host asks of a VM, see do.h.
 *
 * How it works:
 *  1. It moves itself into a leaf of the node's cgroups (cgroup.h).
 *  2. It reads its configuration (config.h describes the format) and keeps the services in it
 *     running.  A service that ends is restarted after a delay that doubles from 100 ms to 10 s;
 *     the delay is reset once the service ran for 30 s.  While /etc/manykube/hold/NAME exists, the
 *     service NAME is not started again.
 *  3. It reaps all orphans of the node.
 *  4. On SIGTERM or SIGINT it stops the services in reverse order, the pods before the first
 *     service, and exits; the kernel then kills all remaining processes of the pid namespace.
 *
 * STATE_FILE describes the services: "agent VERSION", then a line per service,
 * NAME waiting|running|backoff|held|stopping|stopped PID SINCE_EPOCH RESTARTS, where RESTARTS
 * counts since the service last ran for 30 s.  STATE_FD is a descriptor of a file on the host that
 * gets the same text, padded with newlines.  LOG is a file of the node for the agent's messages; if
 * it cannot be opened, they go to standard error.
 *
 * The agent has one thread and one poll(), and allocates no memory after reading the configuration.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/ballast.h"
#include "agent/cgroup.h"
#include "agent/config.h"
#include "agent/do.h"
#include "agent/enter.h"
#include "agent/relay.h"
#include "agent/service.h"
#include "agent/text.h"
#include "agent/vm.h"

static const char default_config[] = "/etc/manykube/agent.conf";
static const char default_state[] = "/run/manykube/state";
static const char default_log[] = "/var/log/agent.log";
static const int pods_poll_ms = 20;

static struct agent_config config;
static int signals = -1;
static bool asked_to_end;

static void read_config(const char *path)
{
	static char text[AGENT_CONFIG_MAX + 1];
	const char *problem;
	ssize_t len = read_file(path, text, AGENT_CONFIG_MAX);
	unsigned line;

	if (len < 0) {
		say("cannot read ", path, ": ", strerror(errno), NULL);
		return;
	}
	if (agent_config_parse(text, (size_t)len, &config, &problem, &line) < 0) {
		say(path, ": ", problem, NULL);
		say_number(path, ": the error is in line ", line);
	}
}

/* Block all signals.  Those that matter arrive through the descriptor; the others are ignored. */
static void catch_signals(void)
{
	sigset_t all;
	sigset_t wanted;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)sigemptyset(&wanted);
	(void)sigaddset(&wanted, SIGCHLD);
	(void)sigaddset(&wanted, SIGTERM);
	(void)sigaddset(&wanted, SIGINT);
	signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		say("cannot wait for signals: ", strerror(errno), NULL);
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (!services_ended(pid, status))
			vm_ended(pid);
}

/* Wait for events, at most TIMEOUT_MS (-1: no limit), and handle them. */
static void turn(int timeout_ms)
{
	struct pollfd polls[AGENT_SERVICES_MAX + 2];
	struct signalfd_siginfo info;
	unsigned n = services_poll(polls);

	polls[n++] = (struct pollfd){ .fd = signals, .events = POLLIN };
	(void)poll(polls, n, timeout_ms);
	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			asked_to_end = true;
	services_read();
	reap();
}

/* Wait for events until DEADLINE; a negative timeout would be none. */
static void turn_until(int64_t deadline)
{
	int64_t left = deadline - now_ms();

	turn(left > 0 ? (int)left : 0);
}

static void stop_service(unsigned index)
{
	int64_t deadline = now_ms() + (int64_t)config.services[index].stop_seconds * 1000;

	if (!services_signal(index, SIGTERM))
		return;
	while (services_runs(index) && now_ms() < deadline)
		turn_until(deadline);
	if (!services_runs(index))
		return;
	(void)services_signal(index, SIGKILL);
	/* It dies at once unless it is stuck in the kernel, in which case waiting does not help. */
	deadline = now_ms() + 1000;
	while (services_runs(index) && now_ms() < deadline)
		turn_until(deadline);
}

static void stop_pods(void)
{
	int64_t deadline = now_ms() + (int64_t)config.grace_seconds * 1000;
	unsigned processes = cgroup_signal_pods(SIGTERM);

	if (processes == 0)
		return;
	say_number("stopping the pods, processes: ", "", processes);
	while (cgroup_signal_pods(0) > 0 && now_ms() < deadline)
		turn(pods_poll_ms);
	processes = cgroup_signal_pods(SIGKILL);
	if (processes > 0)
		say_number("killed remaining processes of pods: ", "", processes);
}

static void shut_down(void)
{
	say("shutting down", NULL);
	services_close();
	for (unsigned i = config.count; i > 1; i--)
		stop_service(i - 1);
	stop_pods();
	if (config.count > 0)
		stop_service(0);
	services_read();
	say("done", NULL);
}

/* The descriptor with the number WORD, made close-on-exec; -1 if there is none. */
static int take_descriptor(const char *word)
{
	int fd = 0;

	for (; *word >= '0' && *word <= '9' && fd < 100000; word++)
		fd = fd * 10 + (*word - '0');
	return *word || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : fd;
}

/* Send standard output and error to the file PATH, unless the node's root made it something else
 * than a regular file. */
static void log_to(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		      0644);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		(void)dup2(fd, STDOUT_FILENO);
		(void)dup2(fd, STDERR_FILENO);
	}
	(void)close(fd);
}

int main(int argc, char **argv)
{
	bool is_vm = argc > 1 && strcmp(argv[1], "vm") == 0;
	const char *config_path = argc > 1 && !is_vm ? argv[1] : default_config;
	const char *state_path = argc > 2 ? argv[2] : default_state;
	int state_fd = argc > 3 ? take_descriptor(argv[3]) : -1;

	if (strcmp(config_path, "relay") == 0)
		return relay_run(argv + 2);
	if (strcmp(config_path, "ballast") == 0)
		return ballast_run();
	if (strcmp(config_path, "enter") == 0)
		return enter_run();
	if (strcmp(config_path, "do") == 0)
		return do_run(argv + 2);
	if (strcmp(argv[0], "/init") == 0)
		vm_enter_root();
	if (is_vm) {
		vm_begin(state_path);
		log_to(default_log);
	}
	if (argc > 4)
		log_to(argv[4]);
	say("manykube-agent ", MANYKUBE_VERSION, NULL);
	catch_signals();
	cgroup_enter_leaf();
	read_config(config_path);
	services_open(&config, state_path, state_fd);
	while (!asked_to_end)
		turn(services_advance());
	shut_down();
	if (is_vm)
		vm_power_off();
	return EXIT_SUCCESS;
}
