/* The built agent as PID 1 of namespaces made here; MANYKUBE_AGENT names the program. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "test.h"

static pid_t agent = -1;

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", test_dir(), name);
}

static void put(const char *name, const char *text)
{
	cleanup_free char *path = in_dir(name);

	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
}

static char *get(const char *name)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = in_dir(name);

	(void)file_read(path, 64 << 20, &text, NULL);
	return strbuf_take(&text);
}

/* PID 1: a /proc and cgroups of its own, so that the host's stay untouched. */
static _Noreturn void become_agent(void)
{
	const char *program = getenv("MANYKUBE_AGENT");
	cleanup_free char *config = in_dir("agent.conf");
	cleanup_free char *state = in_dir("run/state");
	cleanup_free char *log = in_dir("agent.log");
	cleanup_free char *host_state = in_dir("state");
	int host_fd = open(host_state, O_RDWR | O_CREAT | O_TRUNC, 0644);
	cleanup_free char *number = xasprintf("%d", host_fd);
	int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/sys/fs/cgroup", "tmpfs", 0, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		_exit(1);
	if (ftruncate(host_fd, 4096) < 0)
		_exit(1);
	(void)dup2(fd, STDERR_FILENO);
	(void)execl(program, program, config, state, number, NULL);
	_exit(1);
}

static void start_agent_as_it_is(void)
{
	/* Not unshare(): with its PID 1 gone this process could not fork any more, and the leak
	 * checker must. */
	struct clone_args how = { .flags = CLONE_NEWPID | CLONE_NEWNS, .exit_signal = SIGCHLD };

	if (!getenv("MANYKUBE_AGENT"))
		test_skip("MANYKUBE_AGENT is not set");
	agent = (pid_t)syscall(SYS_clone3, &how, sizeof(how));
	if (agent < 0)
		test_skip("may not make namespaces");
	if (agent == 0)
		become_agent();
}

static void start_agent(const char *config)
{
	put("agent.conf", config);
	start_agent_as_it_is();
}

static int end_agent(void)
{
	int64_t deadline = clock_now_ms() + 10000;
	int status;

	(void)kill(agent, SIGTERM);
	while (waitpid(agent, &status, WNOHANG) == 0) {
		ASSERT(clock_now_ms() < deadline);
		clock_rest_ms(1);
	}
	return status;
}

/* Wait until the file NAME holds TEXT; returns its content. */
static char *wait_for(const char *name, const char *text)
{
	int64_t deadline = clock_now_ms() + 10000;

	for (;;) {
		char *content = get(name);

		if (strstr(content, text))
			return content;
		if (clock_now_ms() > deadline) {
			cleanup_free char *log = get("agent.log");

			test_fail(__FILE__, __LINE__, "no '%s' in %s but '%s'; log: %s", text, name,
				  content, log);
		}
		free(content);
		clock_rest_ms(1);
	}
}

static void wait_gone(const char *name, const char *text)
{
	int64_t deadline = clock_now_ms() + 10000;

	for (;;) {
		cleanup_free char *content = get(name);

		if (!strstr(content, text))
			return;
		ASSERT(clock_now_ms() < deadline);
		clock_rest_ms(1);
	}
}

/* Kill PID of the agent's pid namespace, from a child, since setns() can't be undone. */
static void kill_inside(int pid)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		pid_t inside;

		if (setns(pidfd_open(agent, 0), CLONE_NEWPID) < 0)
			_exit(1);
		inside = fork();
		if (inside == 0)
			_exit(kill(pid, SIGKILL) < 0);
		(void)waitpid(inside, &status, 0);
		_exit(status != 0);
	}
	(void)waitpid(child, &status, 0);
	ASSERT_INT(status, 0);
}

TEST(a_service_that_is_killed_starts_again)
{
	cleanup_free char *first = NULL;
	cleanup_free char *second = NULL;
	int pid;
	int restarts;

	start_agent("service one\n command /bin/sleep 1000\n");
	first = wait_for("run/state", "one running");
	ASSERT(strncmp(first, "agent ", 6) == 0);
	ASSERT(sscanf(strstr(first, "one running"), "one running %d %*d %d", &pid, &restarts) == 2);
	ASSERT_INT(restarts, 0);
	kill_inside(pid);
	free(wait_for("run/state", "one backoff 0 "));
	second = wait_for("run/state", "one running");
	ASSERT(sscanf(strstr(second, "one running"), "one running %d %*d %d", &pid, &restarts) ==
	       2);
	ASSERT_INT(restarts, 1);
	ASSERT_INT(end_agent(), 0);
}

