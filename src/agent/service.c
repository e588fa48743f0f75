/* The services that the agent keeps running. */

#include "agent/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/output.h"
#include "agent/text.h"
#include "agent/watch.h"

enum state {
	STATE_WAITING,
	STATE_RUNNING,
	STATE_BACKOFF,
	STATE_STOPPING,
	STATE_STOPPED,
	STATE_HELD,
};

static const char *const state_words[] = {
	[STATE_WAITING] = "waiting",   [STATE_RUNNING] = "running", [STATE_BACKOFF] = "backoff",
	[STATE_STOPPING] = "stopping", [STATE_STOPPED] = "stopped", [STATE_HELD] = "held",
};

static const unsigned backoff_first_ms = 100;
static const unsigned backoff_most_ms = 10000;
static const int64_t healthy_after_ms = 30000;
static const int64_t poll_ms = 20;
static const int64_t hold_poll_ms = 200;

/* A service for which there is a file here is held down; see fail/hold.h. */
static const char hold_dir[] = "/etc/manykube/hold/";

static char *const environment[] = {
	(char[]){ "PATH=/opt/manykube/bin:/opt/cni/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:"
		  "/usr/bin:/sbin:/bin" },
	(char[]){ "HOME=/root" },
	NULL,
};

struct service {
	const struct agent_service *config;
	enum state state;
	pid_t pid;
	time_t since;
	int64_t started_ms;
	int64_t due_ms; /* the next attempt to start; 0: now, or at an event */
	unsigned backoff_ms;
	unsigned restarts;
	bool was_started;
	struct output output;
};

static struct service services[AGENT_SERVICES_MAX];
static struct watch watches[AGENT_SERVICES_MAX];
static unsigned count;
static const char *state_path;
static volatile char *host_page;
static int inotify = -1;
static bool closing;

static void write_for_node(const struct text *content)
{
	struct text temporary = { 0 };
	int fd;

	text_add(&temporary, state_path, ".new", NULL);
	(void)unlink(temporary.buf);
	fd = open(temporary.buf, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0) {
		say("cannot create ", temporary.buf, ": ", strerror(errno), NULL);
		return;
	}
	(void)fchmod(fd, 0644);
	write_all(fd, content->buf, content->len);
	(void)close(fd);
	if (rename(temporary.buf, state_path) < 0)
		say("cannot replace ", state_path, ": ", strerror(errno), NULL);
}

/* The first character is NUL while the text is being written, so that readers detect an incomplete
 * state. */
static void write_for_host(const struct text *content)
{
	if (!host_page)
		return;
	host_page[0] = '\0';
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (size_t i = 1; i < sizeof(content->buf); i++)
		host_page[i] = i < content->len ? content->buf[i] : '\n';
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	host_page[0] = content->buf[0];
}

/*
 * Map the host's file FD and close FD: the node's root could take over an open descriptor and grow
 * the file beyond the size of the node's disk.
 */
