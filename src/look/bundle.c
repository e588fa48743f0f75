/* An archive of everything that helps to diagnose a cluster. */

#include "look/bundle.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tail.h"
#include "base/user-file.h"
#include "data/tar.h"
#include "look/audit.h"
#include "look/logs.h"
#include "look/status.h"
#include "node/cluster-node.h"
#include "probe/probe.h"
#include "record/world.h"

/* The maximum number of bytes of a file; its end is used. */
#define LOG_BYTES (64 << 20)
#define POD_BYTES (5 << 20)

/* The maximum for a node, whose root user may fill its directories with anything. */
#define NODE_BYTES (512 << 20)
#define NODE_FILES 3000
#define NODE_MS    (120 * 1000)

/* The directory for a node's own files in the bundle. */
#define INSIDE "tree"

struct bundle {
	const struct profile *profile;
	struct tar_writer tar;
	char *top;              /* the directory that contains everything */
	struct strbuf left_out; /* what could not be read, one line each */
	struct strlist values;  /* of nodes' variables, which are hidden everywhere */
	uint64_t node_left;     /* how many bytes of a node may still be added */
	unsigned node_files;    /* and how many files */
	int64_t node_end_ms;    /* and until when */
	bool node_silent;       /* nothing more is asked of it */
};

static void leave_out(struct bundle *bundle, const char *what, const char *why)
{
	strbuf_add_printable(&bundle->left_out, what, strlen(what));
	strbuf_addf(&bundle->left_out, ": %s\n", why);
}

/* Add TEXT as NAME without its secrets.  Only failures of the archive itself are errors. */
static int add_text(struct bundle *bundle, const char *name, const char *text, size_t len,
		    struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf clean = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/%s", bundle->top, name);
	int r;

	bundle_redact(text, len, &clean);
	bundle_hide(&clean, &bundle->values);
	r = tar_add_data(&bundle->tar, path, clean.text, clean.len, 0600, &why);
	if (r == -ENAMETOOLONG) {
		leave_out(bundle, name, why.text);
		return 0;
	}
	return r < 0 ? error_set(err, r, "%s", why.text) : 0;
}

/* The source of files of the bundle: a node, or a directory of the host. */
struct origin {
	const struct cluster_node *at; /* NULL: the directory */
	const char *dir;
	const char *shown; /* the prefix of their paths in the bundle */
};

/*
 * Append the end of the file PATH, at most MOST bytes, to OUT, starting at the beginning of a line.
 */
static int read_end(const struct origin *from, const char *path, size_t most, struct strbuf *out,
		    struct error *err)
{
	cleanup_with(tail_release) struct tail tail = TAIL_INIT;
	const char *line;
	int r = from->at ? from->at->driver->files->read_end(&from->at->spec, path, most, &tail,
							     out, err)
			 : tail_end(from->dir, path, most, &tail, out, err);

	line = r == 0 && out->len == most ? memchr(out->text, '\n', out->len) : NULL;
	if (line)
		strbuf_drop_front(out, (size_t)(line + 1 - out->text));
	return r;
}

/* Ask no more of a node that does not answer, or that has taken its time: every further question
 * may take as long. */
static void note_answer(struct bundle *bundle, const struct origin *from, int r)
{
	const char *why = r == -ETIMEDOUT || r == -EPIPE ? "the node does not answer"
			  : clock_now_ms() > bundle->node_end_ms
				  ? "reading the files of this node takes too long"
				  : NULL;

	if (!from->at || !why || bundle->node_silent)
		return;
	bundle->node_silent = true;
	leave_out(bundle, from->shown, why);
}

static bool is_silent(const struct bundle *bundle, const struct origin *from)
{
	return from->at && bundle->node_silent;
}

static void list_names(struct bundle *bundle, const struct origin *from, const char *path,
		       struct strlist *ret)
{
	if (is_silent(bundle, from))
		return;
	if (from->at)
		note_answer(bundle, from,
			    from->at->driver->files->list(&from->at->spec, path, NODE_FILES, ret,
							  NULL));
	else
		(void)below_list_most(from->dir, path, NODE_FILES, ret, NULL);
}