TEST(the_host_reads_the_same_and_never_half_of_it)
{
	cleanup_free char *inside = NULL;
	cleanup_free char *outside = NULL;

	start_agent("service one\n command /bin/sleep 1000\n");
	outside = wait_for("state", "one running");
	inside = wait_for("run/state", "one running");
	ASSERT(strncmp(outside, inside, strlen(inside)) == 0);
	ASSERT_INT(strlen(outside), 4096);
	ASSERT_INT(strspn(outside + strlen(inside), "\n"), 4096 - strlen(inside));
	ASSERT_INT(end_agent(), 0);
}

/* The node's root could take it, and let the file grow. */
TEST(the_agent_keeps_no_descriptor_of_the_hosts_file)
{
	cleanup_free char *state = in_dir("state");

	start_agent("service one\n command /bin/sleep 1000\n");
	free(wait_for("state", "one running"));
	for (int fd = 0; fd < 100; fd++) {
		cleanup_free char *path = xasprintf("/proc/%d/fd/%d", (int)agent, fd);
		char target[4096] = "";

		if (readlink(path, target, sizeof(target) - 1) > 0)
			ASSERT(!strstr(target, state));
	}
	ASSERT_INT(end_agent(), 0);
}

/* What the agent has of the host is not for the programs that it runs. */
TEST(services_do_not_inherit_the_state_file_of_the_host)
{
	cleanup_free char *config = xasprintf(
		"service one\n"
		"command /bin/sh -c \"ls -l /proc/self/fd >&2; sleep 1000\"\n");
	cleanup_free char *state = in_dir("state");
	cleanup_free char *log = NULL;

	start_agent(config);
	log = wait_for("agent.log", "/proc/");
	ASSERT(!strstr(log, state));
	ASSERT_INT(end_agent(), 0);
}

TEST(a_service_waits_until_its_file_is_complete)
{
	cleanup_free char *dir = in_dir("deep/er");
	cleanup_free char *path = in_dir("deep/er/config.yaml");
	cleanup_free char *config = xasprintf(
		"service one\n when %s\n command /bin/sleep 1000\n log %s/one.log\n", path,
		test_dir());
	cleanup_free char *state = NULL;
	int64_t begin;
	int fd;

	start_agent(config);
	free(wait_for("run/state", "one waiting 0 "));
	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	ASSERT(write(fd, "half", 4) == 4);
	clock_rest_ms(50);
	state = get("run/state");
	ASSERT(strstr(state, "one waiting 0 "));
	begin = clock_now_ms();
	(void)close(fd);
	free(wait_for("run/state", "one running"));
	printf("# started %d ms after its file was closed\n", (int)(clock_now_ms() - begin));
	ASSERT(clock_now_ms() - begin < 1000);
	ASSERT_INT(end_agent(), 0);
}

TEST(a_service_is_not_started_again_without_its_file)
{
	cleanup_free char *path = in_dir("there");
	cleanup_free char *config = xasprintf("service one\n when %s\n command /bin/sleep 1000\n",
					      path);
	cleanup_free char *state = NULL;
	int pid;

	put("there", "x");
	start_agent(config);
	state = wait_for("run/state", "one running");
	ASSERT(sscanf(strstr(state, "one running"), "one running %d", &pid) == 1);
	ASSERT(unlink(path) == 0);
	kill_inside(pid);
	free(wait_for("run/state", "one waiting 0 "));
	put("there", "y");
	free(wait_for("run/state", "one running"));
	ASSERT_INT(end_agent(), 0);
}

TEST(a_service_waits_for_the_socket_it_needs)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_free char *path = in_dir("socket");
	cleanup_free char *config = xasprintf("service one\n needs %s\n command /bin/sleep 1000\n",
					      path);
	cleanup_free char *state = NULL;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, strlen(path) + 1);
	ASSERT(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	start_agent(config);
	free(wait_for("run/state", "one waiting"));
	clock_rest_ms(60);
	state = get("run/state");
	ASSERT(strstr(state, "one waiting"));
	ASSERT(listen(fd, 1) == 0);
	free(wait_for("run/state", "one running"));
	ASSERT_INT(end_agent(), 0);
}

TEST(arguments_come_from_a_file_at_each_start)
{
	cleanup_free char *config = xasprintf("service one\n command /bin/echo first\n log %s/log\n"
					      " arguments-from %s/flags WORDS\n",
					      test_dir(), test_dir());

	put("flags", "OTHER=no\nWORDS=\"--a=b --c=d\"\n");
	start_agent(config);
	free(wait_for("log", "first --a=b --c=d\n"));
	put("flags", "WORDS=new\n");
	free(wait_for("log", "first new\n"));
	ASSERT_INT(end_agent(), 0);
}

