/*
 * Watching a start.
 *
 * Each thing that is waited for has a process of its own that looks for it again and again:
 * a request that hangs then delays no other.  They tell the moment in memory that is shared
 * with us, while we read what the command says.
 */

#include "watch.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "api/kube.h"
#include "ask-dns.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "record/profile.h"

#define TICK_MS     20 /* how often we look where that costs the cluster little */
#define ASK_MS      50 /* and where it does cost something */
#define REQUEST_MS  2000
#define FIRST_NODE  "node-1"
#define POD_FILE    "var/tmp/bench/ran"
#define POD_PATH    "/api/v1/namespaces/default/pods"
#define SUPER_ADMIN "etc/kubernetes/super-admin.conf"

/* What the first control plane's files tell of how far it is: patterns below its directory. */
static const struct {
	const char *name;
	const char *pattern;
} milestones[] = {
	{ "kubeadm has made certificates", SUPER_ADMIN },
	{ "kubelet may start", "var/lib/kubelet/kubeadm-flags.env" },
	{ "kubelet begins pods", "var/log/pods/*" },
	{ "API server's container runs", "var/log/pods/*_kube-apiserver-*/*/0.log" },
	{ "etcd writes", "var/lib/etcd/member/wal" },
	{ "kube-proxy's container runs", "var/log/pods/*_kube-proxy-*/*/0.log" },
};

/* What a watcher has to itself. */
struct watcher {
	const struct watch_options *options;
	struct profile profile;
	struct kube *kube;
	struct ask_dns dns;
	int64_t begun_wall; /* seconds since 1970 */
	bool pod_made;
};

static double now_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A client that may do everything from the first moment on, before kubeadm has made any rules. */
static bool open_client(struct watcher *watcher)
{
	cleanup_free char *path = xasprintf("%s/nodes/" FIRST_NODE "/tree/" SUPER_ADMIN,
					    watcher->profile.dir);
	cleanup_free char *server = xasprintf("https://127.0.0.1:%u", watcher->profile.api_port);

	if (watcher->kube)
		return true;
	if (kube_open(path, &watcher->kube, NULL) < 0)
		return false;
	if (!watcher->options->direct)
		kube_set_server(watcher->kube, server);
	return true;
}

static bool api_is_ready(struct watcher *watcher)
{
	return open_client(watcher) && kube_is_ok(watcher->kube, "/readyz", REQUEST_MS);
}

static bool api_serves(struct watcher *watcher)
{
	return open_client(watcher) && kube_is_ok(watcher->kube, "/api/v1/nodes", REQUEST_MS);
}

static bool default_account_is_there(struct watcher *watcher)
{
	return open_client(watcher) &&
	       kube_is_ok(watcher->kube, "/api/v1/namespaces/default/serviceaccounts/default",
			  REQUEST_MS);
}

static bool nodes_are_ready(struct watcher *watcher)
{
	json_auto_t *list = NULL;
	unsigned ready = 0;
	json_t *node;
	size_t i;

	if (!open_client(watcher) || kube_request(watcher->kube, KUBE_GET, "/api/v1/nodes", NULL,
						  REQUEST_MS, &list, NULL) < 0)
		return false;
	json_array_foreach(json_object_get(list, "items"), i, node)
		ready += kube_node_is_ready(node);
	return ready >= watcher->options->nodes;
}

/* The pod leaves a file in its node's /var, which we can see: no need to ask the API for it. */
static bool make_pod(struct watcher *watcher)
{
	static const char pod[] =
		"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"bench\"},"
		" \"spec\": {\"terminationGracePeriodSeconds\": 0,"
		"  \"automountServiceAccountToken\": false,"
		"  \"tolerations\": [{\"key\": \"node-role.kubernetes.io/control-plane\","
		"   \"operator\": \"Exists\"}],"
		"  \"containers\": [{\"name\": \"bench\","
		"   \"image\": \"docker.io/library/busybox:latest\","
		"   \"imagePullPolicy\": \"Never\","
		"   \"command\": [\"sh\", \"-c\", \"echo > /bench/ran; exec sleep 1000000\"],"
		"   \"volumeMounts\": [{\"name\": \"bench\", \"mountPath\": \"/bench\"}]}],"
		"  \"volumes\": [{\"name\": \"bench\", \"hostPath\":"
		"   {\"path\": \"/var/tmp/bench\", \"type\": \"DirectoryOrCreate\"}}]}}";
	json_auto_t *body = json_loads(pod, 0, NULL);
	int r;

	assert(body);
	r = kube_request(watcher->kube, KUBE_CREATE, POD_PATH, body, REQUEST_MS, NULL, NULL);
	return r == 0 || r == -EEXIST;
}