/* Add the file PATH, at most its last MOST bytes; a missing file is skipped. */
static int add_file(struct bundle *bundle, const struct origin *from, const char *path, size_t most,
		    struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *name = xasprintf("%s%s", from->shown, path);
	int r = is_silent(bundle, from) ? -ENOENT : read_end(from, path, most, &text, &why);

	note_answer(bundle, from, r);
	if (r == -ENOENT)
		return 0;
	if (r == 0 && text.len > bundle->node_left)
		r = error_set(&why, -EFBIG, "the files of this node are too large");
	if (r < 0) {
		leave_out(bundle, name, why.text);
		return 0;
	}
	bundle->node_left -= text.len;
	return add_text(bundle, name, text.text, text.len, err);
}

/*
 * Whether one more file of the node may be added; the first one that may not is listed as left out.
 */
static bool may_add(struct bundle *bundle, const struct origin *from, const char *path)
{
	cleanup_free char *name = xasprintf("%s%s", from->shown, path);

	if (is_silent(bundle, from))
		return false;
	if (bundle->node_files == NODE_FILES)
		leave_out(bundle, name, "this node has too many files");
	return bundle->node_files++ < NODE_FILES;
}

/* Files in the profile's directory, and in each node. */
static const char *const profile_files[] = {
	"profile.json",   "kubeconfig",       "front-door.json", "front-door.status.json",
	"front-door.log", "front-door.log.1", "logs/*",          NULL,
};
static const char *const node_files[] = {
	"/etc/hosts",
	"/etc/resolv.conf",
	"/etc/kubernetes/*.conf",
	"/etc/kubernetes/manifests/*.yaml",
	"/etc/manykube/*",
	"/etc/containerd/*.toml",
	"/etc/cni/net.d/*",
	"/var/lib/kubelet/config.yaml",
	"/var/lib/kubelet/instance-config.yaml",
	"/var/lib/kubelet/kubeadm-flags.env",
	"/var/log/*.log",
	"/var/log/*.log.1",
	NULL,
};

/* Add the files that match PATTERN; only its last component may contain a '*'. */
static int add_matching(struct bundle *bundle, const struct origin *from, const char *pattern,
			struct error *err)
{
	cleanup_free char *path = xstrdup(pattern);
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;
	char *slash;