TEST(variables_are_added_to_the_environment_and_replace_its_own)
{
	cleanup_free char *config = xasprintf(
		"service one\n command /usr/bin/env\n log %s/log\n"
		" environment \"WORDS=two words\" HOME=/other\n environment LAST=\n",
		test_dir());
	cleanup_free char *log = NULL;

	start_agent(config);
	log = wait_for("log", "PATH=");
	ASSERT(strstr(log, "WORDS=two words\n"));
	ASSERT(strstr(log, "HOME=/other\n"));
	ASSERT(strstr(log, "LAST=\n"));
	ASSERT(!strstr(log, "HOME=/root\n"));
	ASSERT_INT(end_agent(), 0);
}

TEST(a_file_of_arguments_that_is_still_empty_is_waited_for)
{
	cleanup_free char *config = xasprintf("service one\n command /bin/echo first\n log %s/log\n"
					      " arguments-from %s/flags WORDS\n",
					      test_dir(), test_dir());
	cleanup_free char *log = NULL;

	put("flags", "");
	start_agent(config);
	free(wait_for("run/state", "one waiting"));
	clock_rest_ms(60);
	put("flags", "WORDS=--a\n");
	log = wait_for("log", "first --a\n");
	ASSERT(!strstr(log, "first\n"));
	ASSERT_INT(end_agent(), 0);
}

TEST(the_end_is_orderly)
{
	const char *f = test_dir();
	/* The runtime has a pod, whose process the cgroup names for as long as it lives. */
	cleanup_free char *config = xasprintf(
		"grace 4\n"
		"service runtime\n"
		" command /bin/sh -c \"trap 'echo runtime >> %s/order; exit' TERM; %s/pod & "
		"while :; do /bin/sleep 0.01; done\"\n"
		"service kubelet\n"
		" command /bin/sh -c \"trap 'echo kubelet >> %s/order; exit' TERM; echo > %s/up; "
		"while :; do /bin/sleep 0.01; done\"\n",
		f, f, f, f);
	cleanup_free char *pod = xasprintf(
		"#!/bin/sh\np=/sys/fs/cgroup/pids/x/kubepods/pod1\nmkdir -p $p\n"
		"trap 'echo pod >> %s/order; > $p/cgroup.procs; exit' TERM\n"
		"echo $$ > $p/cgroup.procs; echo > %s/pod-up\n"
		"while :; do /bin/sleep 0.01; done\n",
		f, f);
	cleanup_free char *pod_path = in_dir("pod");
	cleanup_free char *order = NULL;

	put("pod", pod);
	ASSERT(chmod(pod_path, 0755) == 0);
	start_agent(config);
	free(wait_for("up", "\n"));
	free(wait_for("pod-up", "\n"));
	ASSERT_INT(end_agent(), 0);
	order = get("order");
	ASSERT_STR(order, "kubelet\npod\nruntime\n");
	free(wait_for("run/state", "runtime stopped 0 "));
}

TEST(what_does_not_end_is_killed)
{
	cleanup_free char *up = in_dir("up");
	cleanup_free char *config = xasprintf("service one\n stop-seconds 1\n command /bin/sh -c "
					      "\"trap '' TERM; echo > %s; while :; do "
					      "/bin/sleep 0.01; done\"\n",
					      up);
	int64_t begin;

	start_agent(config);
	free(wait_for("up", "\n"));
	begin = clock_now_ms();
	ASSERT_INT(end_agent(), 0);
	ASSERT(clock_now_ms() - begin >= 1000);
	ASSERT(clock_now_ms() - begin < 3000);
}

TEST(orphans_are_reaped)
{
	cleanup_free char *up = in_dir("up");
	cleanup_free char *children = NULL;
	cleanup_free char *config = xasprintf("service one\n command /bin/sh -c \"for i in 1 2 3; "
					      "do (/bin/sleep 0.1 &); done; echo > %s; "
					      "exec /bin/sleep 1000\"\n",
					      up);
	int64_t deadline;

	start_agent(config);
	free(wait_for("up", "\n"));
	children = xasprintf("/proc/%d/task/%d/children", agent, agent);
	if (!file_exists(children))
		test_skip("the kernel does not list children");
	deadline = clock_now_ms() + 5000;
	for (;;) {
		cleanup_with(strbuf_release) struct strbuf list = STRBUF_INIT;
		unsigned count = 0;

		ASSERT_OK(file_read(children, 4096, &list, &err));
		for (const char *p = list.text; *p; p++)
			count += *p == ' ';
		if (count == 1)
			break;
		ASSERT(clock_now_ms() < deadline);
		clock_rest_ms(10);
	}
	ASSERT_INT(end_agent(), 0);
}

TEST(a_missing_program_is_tried_again)
{
	cleanup_free char *config = xasprintf(
		"service one\n command /nowhere/program\n log %s/one.log\n", test_dir());
	cleanup_free char *log = NULL;
	cleanup_free char *state = NULL;
	int restarts;

	start_agent(config);
	log = wait_for("one.log", "cannot run /nowhere/program");
	clock_rest_ms(500);
	free(wait_for("run/state", "one backoff"));
	wait_gone("run/state", " 0 0\n");
	state = get("run/state");
	ASSERT(sscanf(strstr(state, "one "), "one %*s %*d %*d %d", &restarts) == 1);
	/* 100 + 200 ms, then 400: neither given up nor hurried. */
	ASSERT(restarts >= 1 && restarts <= 3);
	ASSERT_INT(end_agent(), 0);
}