static bool pod_ran(struct watcher *watcher)
{
	const struct node *node;

	if (!watcher->pod_made)
		watcher->pod_made = open_client(watcher) && make_pod(watcher);
	profile_for_each_node(node, &watcher->profile) {
		cleanup_free char *path = xasprintf("%s/nodes/%s/tree/" POD_FILE,
						    watcher->profile.dir, node->name);

		if (file_exists(path))
			return true;
	}
	return false;
}

static bool dns_answers(struct watcher *watcher)
{
	return ask_dns_try(&watcher->dns, &watcher->profile);
}

/* Whether POD is Ready and all its containers were started after SINCE: what the API remembers of
 * the time before counts for nothing. */
static bool pod_runs(const json_t *pod, const char *since)
{
	const json_t *status = json_object_get(pod, "status");
	json_t *container;
	size_t i;

	json_array_foreach(json_object_get(status, "containerStatuses"), i, container) {
		const json_t *running = json_object_get(json_object_get(container, "state"),
							"running");
		const char *started = json_string_value(json_object_get(running, "startedAt"));

		if (!started || strcmp(started, since) < 0)
			return false;
	}
	return kube_node_is_ready(pod);
}

static bool pods_run(struct watcher *watcher)
{
	cleanup_free char *since = clock_rfc3339(watcher->begun_wall);
	json_auto_t *list = NULL;
	json_t *pod;
	size_t i;

	if (!open_client(watcher) || kube_request(watcher->kube, KUBE_GET, "/api/v1/pods", NULL,
						  REQUEST_MS, &list, NULL) < 0)
		return false;
	json_array_foreach(json_object_get(list, "items"), i, pod)
		if (!pod_runs(pod, since))
			return false;
	return true;
}

/* What is waited for: with which kinds of start, and whether it is NEEDED for one to be over. */
static const struct {
	const char *name;
	bool (*look)(struct watcher *watcher);
	unsigned pause_ms;
	enum watch_kind kinds;
	bool needed;
} sights[] = {
	{ "api", api_is_ready, TICK_MS, WATCH_NEW | WATCH_AGAIN, true },
	{ "ready", nodes_are_ready, ASK_MS, WATCH_NEW, true },
	{ "pod", pod_ran, ASK_MS, WATCH_NEW, true },
	{ "dns", dns_answers, ASK_MS, WATCH_NEW, true },
	{ "pods", pods_run, ASK_MS, WATCH_AGAIN, true },
	{ "API answers requests", api_serves, TICK_MS, WATCH_NEW, false },
	{ "default service account", default_account_is_there, ASK_MS, WATCH_NEW, false },
};

struct watch {
	const struct watch_options *options;
	struct profile profile;
	volatile double *seen; /* one per sight, shared with the watchers; 0: not yet */
	pid_t watchers[ARRAY_SIZE(sights)];
	struct process process;
	int errors; /* the command's stderr */
	struct strbuf line;
	double begun;
	double returned;
	json_t *milestones;
	json_t *steps;
	int status; /* -1: still runs */
};

static _Noreturn void be_watcher(struct watch *watch, size_t sight)
{
	struct watcher watcher = { .options = watch->options,
				   .profile = PROFILE_INIT,
				   .begun_wall = clock_wall_seconds() };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ask_dns_init(&watcher.dns, NULL) < 0)
		_exit(EXIT_FAILURE);
	while (!watcher.profile.dir || !sights[sight].look(&watcher)) {
		clock_rest_ms(watcher.profile.dir ? sights[sight].pause_ms : TICK_MS);
		if (!watcher.profile.dir)
			(void)profile_load(watch->options->profile, &watcher.profile, NULL);
	}
	watch->seen[sight] = now_seconds() - watch->begun;
	_exit(EXIT_SUCCESS);
}

static int start_watchers(struct watch *watch, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(sights); i++) {
		if (!(sights[i].kinds & watch->options->kind))
			continue;
		watch->watchers[i] = fork();
		if (watch->watchers[i] < 0)
			return error_sys(err, "cannot start a process");
		if (watch->watchers[i] == 0)
			be_watcher(watch, i);
	}
	return 0;
}

/* Take the lines that the command has written since. */
static void read_errors(struct watch *watch)
{
	double now = now_seconds() - watch->begun;
	char *end;
	ssize_t len;

	for (;;) {
		len = read(watch->errors, strbuf_grow(&watch->line, 4096), 4096);
		if (len <= 0)
			break;
		strbuf_grown(&watch->line, (size_t)len);
	}
	while ((end = memchr(watch->line.text, '\n', watch->line.len))) {
		size_t line_len = (size_t)(end - watch->line.text);

		(void)json_array_append_new(
			watch->steps,
			json_pack("{s:f, s:s%}", "at", now, "text", watch->line.text, line_len));
		strbuf_drop_front(&watch->line, line_len + 1);
	}
}

