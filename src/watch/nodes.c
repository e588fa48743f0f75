/* Loading the network policies of nodes. */

#include "watch/nodes.h"

#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "host/cage.h"

#define DIRECTORY "policies"

static const unsigned retry_ms = 200;
static const unsigned most_doublings = 7;
static const unsigned tries_while_down = 5;

/*
 * What loading the largest model may take.  Two nodes at a time, so that one whose root user makes
 * it wait does not keep all others waiting.
 */
static const rlim_t memory_most_bytes = 256 << 20;
static const rlim_t cpu_most_seconds = 20;
static const unsigned load_most_seconds = 30;
static const unsigned loads_most = 2;

struct watched {
	struct watch_nodes *nodes;
	char *name;
	char *wanted; /* the text of its model */
	char *rules;  /* NULL: none */
	bool again;   /* these are to be loaded as soon as that is possible */
	struct process process;
	struct loop_source *life;
	struct loop_source *retry;
	unsigned failures;
};

struct watch_nodes {
	struct loop *loop;
	char *dir;
	watch_install_fn install;
	struct watched **all;
	size_t count;
	unsigned loads; /* under way */
	size_t next;    /* whose turn it is, if several wait */
};

char *watch_nodes_path(const char *dir, const char *name)
{
	return xasprintf("%s/" DIRECTORY "/%s", dir, name);
}

struct watch_nodes *watch_nodes_new(struct loop *loop, const char *dir, watch_install_fn install)
{
	struct watch_nodes *nodes = xcalloc(1, sizeof(*nodes));

	*nodes = (struct watch_nodes){ .loop = loop, .dir = xstrdup(dir), .install = install };
	return nodes;
}

static void load(struct watched *watched);
static void load_next(struct watch_nodes *nodes);

static int on_retry(void *data, arg_unused struct error *err)
{
	struct watched *watched = data;

	loop_remove(take_ptr(watched->retry));
	load(watched);
	return 0;
}

static int on_loaded(int status, void *data, struct error *err)
{
	struct watched *watched = data;
	unsigned doublings = MIN(watched->failures, most_doublings);

	loop_remove(take_ptr(watched->life));
	(void)close(watched->process.pidfd);
	watched->process = PROCESS_INIT;
	watched->nodes->loads--;
	watched->failures = status == 0 ? 0 : watched->failures + 1;
	load_next(watched->nodes);
	/* A node that does not run loads its policies when it starts; but it may have read the file
	 * just before that was written. */
	if (!watched->again && watched->process.pid <= 0 && status != 0 &&
	    (status != ESRCH || watched->failures <= tries_while_down))
		return loop_add_timer(watched->nodes->loop, retry_ms << doublings, 0, on_retry,
				      watched, &watched->retry, err);
	return 0;
}

static _Noreturn void load_and_exit(const struct watched *watched)
{
	const struct process_limit limits[] = {
		{ RLIMIT_DATA, CAGE_SANITIZED ? RLIM_INFINITY : memory_most_bytes },
		{ RLIMIT_CPU, cpu_most_seconds },
		{ RLIMIT_CORE, 0 },
	};
	struct error err = ERROR_INIT;
	sigset_t none;
	int r;

	/* Release inherited locks and sockets, which a new front door may need. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)close_range(3, ~0u, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(load_most_seconds);
	if (process_lower_limits(limits, ARRAY_SIZE(limits)) < 0)
		log_warning("cannot limit what loading network policies takes: %m");
	r = watched->nodes->install(watched->nodes->dir, watched->name, watched->rules, &err);
	if (r < 0 && r != -ESRCH)
		log_warning("%s", err.text);
	_exit(-r & 0xff);
}

static void load(struct watched *watched)
{
	pid_t pid;

	watched->again = watched->nodes->loads >= loads_most;
	if (watched->again)
		return;
	pid = fork();
	if (pid == 0)
		load_and_exit(watched);
	if (pid < 0)
		return;
	watched->process = (struct process){ .pid = pid, .pidfd = pidfd_open(pid, 0) };
	if (watched->process.pidfd < 0 ||
	    loop_add_child(watched->nodes->loop, pid, watched->process.pidfd, on_loaded, watched,
			   &watched->life, NULL) < 0)
		process_release(&watched->process);
	else
		watched->nodes->loads++;
}

/* Load the rules that wait, in turn. */
static void load_next(struct watch_nodes *nodes)
{
	size_t first = nodes->next;

	for (size_t i = 0; i < nodes->count && nodes->loads < loads_most; i++) {
		size_t place = (first + i) % nodes->count;
		struct watched *watched = nodes->all[place];

		if (!watched->again || watched->process.pid > 0)
			continue;
		load(watched);
		nodes->next = place + 1;
	}
}

static struct watched *find_watched(struct watch_nodes *nodes, const char *name)
{
	struct watched *watched;

	for (size_t i = 0; i < nodes->count; i++)
		if (strcmp(nodes->all[i]->name, name) == 0)
			return nodes->all[i];
	watched = xcalloc(1, sizeof(*watched));
	*watched = (struct watched){ .nodes = nodes,
				     .name = xstrdup(name),
				     .process = PROCESS_INIT };
	nodes->all = xrealloc(nodes->all, nodes->count + 1, sizeof(struct watched *));
	nodes->all[nodes->count++] = watched;
	return watched;
}

static int write_model(const struct watched *watched, const struct strbuf *text, struct error *err)
{
	cleanup_free char *directory = xasprintf("%s/" DIRECTORY, watched->nodes->dir);
	cleanup_free char *path = watch_nodes_path(watched->nodes->dir, watched->name);
	int r = file_make_dirs(directory, 0700, err);

	return r < 0 ? r : file_put(path, text->text, text->len, 0600, err);
}

void watch_nodes_set(struct watch_nodes *nodes, const char *name, const struct policy_model *model)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct watched *watched = find_watched(nodes, name);
	bool empty = policy_model_is_empty(model);
	int r = 0;

	if (!empty)
		policy_model_print(model, &text);
	if (watched->wanted && strcmp(watched->wanted, text.text) == 0)
		return;
	if (empty) {
		cleanup_free char *path = watch_nodes_path(nodes->dir, name);

		(void)unlink(path);
	} else {
		r = write_model(watched, &text, &err);
	}
	if (r < 0)
		log_warning("%s", err.text);
	free(watched->wanted);
	free(watched->rules);
	watched->wanted = strbuf_take(&text);
	watched->rules = empty ? NULL : policy_model_render(model, false);
	watched->again = true;
	watched->failures = 0;
	if (watched->retry)
		loop_remove(take_ptr(watched->retry));
	if (watched->process.pid <= 0)
		load(watched);
}

void watch_nodes_free(struct watch_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		struct watched *watched = nodes->all[i];

		if (watched->life)
			loop_remove(watched->life);
		if (watched->retry)
			loop_remove(watched->retry);
		if (watched->process.pid > 0)
			(void)process_wait(&watched->process, 0, NULL);
		free(watched->name);
		free(watched->wanted);
		free(watched->rules);
		free(watched);
	}
	free(nodes->all);
	free(nodes->dir);
	free(nodes);
}