TEST(without_a_configuration_it_stays_and_ends_when_asked)
{
	start_agent_as_it_is();
	free(wait_for("agent.log", "cannot read"));
	free(wait_for("run/state", "agent "));
	ASSERT_INT(waitpid(agent, NULL, WNOHANG), 0);
	ASSERT_INT(end_agent(), 0);
}

TEST(logs_are_rotated)
{
	cleanup_free char *config = xasprintf(
		"service one\n command /bin/sh -c \"head -c 11000000 /dev/zero; echo; exec "
		"/bin/sleep 1000\"\n log %s/one.log\n",
		test_dir());
	cleanup_free char *path = in_dir("one.log");
	cleanup_free char *old = in_dir("one.log.1");
	struct stat now;
	struct stat before;

	start_agent(config);
	/* The line's end is the last byte and comes into the new file. */
	for (int64_t deadline = clock_now_ms() + 10000;;) {
		if (stat(path, &now) == 0 && stat(old, &before) == 0 &&
		    now.st_size + before.st_size == 11000001)
			break;
		ASSERT(clock_now_ms() < deadline);
		clock_rest_ms(1);
	}
	ASSERT(before.st_size <= 10 << 20);
	ASSERT_INT(end_agent(), 0);
}

static int listen_at(const char *address, unsigned port, unsigned *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ASSERT_INT(inet_pton(AF_INET, address, &at.sin_addr), 1);
	ASSERT_INT(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ASSERT_INT(listen(fd, 8), 0);
	ASSERT_INT(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

/* Start a relay from PORT of 127.0.0.1 to that of 127.0.0.2. */
static pid_t start_relay(unsigned port)
{
	cleanup_free char *number = xasprintf("%u", port);
	pid_t pid;

	if (!getenv("MANYKUBE_AGENT"))
		test_skip("MANYKUBE_AGENT is not set");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)execl(getenv("MANYKUBE_AGENT"), "manykube-agent", "relay", number,
			    "127.0.0.2", NULL);
		_exit(1);
	}
	return pid;
}

static int dial_relay(unsigned port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int64_t deadline = clock_now_ms() + 10000;

	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
		(void)close(fd);
		ASSERT(clock_now_ms() < deadline);
		clock_rest_ms(5);
	}
}

/* Read COUNT bytes, and then the end. */
static void read_all(int fd, size_t count)
{
	static char buf[65536];
	ssize_t len;

	while ((len = read(fd, buf, sizeof(buf))) > 0)
		count -= (size_t)len;
	ASSERT_INT(len, 0);
	ASSERT_INT(count, 0);
}

static void write_all_and_end(int fd, size_t count)
{
	static const char zeros[65536];

	for (; count > 0; count -= sizeof(zeros))
		ASSERT_OK(file_write_all(fd, zeros, sizeof(zeros)));
	ASSERT_INT(shutdown(fd, SHUT_WR), 0);
}

TEST(a_relay_copies_both_ways_to_the_end)
{
	const size_t size = 64 << 16;
	unsigned port;
	int listener = listen_at("127.0.0.2", 0, &port);
	pid_t relay = start_relay(port);
	int client = dial_relay(port);
	int server = accept(listener, NULL, NULL);
	pid_t writer = fork();

	/* Both write more than anybody buffers, one after the other. */
	if (writer == 0) {
		write_all_and_end(client, size);
		_exit(0);
	}
	read_all(server, size);
	ASSERT_INT(waitpid(writer, NULL, 0), writer);
	writer = fork();
	if (writer == 0) {
		write_all_and_end(server, size);
		_exit(0);
	}
	(void)close(server);
	read_all(client, size);
	ASSERT_INT(waitpid(writer, NULL, 0), writer);
	(void)close(client);
	(void)close(listener);
	(void)kill(relay, SIGTERM);
	ASSERT_INT(waitpid(relay, NULL, 0), relay);
}

TEST(a_relay_resets_connections_that_lead_nowhere)
{
	unsigned port;
	int listener = listen_at("127.0.0.2", 0, &port);
	char byte;
	pid_t relay;
	int client;

	(void)close(listener);
	relay = start_relay(port);
	client = dial_relay(port);
	ASSERT_INT(read(client, &byte, 1), -1);
	ASSERT_INT(errno, ECONNRESET);
	(void)close(client);
	(void)kill(relay, SIGTERM);
	ASSERT_INT(waitpid(relay, NULL, 0), relay);
}