static void look_at_files(struct watch *watch)
{
	for (size_t i = 0; i < ARRAY_SIZE(milestones); i++) {
		cleanup_free char *pattern = NULL;
		glob_t found = { 0 };

		if (json_object_get(watch->milestones, milestones[i].name))
			continue;
		pattern = xasprintf("%s/nodes/" FIRST_NODE "/tree/%s", watch->profile.dir,
				    milestones[i].pattern);
		if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
			(void)json_object_set_new(watch->milestones, milestones[i].name,
						  json_real(now_seconds() - watch->begun));
		globfree(&found);
	}
}

static void look(struct watch *watch)
{
	read_errors(watch);
	if (watch->status < 0) {
		/* The clock itself as the deadline: only look whether it has ended. */
		watch->status = process_wait(&watch->process, clock_now_ms(), NULL);
		if (watch->status >= 0)
			watch->returned = now_seconds() - watch->begun;
	}
	if (!watch->profile.dir)
		(void)profile_load(watch->options->profile, &watch->profile, NULL);
	if (watch->profile.dir)
		look_at_files(watch);
}

static bool is_done(const struct watch *watch)
{
	if (watch->status != 0)
		return watch->status > 0;
	for (size_t i = 0; i < ARRAY_SIZE(sights); i++)
		if (watch->watchers[i] > 0 && sights[i].needed && watch->seen[i] <= 0)
			return false;
	return true;
}

static int spawn(struct watch *watch, struct error *err)
{
	struct process_options options = { .no_stdin = true, .stdout_fd = STDERR_FILENO };
	cleanup_fd int theirs = -1;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	watch->errors = fds[0];
	theirs = fds[1];
	if (fcntl(watch->errors, F_SETFL, O_NONBLOCK) < 0)
		return error_sys(err, "cannot prepare a pipe");
	options.stderr_fd = theirs;
	watch->begun = now_seconds();
	return process_spawn(watch->options->argv, &options, &watch->process, err);
}

static void release_watch(struct watch *watch)
{
	for (size_t i = 0; i < ARRAY_SIZE(sights); i++) {
		if (watch->watchers[i] <= 0)
			continue;
		(void)kill(watch->watchers[i], SIGKILL);
		(void)waitpid(watch->watchers[i], NULL, 0);
	}
	process_release(&watch->process);
	cleanup_fd_(&watch->errors);
	strbuf_release(&watch->line);
	profile_release(&watch->profile);
	json_decref(watch->milestones);
	json_decref(watch->steps);
}

/* Take the pod away again: what is measured next is a cluster at rest. */
static void remove_pod(const struct watch *watch)
{
	struct watcher watcher = { .options = watch->options, .profile = watch->profile };

	if (watch->profile.dir && open_client(&watcher)) {
		(void)kube_request(watcher.kube, KUBE_DELETE, POD_PATH "/bench", NULL, REQUEST_MS,
				   NULL, NULL);
		kube_free(watcher.kube);
	}
}

static json_t *report(const struct watch *watch)
{
	json_t *times = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(sights); i++)
		if (watch->seen[i] > 0)
			(void)json_object_set_new(sights[i].needed ? times : watch->milestones,
						  sights[i].name, json_real(watch->seen[i]));
	if (watch->returned > 0)
		(void)json_object_set_new(times, "returned", json_real(watch->returned));
	return json_pack("{s:i, s:o, s:O, s:O}", "status", watch->status, "times", times,
			 "milestones", watch->milestones, "steps", watch->steps);
}

int watch_start(const struct watch_options *options, json_t **ret, struct error *err)
{
	cleanup_with(release_watch) struct watch watch = {
		.options = options,
		.profile = PROFILE_INIT,
		.process = PROCESS_INIT,
		.errors = -1,
		.line = STRBUF_INIT,
		.milestones = json_object(),
		.steps = json_array(),
		.status = -1,
	};
	int64_t deadline = clock_now_ms() + (int64_t)options->seconds * 1000;
	int r;

	watch.seen = mmap(NULL, sizeof(double) * ARRAY_SIZE(sights), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (watch.seen == MAP_FAILED)
		return error_sys(err, "cannot share memory");
	r = spawn(&watch, err);
	if (r == 0)
		r = start_watchers(&watch, err);
	if (r < 0)
		return r;
	while (!is_done(&watch) && clock_now_ms() < deadline) {
		look(&watch);
		clock_rest_ms(TICK_MS);
	}
	read_errors(&watch);
	remove_pod(&watch);
	*ret = report(&watch);
	return 0;
}
