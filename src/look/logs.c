/* The logs of a cluster, and where they are. */

#include "look/logs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "node/cluster-node.h"

/* Limit, because a node can create any number of files. */
#define MOST_NAMES 10000

/* How long a node may take to answer all questions about where its logs are. */
#define LOOK_MS 60000

#define PODS "/var/log/pods"

enum place {
	PLACE_CLUSTER,
	PLACE_NODE,      /* a path in the node */
	PLACE_NODE_LOGS, /* in logs/, with the node's name in the file name */
	PLACE_POD,       /* of a control plane */
};

static const struct {
	const char *name;
	enum place place;
	const char *path; /* of a pod: its name without the node's */
} services[] = {
	{ "start", PLACE_CLUSTER, "logs/last-start.log" },
	{ "front-door", PLACE_CLUSTER, "front-door.log" },
	{ "agent", PLACE_NODE, "/var/log/agent.log" },
	{ "containerd", PLACE_NODE, "/var/log/containerd.log" },
	{ "kubelet", PLACE_NODE, "/var/log/kubelet.log" },
	{ "dockerd", PLACE_NODE, "/var/log/dockerd.log" },
	{ "kubeadm", PLACE_NODE_LOGS, "kubeadm" },
	{ "etcd", PLACE_POD, "etcd" },
	{ "apiserver", PLACE_POD, "kube-apiserver" },
	{ "controller-manager", PLACE_POD, "kube-controller-manager" },
	{ "scheduler", PLACE_POD, "kube-scheduler" },
};

void cluster_logs_show(const struct profile *profile)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		if (cluster_node_open(profile, node, &at, &why) < 0 ||
		    at.driver->files->show(&at.spec, &why) < 0)
			log_debug("cannot read logs of node '%s' from its disk: %s", node->name,
				  why.text);
	}
}

static void add_log(struct log_list *list, const char *node, size_t service, char *path)
{
	list->items = xrealloc(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = (struct log_source){
		.node = node ? xstrdup(node) : NULL,
		.service = services[service].name,
		.path = path,
		.in_node = services[service].place == PLACE_NODE ||
			   services[service].place == PLACE_POD,
		.of_container = services[service].place == PLACE_POD,
	};
}

void cluster_logs_add_shared(struct log_list *list, arg_unused const struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		if (services[i].place == PLACE_CLUSTER)
			add_log(list, NULL, i, xstrdup(services[i].path));
}

/* A node that is asked for its logs. */
struct asked {
	struct cluster_node at;
	int64_t end_ms;
	bool silent; /* nothing more is asked of it: every question may take as long */
};

static void ask_release(struct asked *asked)
{
	cluster_node_release(&asked->at);
}

static void note_answer(struct asked *asked, int r)
{
	if (r == -ETIMEDOUT || r == -EPIPE || clock_now_ms() > asked->end_ms)
		asked->silent = true;
}

/* The most recently changed directory of a pod whose name begins with PREFIX. */
static char *newest_pod(struct asked *asked, const char *prefix)
{
	const struct cluster_node *at = &asked->at;
	const struct node_files *files = at->driver->files;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *best = NULL;
	struct timespec best_time = { 0 };
	const char *name;

	note_answer(asked, files->list(&at->spec, PODS, MOST_NAMES, &names, NULL));
	strlist_for_each(name, &names) {
		cleanup_free char *path = xasprintf(PODS "/%s", name);
		struct node_file_info info;
		int r;

		if (asked->silent || strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		r = files->look(&at->spec, path, &info, NULL);
		note_answer(asked, r);
		if (r < 0 || !info.is_directory)
			continue;
		if (best && (info.changed.tv_sec < best_time.tv_sec ||
			     (info.changed.tv_sec == best_time.tv_sec &&
			      info.changed.tv_nsec <= best_time.tv_nsec)))
			continue;
		best_time = info.changed;
		free(best);
		best = take_ptr(path);
	}
	return take_ptr(best);
}

/* The log of the container's last run: N.log with the largest N. */
static char *last_run(struct asked *asked, const char *container)
{
	const struct cluster_node *at = &asked->at;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	unsigned long long best = 0;
	bool found = false;
	const char *name;

	note_answer(asked, at->driver->files->list(&at->spec, container, MOST_NAMES, &names, NULL));
	strlist_for_each(name, &names) {
		const char *dot = strchr(name, '.');
		cleanup_free char *number = dot ? xstrndup(name, (size_t)(dot - name)) : NULL;
		unsigned long long run;

		if (!dot || strcmp(dot, ".log") != 0 ||
		    parse_number(number, 0, UINT32_MAX, &run, NULL) < 0)
			continue;
		best = found ? MAX(best, run) : run;
		found = true;
	}
	return found ? xasprintf("%s/%llu.log", container, best) : NULL;
}

static char *static_pod_log(struct asked *asked, const char *pod)
{
	cleanup_free char *prefix = xasprintf("kube-system_%s-%s_", pod, asked->at.spec.name);
	cleanup_free char *path = asked->silent ? NULL : newest_pod(asked, prefix);
	cleanup_free char *container = path ? xasprintf("%s/%s", path, pod) : NULL;

	return container && !asked->silent ? last_run(asked, container) : NULL;
}

void cluster_logs_add_node(struct log_list *list, const struct profile *profile,
			   const struct node *node)
{
	cleanup_with(ask_release) struct asked asked = { CLUSTER_NODE_INIT,
							 clock_now_ms() + LOOK_MS, false };
	bool is_known = cluster_node_open(profile, node, &asked.at, NULL) == 0;
	size_t first = list->count;

	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		char *path = NULL;

		if (services[i].place == PLACE_NODE)
			path = xstrdup(services[i].path);
		else if (services[i].place == PLACE_NODE_LOGS)
			path = xasprintf("logs/%s-%s.log", services[i].path, node->name);
		else if (services[i].place == PLACE_POD && node->control_plane && is_known)
			path = static_pod_log(&asked, services[i].path);
		if (path)
			add_log(list, node->name, i, path);
	}
	for (size_t i = first; i < list->count; i++)
		list->items[i].silent = asked.silent && list->items[i].in_node;
}

void log_list_release(struct log_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].node);
		free(list->items[i].path);
	}
	free(list->items);
	*list = LOG_LIST_INIT;
}