	if (!strchr(pattern, '*'))
		return add_file(bundle, from, path, LOG_BYTES, err);
	slash = strrchr(path, '/');
	*slash = '\0';
	list_names(bundle, from, path, &names);
	strlist_for_each(name, &names) {
		cleanup_free char *full = xasprintf("%s/%s", path, name);
		int r;

		if (fnmatch(slash + 1, name, 0) != 0 || !may_add(bundle, from, full))
			continue;
		r = add_file(bundle, from, full, LOG_BYTES, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_all(struct bundle *bundle, const struct origin *from, const char *const *patterns,
		   struct error *err)
{
	int r = 0;

	for (; r == 0 && *patterns; patterns++)
		r = add_matching(bundle, from, *patterns, err);
	return r;
}

/* Add the logs of pods below PATH: directories of pods (LEVEL 2), of containers, files. */
static int add_pod_logs(struct bundle *bundle, const struct origin *from, const char *path,
			unsigned level, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	list_names(bundle, from, path, &names);
	strlist_for_each(name, &names) {
		cleanup_free char *full = xasprintf("%s/%s", path, name);
		int r;

		/* Directories count as well, since each of them is read. */
		if (!may_add(bundle, from, full))
			return 0;
		r = level > 0 ? add_pod_logs(bundle, from, full, level - 1, err)
			      : add_file(bundle, from, full, POD_BYTES, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Add the host's files about NODE, and the files of the node itself. */
static int add_node(struct bundle *bundle, const struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *own = xasprintf("nodes/%s/", node->name);
	cleanup_free char *inside = xasprintf("%s" INSIDE, own);
	struct origin from = { .shown = own };
	int r;

	if (cluster_node_open(bundle->profile, node, &at, &why) < 0) {
		leave_out(bundle, own, why.text);
		return 0;
	}
	from.dir = at.dir;
	r = add_all(bundle, &from, at.driver->files->host_logs, err);
	from = (struct origin){ .at = &at, .shown = inside };
	if (r == 0)
		r = add_all(bundle, &from, node_files, err);
	return r < 0 ? r : add_pod_logs(bundle, &from, "/var/log/pods", 2, err);
}

static int add_nodes(struct bundle *bundle, struct error *err)
{
	const struct node *node;

	profile_for_each_node(node, bundle->profile) {
		int r;

		bundle->node_left = NODE_BYTES;
		bundle->node_files = 0;
		bundle->node_end_ms = clock_now_ms() + NODE_MS;
		bundle->node_silent = false;
		r = add_node(bundle, node, err);
		if (r < 0)
			return r;
	}
	bundle->node_left = UINT64_MAX;
	return 0;
}

static int add_json(struct bundle *bundle, const char *name, const json_t *json, struct error *err)
{
	cleanup_free char *text = json_dumps(json, JSON_INDENT(2));

	return text ? add_text(bundle, name, text, strlen(text), err) : 0;
}

/* Environment variables of pods with such names are secrets, even outside of a Secret. */
static bool is_secret_name(const char *name)
{
	static const char *const words[] = { "PASS", "TOKEN", "SECRET", "KEY", "CREDENTIAL" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

static void hide_variables(json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "name"));
	const char *key;
	json_t *value;
	size_t i;

	if (name && is_secret_name(name) && json_is_string(json_object_get(json, "value")))
		(void)json_object_set_new(json, "value", json_string("REDACTED"));
	/* The same variables again, as text. */
	(void)json_object_del(json, "kubectl.kubernetes.io/last-applied-configuration");
	json_object_foreach(json, key, value)
		hide_variables(value);
	json_array_foreach(json, i, value)
		hide_variables(value);
}

static int add_kubernetes(struct bundle *bundle, struct error *err)
{
	static const char *const kinds[] = { "nodes", "pods", "events" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		cleanup_free char *name = xasprintf("kubernetes/%s.json", kinds[i]);
		cleanup_free char *path = xasprintf("/api/v1/%s", kinds[i]);
		json_auto_t *list = NULL;
		int r = world->kube(bundle->profile, KUBE_GET, path, NULL, &list, &why);

		if (r < 0 || !list) {
			/* Each attempt may take long, and the next one would fail as well. */
			leave_out(bundle, "kubernetes/", r < 0 ? why.text : "no answer");
			return 0;
		}
		hide_variables(list);
		r = add_json(bundle, name, list, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_status(struct bundle *bundle, struct error *err)
{
	cleanup_with(cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	json_auto_t *list = json_array();

	if (cluster_status_collect(bundle->profile, NULL, &status, &why) < 0) {
		leave_out(bundle, "status.json", why.text);
		return 0;
	}
	for (size_t i = 0; i < status.count; i++) {
		const struct node_status *node = &status.nodes[i];

		(void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s*}",
							    "Name", node->node->name, "Host",
							    node->host, "Kubelet", node->kubelet,
							    "APIServer", node->apiserver,
							    "Kubeconfig", node->kubeconfig, "Node",
							    node->readiness, "Detail", node->why));
	}
	return add_json(bundle, "status.json", list, err);
}

static int add_check(const struct probe_result *result, void *data)
{
	struct strbuf *out = data;

	strbuf_addf(out, "%-8s %-16s %s\n", probe_state_word(result->state), result->name,
		    result->text);
	return 0;
}

/* Add the lines of the host's mount table that concern manykube. */
static void add_mounts(struct bundle *bundle, struct strbuf *out)
{
	cleanup_with(strbuf_release) struct strbuf mounts = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;

	(void)file_read("/proc/self/mountinfo", 16 << 20, &mounts, NULL);
	strlist_split(&lines, mounts.text, '\n');
	strlist_for_each(line, &lines)
		if (strstr(line, bundle->profile->dir) || strstr(line, "manykube"))
			strbuf_addf(out, "%s\n", line);
}

static int add_host(struct bundle *bundle, struct error *err)
{
	static const char *const files[] = { "/proc/version", "/proc/loadavg", "/etc/os-release",
					     "/proc/meminfo", "/proc/self/cgroup" };
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	const struct node_driver *driver;

	for (size_t i = 0; (driver = node_driver_at(i)); i++)
		if (cluster_uses_driver(bundle->profile, driver))
			(void)driver->check_host(add_check, &out);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		strbuf_addf(&out, "\n==> %s <==\n", files[i]);
		(void)file_read(files[i], 1 << 20, &out, NULL);
	}
	strbuf_add(&out, "\n==> mounts <==\n");
	add_mounts(bundle, &out);
	return add_text(bundle, "host.txt", out.text, out.len, err);
}

static int add_version(struct bundle *bundle, struct error *err)
{
	cleanup_free char *now = clock_rfc3339(clock_wall_seconds());
	cleanup_free char *text = xasprintf("manykube v%s\nKubernetes %s\nwritten %s\n",
					    MANYKUBE_VERSION,
					    bundle->profile->kubernetes_version ?: "?", now);

	return add_text(bundle, "version.txt", text, strlen(text), err);
}

static int add_audit(struct bundle *bundle, struct error *err)
{
	cleanup_free char *state = NULL;
	cleanup_free char *logs = NULL;
	int r = path_state(&state, err);

	if (r < 0)
		return r;
	logs = xasprintf("%s/logs", state);
	return add_file(bundle, &(struct origin){ .dir = logs, .shown = "" }, "audit.json",
			LOG_BYTES, err);
}

static int fill(struct bundle *bundle, struct error *err)
{
	const struct origin own = { .dir = bundle->profile->dir, .shown = "" };
	int r = add_version(bundle, err);

	if (r == 0)
		r = add_all(bundle, &own, profile_files, err);
	if (r == 0)
		r = add_nodes(bundle, err);
	if (r == 0)
		r = add_audit(bundle, err);
	if (r == 0)
		r = add_host(bundle, err);
	if (r == 0)
		r = add_status(bundle, err);
	if (r == 0)
		r = add_kubernetes(bundle, err);
	if (r == 0 && bundle->left_out.len > 0) {
		cleanup_free char *text = strbuf_take(&bundle->left_out);

		r = add_text(bundle, "left-out.txt", text, strlen(text), err);
	}
	return r < 0 ? r : tar_end(&bundle->tar, err);
}

static int fill_into(const struct profile *profile, int fd, struct error *err)
{
	struct bundle bundle = {
		.profile = profile,
		.tar = { .fd = fd },
		.top = xasprintf("manykube-%s", profile->name),
		.left_out = STRBUF_INIT,
		.values = STRLIST_INIT,
		.node_left = UINT64_MAX,
	};
	int r;

	bundle_find_values(profile, &bundle.values);
	r = fill(&bundle, err);
	strlist_release(&bundle.values);
	strbuf_release(&bundle.left_out);
	free(bundle.top);
	return r;
}

/* Like fill_into(), compressed by gzip. */
static int fill_compressed(const struct profile *profile, int fd, struct error *err)
{
	cleanup_with(process_release) struct process gzip = PROCESS_INIT;
	struct process_options options = { .stdout_fd = fd };
	int ends[2];
	int status;
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	options.stdin_fd = ends[0];
	r = process_spawn(ARGV("gzip", "-c"), &options, &gzip, err);
	(void)close(ends[0]);
	if (r == -ENOENT) {
		(void)error_reason(err, r, &reason_host_missing_tool);
		(void)error_hint(err, r, "apt install gzip, or use a name that ends in .tar");
	}
	if (r == 0)
		r = fill_into(profile, ends[1], err);
	(void)close(ends[1]);
	if (r < 0)
		return r;
	status = process_wait(&gzip, 0, err);
	if (status > 0)
		return error_set(err, -EIO, "gzip failed with status %d", status);
	return status;
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text);

	return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* Refuse other suffixes: a user may expect a text file. */
static int check_name(const char *path, struct error *err)
{
	if (ends_in(path, ".tar") || ends_in(path, ".tar.gz") || ends_in(path, ".tgz"))
		return 0;
	error_because(err, &reason_usage, -EINVAL, "--file: '%s' does not end in .tar.gz or .tar",
		      path);
	return error_hint(err, -EINVAL, "use one of these suffixes");
}

int bundle_write(const struct profile *profile, const char *path, struct error *err)
{
	cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;
	int r = check_name(path, err);

	if (r == 0)
		r = user_file_create(path, 0600, &file, err);
	if (r < 0)
		return r;
	r = ends_in(path, ".tar") ? fill_into(profile, file.fd, err)
				  : fill_compressed(profile, file.fd, err);
	return user_file_settle(&file, r, err);
}