static volatile char *map_for_host(int fd)
{
	void *page;

	if (fd < 0)
		return NULL;
	page = mmap(NULL, sizeof(((struct text *)0)->buf), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	if (page == MAP_FAILED)
		say("cannot map the host's state file: ", strerror(errno), NULL);
	(void)close(fd);
	return page == MAP_FAILED ? NULL : page;
}

static void write_state(void)
{
	struct text content = { 0 };

	text_add(&content, "agent ", MANYKUBE_VERSION, "\n", NULL);
	for (unsigned i = 0; i < count; i++) {
		const struct service *service = &services[i];

		text_add(&content, service->config->name, " ", state_words[service->state], " ",
			 NULL);
		text_add_number(&content, (uint64_t)service->pid);
		text_add(&content, " ", NULL);
		text_add_number(&content, (uint64_t)service->since);
		text_add(&content, " ", NULL);
		text_add_number(&content, service->restarts);
		text_add(&content, "\n", NULL);
	}
	write_for_node(&content);
	write_for_host(&content);
}

static void set_state(struct service *service, enum state state)
{
	service->state = state;
	service->since = time(NULL);
	write_state();
}

void services_open(const struct agent_config *config, const char *state_file, int state_fd)
{
	struct text dir = { 0 };
	char *slash;

	state_path = state_file;
	host_page = map_for_host(state_fd);
	text_add(&dir, state_file, NULL);
	slash = strrchr(dir.buf, '/');
	if (slash && slash != dir.buf) {
		*slash = '\0';
		(void)mkdir(dir.buf, 0755);
	}
	inotify = watch_open();
	count = config->count;
	for (unsigned i = 0; i < count; i++) {
		services[i].config = &config->services[i];
		services[i].since = time(NULL);
		watches[i].path = config->services[i].when;
		output_open(&services[i].output, config->services[i].log);
		watch_look(&watches[i]);
	}
	write_state();
}

static bool socket_accepts(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	bool accepts;
	int fd;

	if (len >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, path, len + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	/* EAGAIN: there is a listener, but its queue is full. */
	accepts = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ||
		  errno == EAGAIN;
	(void)close(fd);
	return accepts;
}

/* Whether the file of arguments-from exists but is empty, because it is just being written. */
static bool arguments_are_coming(const struct agent_service *config)
{
	struct stat st;

	return config->arguments_file && stat(config->arguments_file, &st) == 0 && st.st_size == 0;
}

/* The command followed by the words of arguments-from, in static memory. */
static char **make_arguments(const struct agent_service *config)
{
	static char *argv[2 * AGENT_ARGUMENTS_MAX + 1];
	static char text[AGENT_CONFIG_MAX + 1];

	memcpy(argv, config->argv, (config->argc + 1) * sizeof(*argv));
	if (config->arguments_file &&
	    read_file(config->arguments_file, text, AGENT_CONFIG_MAX) >= 0)
		(void)agent_arguments_parse(text, config->arguments_name, argv + config->argc,
					    AGENT_ARGUMENTS_MAX);
	return argv;
}

/* The variables of CONFIG, those of environment-from, and the default ones that they do not
 * replace, in static memory. */
static char **make_environment(const struct agent_service *config)
{
	static char
		*variables[2 * AGENT_ARGUMENTS_MAX + sizeof(environment) / sizeof(*environment)];
	static char text[AGENT_CONFIG_MAX + 1];
	unsigned given = config->variable_count;
	unsigned used;

	memcpy(variables, config->variables, given * sizeof(*variables));
	if (config->environment_file &&
	    read_file(config->environment_file, text, AGENT_CONFIG_MAX) >= 0)
		given += agent_environment_parse(text, variables + given, AGENT_ARGUMENTS_MAX);
	used = given;
	for (char *const *own = environment; *own; own++) {
		size_t name_len = strcspn(*own, "=") + 1;
		bool is_replaced = false;

		for (unsigned i = 0; i < given; i++)
			is_replaced |= strncmp(variables[i], *own, name_len) == 0;
		if (!is_replaced)
			variables[used++] = *own;
	}
	variables[used] = NULL;
	return variables;
}

static _Noreturn void become(const struct service *service, char **argv)
{
	struct text problem = { 0 };
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	if (service->output.write_fd >= 0) {
		(void)dup2(service->output.write_fd, STDOUT_FILENO);
		(void)dup2(service->output.write_fd, STDERR_FILENO);
	}
	(void)execve(argv[0], argv, make_environment(service->config));
	text_add(&problem, "cannot run ", argv[0], ": ", strerror(errno), "\n", NULL);
	write_all(STDERR_FILENO, problem.buf, problem.len);
	_exit(127);
}

static void back_off(struct service *service)
{
	unsigned delay = service->backoff_ms ? service->backoff_ms : backoff_first_ms;

	service->due_ms = now_ms() + delay;
	service->backoff_ms = delay * 2 < backoff_most_ms ? delay * 2 : backoff_most_ms;
	set_state(service, STATE_BACKOFF);
}

static void start_service(struct service *service)
{
	char **argv = make_arguments(service->config);
	pid_t pid = fork();

	if (pid == 0)
		become(service, argv);
	if (service->was_started)
		service->restarts++;
	service->was_started = true;
	if (pid < 0) {
		say("cannot start ", service->config->name, ": ", strerror(errno), NULL);
		back_off(service);
		return;
	}
	service->pid = pid;
	service->started_ms = now_ms();
	say_number(service->config->name, " started as process ", (uint64_t)pid);
	set_state(service, STATE_RUNNING);
}

/* Whether a service in STATE is to be started some time. */
static bool is_due_state(enum state state)
{
	return state == STATE_WAITING || state == STATE_BACKOFF || state == STATE_HELD;
}

static bool is_held(const struct service *service)
{
	struct text path = { 0 };

	text_add(&path, hold_dir, service->config->name, NULL);
	return access(path.buf, F_OK) == 0;
}

/* Whether SERVICE, which is due, has to stay down.  A hold is looked for again until it ends. */
static bool stays_held(struct service *service, int64_t now)
{
	if (is_held(service)) {
		if (service->state != STATE_HELD) {
			say(service->config->name, " is held down", NULL);
			set_state(service, STATE_HELD);
		}
		service->due_ms = now + hold_poll_ms;
		return true;
	}
	if (service->state == STATE_HELD) {
		service->backoff_ms = 0;
		set_state(service, STATE_WAITING);
	}
	return false;
}

/* Whether SERVICE can start now.  Sets the time of the next check if no event will announce it. */
static bool may_start(struct service *service, struct watch *watch, int64_t now)
{
	if (!is_due_state(service->state) || now < service->due_ms || stays_held(service, now))
		return false;
	if (watch->path && service->state == STATE_BACKOFF && access(watch->path, F_OK) < 0)
		watch->there = false;
	if (service->state == STATE_BACKOFF)
		watch_look(watch);
	if (watch->path && !watch->there) {
		if (service->state == STATE_BACKOFF) {
			say(service->config->name, " is waiting for ", watch->path, NULL);
			set_state(service, STATE_WAITING);
		}
		service->due_ms = 0;
		return false;
	}
	if ((service->config->needs && !socket_accepts(service->config->needs)) ||
	    arguments_are_coming(service->config)) {
		service->due_ms = now + poll_ms;
		return false;
	}
	return true;
}

int services_advance(void)
{
	int64_t soonest = INT64_MAX;
	int64_t now = now_ms();

	for (unsigned i = 0; i < count && !closing; i++) {
		struct service *service = &services[i];

		if (may_start(service, &watches[i], now))
			start_service(service);
		if (is_due_state(service->state) && service->due_ms > 0 &&
		    service->due_ms < soonest)
			soonest = service->due_ms;
	}
	if (soonest == INT64_MAX)
		return -1;
	return soonest > now ? (int)(soonest - now) : 0;
}

bool services_ended(pid_t pid, int status)
{
	for (unsigned i = 0; i < count; i++) {
		struct service *service = &services[i];

		if (service->pid != pid)
			continue;
		if (WIFSIGNALED(status))
			say_number(service->config->name, " was killed by signal ",
				   (uint64_t)WTERMSIG(status));
		else
			say_number(service->config->name, " ended with status ",
				   (uint64_t)WEXITSTATUS(status));
		service->pid = 0;
		if (closing) {
			set_state(service, STATE_STOPPED);
			return true;
		}
		if (now_ms() - service->started_ms >= healthy_after_ms) {
			service->backoff_ms = 0;
			service->restarts = 0;
		}
		back_off(service);
		return true;
	}
	return false;
}

unsigned services_poll(struct pollfd *polls)
{
	unsigned n = 0;

	if (inotify >= 0)
		polls[n++] = (struct pollfd){ .fd = inotify, .events = POLLIN };
	for (unsigned i = 0; i < count; i++)
		if (services[i].output.read_fd >= 0)
			polls[n++] = (struct pollfd){ .fd = services[i].output.read_fd,
						      .events = POLLIN };
	return n;
}

void services_read(void)
{
	if (inotify >= 0)
		watch_read(watches, count);
	for (unsigned i = 0; i < count; i++)
		output_drain(&services[i].output);
}

void services_close(void)
{
	closing = true;
	for (unsigned i = 0; i < count; i++)
		if (!services[i].pid)
			set_state(&services[i], STATE_STOPPED);
}

bool services_signal(unsigned index, int signal)
{
	struct service *service = &services[index];

	if (!service->pid)
		return false;
	say_number(service->config->name, " is sent signal ", (uint64_t)signal);
	(void)kill(service->pid, signal);
	if (service->state != STATE_STOPPING)
		set_state(service, STATE_STOPPING);
	return true;
}

bool services_runs(unsigned index)
{
	return services[index].pid != 0;
}