char *cluster_logs_services(void)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		strlist_add(&names, services[i].name);
	return strlist_join(&names, ", ");
}

int cluster_logs_service(const char *name, const char **ret_service, struct error *err)
{
	const char *bare = strncmp(name, "kube-", 5) == 0 ? name + 5 : name;
	cleanup_free char *known = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		if (strcmp(services[i].name, bare) == 0) {
			*ret_service = services[i].name;
			return 0;
		}
	}
	known = cluster_logs_services();
	(void)error_because(err, &reason_usage, -EINVAL, "--service: '%s' has no log", name);
	return error_hint(err, -EINVAL, "use %s", known);
}

const char *cluster_log_words(const char *line, size_t len)
{
	/* "2026-01-02T03:04:05.678901234Z stderr F words" */
	const char *end = line + len;
	const char *at = memchr(line, ' ', len);

	if (!at || at - line < 20 || line[4] != '-' || line[10] != 'T')
		return line;
	at++;
	if (end - at < 9 || (strncmp(at, "stdout ", 7) != 0 && strncmp(at, "stderr ", 7) != 0) ||
	    (at[7] != 'F' && at[7] != 'P') || at[8] != ' ')
		return line;
	return at + 9;
}

bool cluster_log_is_problem(const char *line, size_t len)
{
	static const char *const signs[] = {
		"level=error",
		"level=fatal",
		"\"level\":\"error\"",
		"\"level\":\"fatal\"",
		"\"level\":\"panic\"",
		"panic:",
		"rror execution phase",
		"no space left",
		"too many open files",
		"ut of memory",
		"OOMKilled",
		" failed: ",
		" warning ",
		"certificate has expired",
	};
	const char *words = cluster_log_words(line, len);
	size_t left = len - (size_t)(words - line);

	/* klog: E or F and the date. */
	if (left > 5 && (words[0] == 'E' || words[0] == 'F') &&
	    strspn(words + 1, "0123456789") == 4 && words[5] == ' ')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (memmem(words, left, signs[i], strlen(signs[i])))
			return true;
	return false;
}
