/* A simulated world for testing the cluster logic. */

#include "fake-world.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "authority.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "driver/driver.h"
#include "fake-clock.h"
#include "fake-files.h"
#include "record/spec.h"
#include "record/world.h"

#define ETCD_MANIFEST "    - etcd\n    - --name=x\n"
#define API_MANIFEST  "    image: registry.k8s.io/kube-apiserver:"

static char *dir;
static unsigned crash_at;
static unsigned steps;

static void add(const char *what)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, what);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert(fd >= 0);
	(void)close(fd);
}

static void add_about(const char *kind, const char *name)
{
	cleanup_free char *what = xasprintf("%s:%s", kind, name);

	add(what);
}

static bool has(const char *kind, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s:%s", dir, kind, name);

	return file_exists(path);
}

static void drop(const char *what)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, what);

	(void)unlink(path);
}

static void drop_about(const char *kind, const char *name)
{
	cleanup_free char *what = xasprintf("%s:%s", kind, name);

	drop(what);
}

/* The stored text NAME, which is not an object of the world; "" if there is none. */
static void remember(const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/.%s", dir, name);
	int r = file_put(path, text, strlen(text), 0600, NULL);

	assert(r == 0);
}

static char *remembered(const char *name)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/.%s", dir, name);

	return file_read(path, 1 << 20, &text, NULL) == 0 ? xstrdup(text.text) : xstrdup("");
}

char *fake_world_history(void)
{
	return remembered("history");
}

char *fake_world_stored_config(void)
{
	return remembered("stored");
}

static void happen(const char *what, const char *node, const char *version)
{
	cleanup_free char *before = remembered("history");
	cleanup_free char *now = xasprintf("%s%s%s %s %s", before, *before ? "; " : "", what, node,
					   version);

	remember("history", now);
}

void fake_world_add(const char *what)
{
	add(what);
}

void fake_world_remove(const char *what)
{
	drop(what);
}

void fake_world_list(struct strlist *ret)
{
	cleanup_dir DIR *stream = opendir(dir);
	struct dirent *entry;

	assert(stream);
	while ((entry = readdir(stream)))
		if (entry->d_name[0] != '.' && strncmp(entry->d_name, "init-", 5) != 0)
			strlist_add(ret, entry->d_name);
	strlist_sort(ret);
}

unsigned fake_world_inits(void)
{
	unsigned count = 0;

	for (;; count++) {
		cleanup_free char *path = xasprintf("%s/init-%u", dir, count);

		if (!file_exists(path))
			return count;
	}
}

static void after(arg_unused const char *step)
{
	if (crash_at && ++steps == crash_at)
		_exit(FAKE_CRASHED);
}

unsigned fake_world_slow_seconds;

static void take_time(void)
{
	fake_clock_advance(INT64_C(1000) * fake_world_slow_seconds);
}

/* Free memory and disk space, see fake_world_shrink(). */
static uint64_t free_bytes = UINT64_MAX;

void fake_world_shrink(uint64_t bytes)
{
	free_bytes = bytes;
}

static int fake_room(uint64_t memory_bytes, uint64_t disk_bytes, struct error *err)
{
	if (memory_bytes > free_bytes)
		return error_because(err, &reason_resources, -ENOMEM, "no memory");
	return disk_bytes > free_bytes ? error_because(err, &reason_storage, -ENOSPC, "no disk")
				       : 0;
}

/* The driver. */

static int fake_probe(arg_unused bool with_disks, arg_unused struct error *err)
{
	return 0;
}

static void add_images(const char *node, const char *version)
{
	cleanup_free char *name = xasprintf("images-%s-%s", node, version);

	remember(name, "x");
}

static bool has_images(const char *node, const char *version)
{
	cleanup_free char *name = xasprintf("images-%s-%s", node, version);
	cleanup_free char *text = remembered(name);

	return *text;
}

static const char *payload_of(const struct node_spec *spec)
{
	return strrchr(spec->payload, '/') + 1;
}

static int fake_create(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *etc = fake_files_path(spec->name, "/etc");
	cleanup_free char *var = fake_files_path(spec->name, "/var/lib/kubelet");
	int r;

	take_time();
	if (!file_exists(etc))
		add_images(spec->name, payload_of(spec));
	r = file_make_dirs(etc, 0755, err);
	if (r == 0)
		r = file_make_dirs(spec->dir, 0755, err);
	return r < 0 ? r : file_make_dirs(var, 0755, err);
}

/* The version of a node's kubelet: its own, or that of its payload.  The caller frees it. */
static char *kubelet_of(const struct node_spec *spec)
{
	for (size_t i = 0; i < spec->mount_count; i++) {
		const char *end = strstr(spec->mounts[i].host, "/bin/kubelet");
		const char *begin = end;

		while (begin && begin > spec->mounts[i].host && begin[-1] != '/')
			begin--;
		if (begin)
			return xstrndup(begin, (size_t)(end - begin));
	}
	return xstrdup(payload_of(spec));
}

/* The version of the API server on the node NAME, "" if there is none. */
static char *api_server_of(const char *name)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = fake_files_path(name,
						  "/etc/kubernetes/manifests/kube-apiserver.yaml");
	const char *version = file_read(path, 65536, &text, NULL) == 0
				      ? strstr(text.text, API_MANIFEST)
				      : NULL;

	version = version ? version + strlen(API_MANIFEST) : "";
	return xstrndup(version, strcspn(version, "\n"));
}

/* The oldest version of all API servers, to which a worker may connect, "" if there is none; and
 * the names of the nodes that have one. */
static char *oldest_api_server(struct strlist *ret_names)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	char *oldest = xstrdup("");
	const char *name;

	fake_files_nodes(&all);
	strlist_for_each(name, &all) {
		char *version = api_server_of(name);

		if (*version)
			strlist_add(ret_names, name);
		if (*version && (!*oldest || strcmp(version, oldest) < 0)) {
			free(oldest);
			oldest = version;
		} else {
			free(version);
		}
	}
	return oldest;
}

/* A kubelet must not be newer than the API servers it connects to; that of a control plane uses the
 * API server on its own node. */
static int check_versions(const struct node_spec *spec, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *kubelet = kubelet_of(spec);
	cleanup_free char *own = api_server_of(spec->name);
	cleanup_free char *oldest = oldest_api_server(&names);
	const char *asked = *own ? own : oldest;
	cleanup_free char *kind = xasprintf("kubelet-%s", spec->name);

	if (*asked && strcmp(kubelet, asked) > 0)
		return error_set(err, -EINVAL, "a kubelet of %s would ask an API server of %s",
				 kubelet, asked);
	if (*own && !has_images(spec->name, own))
		return error_set(err, -ENOENT, "node '%s' has no images of %s", spec->name, own);
	if (!has_images(spec->name, payload_of(spec)))
		return error_set(err, -ENOENT, "node '%s' has no images of %s", spec->name,
				 payload_of(spec));
	remember(kind, kubelet);
	return 0;
}

/* Remove all objects of KIND ("member:"). */
static void drop_all(const char *kind)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all)
		if (strncmp(what, kind, strlen(kind)) == 0)
			drop(what);
}

/* Whether etcd on a node was told to be the only member. */
static bool is_forced(const struct node_spec *spec)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = fake_files_path(spec->name,
						  "/etc/kubernetes/manifests/etcd.yaml");

	return file_read(path, 65536, &text, NULL) == 0 &&
	       strstr(text.text, "--force-new-cluster\n");
}

static int fake_start(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *etc = fake_files_path(spec->name, "/etc/manykube/agent.conf");

	if (!has("bridge", spec->bridge))
		return error_set(err, -ENODEV, "no bridge");
	if (!file_exists(etc))
		return error_set(err, -ENOENT, "a node was started before its files were written");
	if (!has("running", spec->name)) {
		cleanup_free char *ended = xasprintf("api-ended-%s", spec->name);
		cleanup_free char *kubelet = kubelet_of(spec);
		int r = check_versions(spec, err);

		if (r < 0)
			return r;
		happen("start", spec->name, kubelet);
		remember(ended, "");
	}
	add_about("running", spec->name);
	if (is_forced(spec)) {
		drop_all("etcd:");
		drop_all("learner:");
		add_about("etcd", spec->name);
	}
	return 0;
}

static int fake_stop(const struct node_spec *spec, arg_unused unsigned grace,
		     arg_unused struct error *err)
{
	take_time();
	if (has("stopping", spec->name))
		happen("finish stopping", spec->name, payload_of(spec));
	drop_about("frozen", spec->name);
	drop_about("stopping", spec->name);
	drop_about("no-programs", spec->name);
	drop_about("hung-kernel", spec->name);
	drop_about("running", spec->name);
	return 0;
}

static int fake_freeze(const struct node_spec *spec, bool frozen, struct error *err)
{
	if (frozen && !has("running", spec->name))
		return error_set(err, -ESRCH, "node '%s' does not run", spec->name);
	if (frozen)
		add_about("frozen", spec->name);
	else
		drop_about("frozen", spec->name);
	return 0;
}

static int fake_destroy(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *files = fake_files_path(spec->name, "");
	int r;

	drop_about("frozen", spec->name);
	drop_about("running", spec->name);
	r = file_remove_tree(files, err);
	return r < 0 ? r : file_remove_tree(spec->dir, err);
}

/* The API and etcd keep their records of a node until they are changed or removed. */
static int fake_destroy_cluster(arg_unused const char *cluster, arg_unused struct error *err)
{
	drop_all("member:");
	drop_all("etcd:");
	drop_all("learner:");
	return 0;
}

static enum node_state fake_query(const struct node_spec *spec)
{
	cleanup_free char *files = fake_files_path(spec->name, "");

	if (has("running", spec->name))
		return NODE_RUNNING;
	return file_exists(files) ? NODE_STOPPED : NODE_ABSENT;
}

static bool kernel_hangs(const struct node_spec *spec)
{
	return has("hung-kernel", spec->name) || has("bad-kernel", spec->name);
}

static void fake_measure(const struct node_spec *spec, struct node_usage *ret_usage)
{
	*ret_usage = (struct node_usage){ .memory_bytes = 64 << 20,
					  .disk_size_bytes = has("small-disk", spec->name)
								     ? spec->disk_bytes / 2
								     : spec->disk_bytes,
					  .paused = has("frozen", spec->name),
					  .stopping = has("stopping", spec->name),
					  .trouble = kernel_hangs(spec) ? "it hangs" : NULL };
}

/* A path means containerd. */
static int fake_ask(const struct node_spec *spec, const char *place, arg_unused const char *words,
		    arg_unused int timeout_ms, struct error *err)
{
	bool is_kubelet = strcmp(place, "10248") == 0;
	bool hangs = has(*place == '/'                 ? "hung-containerd"
			 : is_kubelet                  ? "hung-kubelet"
			 : strcmp(place, "2381") == 0  ? "hung-etcd"
			 : strcmp(place, "6443") == 0  ? "hung-kube-apiserver"
			 : strcmp(place, "10257") == 0 ? "hung-kube-controller"
						       : "hung-kube-scheduler",
			 spec->name);

	if (is_kubelet && has("dead-kubelet", spec->name))
		return error_set(err, -ECONNREFUSED, "nobody listens");
	return hangs ? error_set(err, -ETIMEDOUT, "no answer") : 0;
}

static bool fake_lacks_programs(const struct node_spec *spec)
{
	return has("running", spec->name) && has("no-programs", spec->name);
}

static void restart_programs(const struct node_spec *spec, char *const *names)
{
	cleanup_free char *silent = xasprintf("silent:%s", spec->name);
	bool of_containerd = false;
	bool of_kubelet = false;

	for (; *names; names++) {
		cleanup_free char *hung = xasprintf("hung-%s", *names);

		drop_about(hung, spec->name);
		of_containerd |= strcmp(*names, "containerd") == 0;
		of_kubelet |= strcmp(*names, "kubelet") == 0;
	}
	/* A kubelet reports its node's status when it starts. */
	if (of_containerd && !of_kubelet)
		fake_world_add(silent);
	happen("restart programs of", spec->name, payload_of(spec));
}

static int put(const struct node_spec *spec, const char *path, const char *text, struct error *err)
{
	cleanup_free char *full = xasprintf("/etc/kubernetes/%s", path);

	return fake_files.put(spec, full, text, strlen(text), 0600, err);
}

static bool has_file(const struct node_spec *spec, const char *path)
{
	cleanup_free char *in_node = xasprintf("/etc/kubernetes/%s", path);
	cleanup_free char *full = fake_files_path(spec->name, in_node);

	return file_exists(full);
}

static bool is_awake(const char *name)
{
	return has("running", name) && !has("frozen", name);
}

/* Whether a majority of etcd's members runs. */
static bool has_quorum(void)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	const char *what;
	unsigned count = 0;
	unsigned running = 0;

	fake_world_list(&all);
	strlist_for_each(what, &all) {
		if (strncmp(what, "etcd:", 5) != 0)
			continue;
		count++;
		running += is_awake(what + 5);
	}
	return running > count / 2;
}

static int put_manifests(const struct node_spec *spec, const char *where, const char *version,
			 struct error *err)
{
	static const char *const names[] = { "kube-controller-manager.yaml",
					     "kube-scheduler.yaml" };
	cleanup_free char *api = xasprintf("%s/kube-apiserver.yaml", where);
	cleanup_free char *etcd = xasprintf("%s/etcd.yaml", where);
	cleanup_free char *text = xasprintf(API_MANIFEST "%s\n", version);
	int r = put(spec, etcd, ETCD_MANIFEST, err);

	if (r == 0)
		r = put(spec, api, text, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = xasprintf("%s/%s", where, names[i]);

		r = put(spec, path, "x", err);
	}
	return r;
}

/* Store kubeadm's configuration in the cluster, as when addons are not part of the same run. */
static void store_config(const char *version)
{
	cleanup_free char *text = xasprintf(
		"dns:\n  disabled: true\nkubernetesVersion: %s\nproxy:\n  disabled: true\n",
		version);

	remember("stored", text);
}

static char *stored_version(void)
{
	cleanup_free char *text = remembered("stored");
	const char *version = strstr(text, "kubernetesVersion: ");

	version = version ? version + strlen("kubernetesVersion: ") : "";
	return xstrndup(version, strcspn(version, "\n"));
}

static int kubeadm_init(const struct node_spec *spec, struct error *err)
{
	static const char *const keys[] = {
		"pki/front-proxy-ca.crt", "pki/front-proxy-ca.key", "pki/sa.pub",  "pki/sa.key",
		"pki/etcd/ca.crt",        "pki/etcd/ca.key",        "kubelet.conf"
	};
	cleanup_free char *cert = NULL;
	cleanup_free char *key = NULL;
	cleanup_free char *name = xasprintf("init-%u", fake_world_inits());
	int r;

	authority_make(&cert, &key);
	r = put(spec, "pki/ca.crt", cert, err);
	if (r == 0)
		r = put(spec, "pki/ca.key", key, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(keys); i++)
		r = put(spec, keys[i], "x", err);
	if (r == 0)
		r = put_manifests(spec, "manifests", payload_of(spec), err);
	if (r == 0)
		r = put(spec, "admin.conf", "server: x\n", err);
	store_config(payload_of(spec));
	add(name);
	add_about("etcd", spec->name);
	add_about("member", spec->name);
	return r;
}

static bool is_control_plane(const struct node_spec *spec)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = fake_files_path(spec->name, "/etc/manykube/kubeadm.yaml");

	return file_read(path, 1 << 20, &text, NULL) == 0 && strstr(text.text, "\"controlPlane\":");
}

unsigned fake_world_failing_joins;

/* A member is added to etcd before it can vote; a crash may happen in between. */
static int join_etcd(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *key = fake_files_path(spec->name, "/etc/kubernetes/pki/etcd/ca.key");
	cleanup_free char *version = stored_version();
	int r;

	if (!file_exists(key))
		return error_set(err, -ENOENT, "no key of etcd's authority");
	if (has("etcd", spec->name) || has("learner", spec->name))
		return error_set(err, -EEXIST, "etcd has that member already");
	if (!has_quorum())
		return error_set(err, -EAGAIN, "etcd has no majority");
	add_about("learner", spec->name);
	after("add learner");
	r = put_manifests(spec, "manifests", version, err);
	if (fake_world_failing_joins > 0) {
		fake_world_failing_joins--;
		return error_set(err, -EIO, "context deadline exceeded");
	}
	if (r == 0)
		r = put(spec, "admin.conf", "server: x\n", err);
	drop_about("learner", spec->name);
	add_about("etcd", spec->name);
	after("promote learner");
	return r;
}

static int kubeadm_join(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *discovery = fake_files_path(spec->name, "/etc/manykube/discovery.conf");

	if (!file_exists(discovery))
		return error_set(err, -ENOENT, "no discovery file");
	if (has("member", spec->name) && !has("disowned", spec->name))
		return error_set(err, -EEXIST, "a node with that name has joined");
	drop_about("disowned", spec->name);
	add_about("member", spec->name);
	/* A kubelet may have its certificate from an earlier attempt. */
	if (!has_file(spec, "kubelet.conf") && put(spec, "kubelet.conf", "x", err) < 0)
		return -EIO;
	return is_control_plane(spec) ? join_etcd(spec, err) : 0;
}

static int kubeadm_reset(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *etc = fake_files_path(spec->name, "/etc/kubernetes");
	int r;

	if (has("etcd", spec->name) || has("learner", spec->name))
		return error_set(err, -EBUSY, "a member of etcd would be lost");
	r = file_remove_tree(etc, err);
	return r < 0 ? r : file_make_dirs(etc, 0755, err);
}

static int kubeadm_prepare_upgrade(const struct node_spec *spec, const char *version,
				   const char *role, struct error *err)
{
	int r = 0;

	if (!has_quorum())
		return error_set(err, -ECONNREFUSED, "the API is down");
	if (strcmp(role, "worker") != 0)
		r = put_manifests(spec, "upgraded", version, err);
	happen("prepare", spec->name, version);
	return r;
}

/* Like kubeadm, only if all API servers have the same version. */
static int kubeadm_upgrade(const struct node_spec *spec, const char *version, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *oldest = oldest_api_server(&names);
	cleanup_free char *stored = remembered("stored");
	cleanup_free char *text = xasprintf("kubernetesVersion: %s\n", version);

	if (!has_quorum())
		return error_set(err, -ECONNREFUSED, "the API is down");
	if (strcmp(oldest, version) != 0)
		return error_set(err, -EINVAL, "there is an API server of %s", oldest);
	if (strstr(stored, "disabled"))
		return error_set(err, -EINVAL, "addons are said to be disabled");
	remember("stored", text);
	happen("addons", spec->name, version);
	return 0;
}

unsigned fake_world_late_answers;

static int fail_late(const struct process_options *options, struct process *ret_process,
		     struct error *err)
{
	static char script[] = "echo 'error: error execution phase addon/coredns: Get: context "
			       "deadline exceeded'\n"
			       "exit 1\n";

	fake_world_late_answers--;
	return process_spawn(ARGV("sh", "-c", script), options, ret_process, err);
}

/* Do the work of kubeadm at once; the process that is started does nothing. */
static int fake_spawn(const struct node_spec *spec, char *const *argv,
		      const struct process_options *options, struct process *ret_process,
		      struct error *err)
{
	int r = 0;

	if (has("frozen", spec->name))
		return error_set(err, -EBUSY, "node '%s' is paused", spec->name);
	if (!has("running", spec->name))
		return error_set(err, -ESRCH, "node '%s' does not run", spec->name);
	if (strcmp(argv[0], "sh") == 0 && strstr(argv[2], "fallocate"))
		r = fake_files.put(spec, argv[4], "x", 1, 0600, err);
	else if (strcmp(argv[0], "date") == 0)
		happen("set clock of", spec->name, payload_of(spec));
	else if (strcmp(argv[0], "sh") == 0 && strstr(argv[2], "ctr -n k8s.io images import"))
		add_about("images", spec->name);
	else if (strcmp(argv[0], "sh") == 0 && argv[3] && strcmp(argv[3], "reset") == 0)
		r = kubeadm_reset(spec, err);
	else if (strcmp(argv[0], "sh") == 0 && argv[3] && strcmp(argv[3], "upgrade") == 0)
		r = kubeadm_prepare_upgrade(spec, argv[4], argv[5], err);
	else if (strcmp(argv[0], "sh") == 0 && argv[3] && strcmp(argv[3], "restart") == 0)
		restart_programs(spec, argv + 4);
	else if (strcmp(argv[0], "sh") == 0 && argv[3] && strcmp(argv[3], "renew-pods") == 0)
		happen("renew pods of", spec->name, "");
	else if (strcmp(argv[0], "kubeadm") == 0 && strcmp(argv[1], "upgrade") == 0)
		r = kubeadm_upgrade(spec, argv[3], err);
	else if (strcmp(argv[0], "sh") == 0 && argv[3] && strcmp(argv[3], "join") == 0)
		r = kubeadm_join(spec, err);
	else if (strcmp(argv[0], "kubeadm") == 0 && strcmp(argv[1], "join") == 0 &&
		 kernel_hangs(spec))
		return process_spawn(ARGV("false"), NULL, ret_process, err);
	else if (strcmp(argv[0], "kubeadm") == 0 && strcmp(argv[1], "join") == 0)
		r = kubeadm_join(spec, err);
	else if (strcmp(argv[0], "kubeadm") == 0 && strstr(argv[4], "upload-config"))
		r = kubeadm_init(spec, err);
	else if (strcmp(argv[0], "kubeadm") == 0 && strcmp(argv[3], "addon") == 0 &&
		 fake_world_late_answers > 0)
		return fail_late(options, ret_process, err);
	return r < 0 ? r : process_spawn(ARGV("true"), NULL, ret_process, err);
}

static int fake_route6(arg_unused const struct node_spec *spec, arg_unused const struct subnet6 *to,
		       arg_unused const struct in6_addr *via, arg_unused bool remove,
		       arg_unused struct error *err)
{
	return 0;
}

static int fake_route(arg_unused const struct node_spec *spec, arg_unused struct in_addr pods,
		      arg_unused unsigned prefix, arg_unused struct in_addr via,
		      arg_unused bool remove, arg_unused struct error *err)
{
	return 0;
}

static int fake_reach(arg_unused const struct node_spec *spec, arg_unused struct in_addr address,
		      arg_unused unsigned port, arg_unused int timeout_ms,
		      arg_unused struct error *err)
{
	return 0;
}

static int fake_limit(const struct node_spec *spec, arg_unused struct error *err)
{
	add_about("limited", spec->name);
	return 0;
}

static bool is_remembered(const char *kind, const char *node)
{
	cleanup_free char *name = xasprintf("%s-%s", kind, node);
	cleanup_free char *text = remembered(name);

	return *text;
}

bool fake_world_holds(const char *node)
{
	return is_remembered("api-held", node);
}

/* API servers run while their nodes do, unless they were stopped. */
static unsigned fake_signal(const struct node_spec *spec, const char *name, int signal)
{
	cleanup_free char *ended = xasprintf("api-ended-%s", spec->name);
	cleanup_free char *held = xasprintf("api-held-%s", spec->name);

	if (signal == SIGKILL)
		return 0;
	if (strcmp(name, "kube-apiserver") != 0 || !has("running", spec->name) ||
	    is_remembered("api-ended", spec->name))
		return 0;
	if (signal == SIGTERM) {
		remember(ended, "x");
		happen("end API of", spec->name, payload_of(spec));
	}
	if (signal == SIGSTOP || signal == SIGCONT)
		remember(held, signal == SIGSTOP ? "x" : "");
	return 1;
}

const char *const fake_world_driver = "fake";

static int fake_check_host(arg_unused probe_fn fn, arg_unused void *data)
{
	return 0;
}

static const struct node_driver fake_driver = {
	.name = "fake",
	.needs_root = true,
	.check_host = fake_check_host,
	.summary = "nodes that are only written down",
	.probe = fake_probe,
	.create = fake_create,
	.start = fake_start,
	.limit = fake_limit,
	.stop = fake_stop,
	.freeze = fake_freeze,
	.destroy = fake_destroy,
	.destroy_cluster = fake_destroy_cluster,
	.query = fake_query,
	.files = &fake_files,
	.measure = fake_measure,
	.signal = fake_signal,
	.spawn = fake_spawn,
	.reach = fake_reach,
	.ask = fake_ask,
	.lacks_programs = fake_lacks_programs,
	.route = fake_route,
	.route6 = fake_route6,
};

/* The rest of the world. */

static int fake_ports(arg_unused const struct profile *profile,
		      arg_unused const struct profile *before, arg_unused struct error *err)
{
	return 0;
}

struct strlist fake_world_payloads = STRLIST_INIT;
unsigned fake_world_fetches;
char *fake_world_mirror;
static const char *lacking;

void fake_world_lack(const char *version)
{
	lacking = version;
}

static int fake_payload(const char *version, const struct payload_source *source,
			arg_unused struct observer *observer, struct payload *ret,
			struct error *err)
{
	cleanup_free char *bin = xasprintf("%s/.payload/bin", dir);
	cleanup_free char *kubeadm = xasprintf("%s/kubeadm", bin);

	take_time();
	strlist_add(&fake_world_payloads, version);
	fake_world_fetches += !source->offline;
	free(fake_world_mirror);
	fake_world_mirror = source->binary_mirror ? xstrdup(source->binary_mirror) : NULL;
	if (lacking && strcmp(lacking, version) == 0)
		return error_because(err, &reason_download, -ENOENT, "no %s", version);
	*ret = (struct payload){ .version = xstrdup(version),
				 .dir = xasprintf("%s/.payload", dir),
				 .pause_image = xstrdup("pause") };
	if (file_make_dirs(bin, 0755, err) < 0)
		return -EIO;
	return file_put(kubeadm, "", 0, 0755, err);
}

static int fake_lock(int *ret_fd, arg_unused struct error *err)
{
	take_time();
	*ret_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return 0;
}

static int fake_plan(struct profile *profile, arg_unused const char *wanted,
		     arg_unused struct error *err)
{
	if (profile->subnet)
		return 0;
	profile->subnet = xstrdup("192.168.39.0/24");
	profile->gateway = xstrdup("192.168.39.1");
	profile->pod_subnet = xstrdup("10.244.0.0/16");
	profile->bridge = xstrdup("mktest");
	profile->api_port = 16443;
	if (profile->ip_family && strcmp(profile->ip_family, "dual") == 0)
		profile->ipv6_prefix = xstrdup("fd12:3456:789a::/48");
	return 0;
}

static int fake_network_up(const struct profile *profile, arg_unused struct error *err)
{
	add_about("bridge", profile->bridge);
	return 0;
}

static bool fake_network_is_up(const struct profile *profile)
{
	return has("bridge", profile->bridge);
}

char *fake_world_rules(void)
{
	return remembered("rules");
}

static int fake_cut(arg_unused const struct profile *profile, const char *rules,
		    arg_unused struct error *err)
{
	remember("rules", rules ?: "");
	if (rules)
		add("rules");
	else
		drop("rules");
	return 0;
}

static int fake_delay(const char *link, unsigned delay_ms, unsigned jitter_ms,
		      arg_unused struct error *err)
{
	cleanup_free char *name = xasprintf("delay-%s", link);
	cleanup_free char *text = xasprintf("%u %u", delay_ms, jitter_ms);

	remember(name, delay_ms ? text : "");
	if (delay_ms)
		add_about("delay", link);
	else
		drop_about("delay", link);
	return 0;
}

static int fake_delay_probe(struct error *err)
{
	return has("no", "netem")
		       ? error_because(err, &reason_host_unsupported, -ENOTSUP, "no netem")
		       : 0;
}

static int fake_timer(arg_unused const struct profile *profile, bool wanted,
		      arg_unused struct error *err)
{
	if (wanted)
		add("failure-timer");
	else
		drop("failure-timer");
	return 0;
}

static int fake_network_down(const struct profile *profile, arg_unused struct error *err)
{
	drop_about("bridge", profile->bridge);
	return 0;
}

static int fake_forget(arg_unused const struct node *node, arg_unused struct error *err)
{
	return 0;
}

/* kubeadm renews one after another, and may crash in between. */
static int fake_renew(arg_unused const struct profile *profile, const struct node *node,
		      const struct payload *payload, struct error *err)
{
	static const char *const names[] = { "apiserver.crt", "front-proxy-client.crt" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
		cleanup_free char *file = xasprintf("/etc/kubernetes/pki/%s", names[i]);
		cleanup_free char *path = fake_files_path(node->name, file);
		cleanup_free char *cert = NULL;
		cleanup_free char *key = NULL;

		authority_make(&cert, &key);
		if (file_exists(path))
			r = file_put(path, cert, strlen(cert), 0644, err);
		after("renew one");
	}
	happen("renew", node->name, payload->version);
	return r;
}

static int fake_import(arg_unused const struct profile *profile, const struct node *node,
		       const struct payload *payload, struct error *err)
{
	if (!is_awake(node->name))
		return error_set(err, -ESRCH, "node '%s' does not run", node->name);
	take_time();
	add_images(node->name, payload->version);
	return 0;
}

static int fake_door_up(arg_unused const struct profile *profile, arg_unused struct error *err)
{
	add("front-door");
	return 0;
}

static int fake_door_without(arg_unused const struct profile *profile, const struct strlist *names,
			     arg_unused struct error *err)
{
	cleanup_free char *text = strlist_join(names, " ");

	add("front-door");
	happen("close door to", text, "");
	return 0;
}

static bool fake_door_hangs(arg_unused const struct profile *profile)
{
	return has("hung", "front-door");
}

static int fake_door_down(arg_unused const struct profile *profile, arg_unused struct error *err)
{
	drop("front-door");
	drop_about("hung", "front-door");
	return 0;
}

/* The API knows all labels and taints in the record. */
static json_t *node_object(const struct profile *profile, const char *name)
{
	const struct node *node = profile_find_node(profile, name);
	cleanup_free char *kind = xasprintf("kubelet-%s", name);
	cleanup_free char *kubelet = remembered(kind);
	cleanup_free char *heard = clock_rfc3339(clock_wall_seconds() +
						 (has("silent", name) ? -60 : 60));
	bool is_sick = has("hung-kubelet", name) || has("hung-containerd", name) ||
		       has("sick", name) || has("no-cni", name);
	json_t *labels = json_object();
	json_t *taints = json_array();

	for (size_t i = 0; node && i < node->labels.count; i++) {
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;

		assert(spec_parse_label(node->labels.items[i], &label, NULL) == 0);
		(void)json_object_set_new(labels, label.key, json_string(label.value));
	}
	for (size_t i = 0; node && i < node->taints.count; i++) {
		cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;

		assert(spec_parse_taint(node->taints.items[i], &taint, NULL) == 0);
		(void)json_array_append_new(
			taints, json_pack("{s:s, s:s*, s:s}", "key", taint.label.key, "value",
					  *taint.label.value ? taint.label.value : NULL, "effect",
					  taint.effect));
	}
	return json_pack("{s:{s:s, s:o}, s:{s:s, s:o, s:b}, s:{s:[{s:s, s:s, s:s, s:s}], s:{s:s}}}",
			 "metadata", "name", name, "labels", labels, "spec", "podCIDR", "x",
			 "taints", taints, "unschedulable", has("drained", name), "status",
			 "conditions", "type", "Ready", "status", is_sick ? "False" : "True",
			 "message", has("no-cni", name) ? "NetworkPluginNotReady" : "",
			 "lastHeartbeatTime", heard, "nodeInfo", "kubeletVersion", kubelet);
}

/* The API servers of nodes that run, as pods. */
static json_t *list_api_servers(const struct profile *profile)
{
	json_t *items = json_array();
	const struct node *node;

	profile_for_each_node(node, profile) {
		cleanup_free char *version = api_server_of(node->name);
		cleanup_free char *image = xasprintf("registry.k8s.io/kube-apiserver:%s", version);
		cleanup_free char *name = xasprintf("kube-apiserver-%s", node->name);

		if (*version && is_awake(node->name))
			(void)json_array_append_new(
				items, json_pack("{s:{s:s}, s:{s:[{s:s}]}}", "metadata", "name",
						 name, "spec", "containers", "image", image));
	}
	return json_pack("{s:o}", "items", items);
}

static int fake_stored_config(enum kube_verb verb, const json_t *body, json_t **ret_answer)
{
	cleanup_free char *text = remembered("stored");
	const char *changed = json_string_value(
		json_object_get(json_object_get(body, "data"), "ClusterConfiguration"));

	if (verb == KUBE_MERGE && changed)
		remember("stored", changed);
	else if (ret_answer)
		*ret_answer = json_pack("{s:{s:s}}", "data", "ClusterConfiguration", text);
	return 0;
}

static json_t *list_nodes(const struct profile *profile)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	json_t *items = json_array();
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all)
		if (strncmp(what, "member:", 7) == 0)
			(void)json_array_append_new(items, node_object(profile, what + 7));
	return json_pack("{s:o}", "items", items);
}

/* Every member's kubelet has just reported. */
static json_t *list_leases(void)
{
	cleanup_free char *soon = clock_rfc3339(clock_wall_seconds() + 60);
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	json_t *items = json_array();
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all)
		if (strncmp(what, "running:", 8) == 0)
			(void)json_array_append_new(items, json_pack("{s:{s:s}, s:{s:s}}",
								     "metadata", "name", what + 8,
								     "spec", "renewTime", soon));
	return json_pack("{s:o}", "items", items);
}

static int fake_node(const struct profile *profile, enum kube_verb verb, const char *path,
		     const json_t *body, json_t **ret_answer, struct error *err)
{
	cleanup_free char *name = xstrndup(path, strcspn(path, "/"));
	const json_t *unschedulable = json_object_get(json_object_get(body, "spec"),
						      "unschedulable");

	if (!has("member", name))
		return error_set(err, -ENOENT, "no such node");
	if (verb == KUBE_MERGE && json_is_true(unschedulable))
		add_about("drained", name);
	else if (verb == KUBE_MERGE && unschedulable)
		drop_about("drained", name);
	if (verb == KUBE_MERGE && strstr(path, "/status"))
		add_about("disowned", name);
	if (verb == KUBE_DELETE)
		drop_about("member", name);
	if (verb == KUBE_GET && ret_answer)
		*ret_answer = node_object(profile, name);
	return 0;
}

#define POD_PATH "/api/v1/namespaces/default/pods/"

/* The pods "pod:NODE:KIND:NAME" of one node, with KIND of their controller. */
static json_t *list_pods(const char *node)
{
	cleanup_free char *begin = xasprintf("pod:%s:", node);
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	json_t *items = json_array();
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all) {
		const char *kind = what + strlen(begin);
		const char *name = strrchr(what, ':');
		json_t *owners;

		if (strncmp(what, begin, strlen(begin)) != 0)
			continue;
		owners = name == kind ? json_array()
				      : json_pack("[{s:s%, s:b}]", "kind", kind,
						  (size_t)(name - kind), "controller", true);
		(void)json_array_append_new(items,
					    json_pack("{s:{s:s, s:s, s:s, s:o}}", "metadata",
						      "namespace", "default", "name", name + 1,
						      "uid", what, "ownerReferences", owners));
	}
	return json_pack("{s:o}", "items", items);
}

/* Evict or delete a pod. */
static int fake_pod(const char *path, struct error *err)
{
	cleanup_free char *end = xasprintf(":%.*s", (int)strcspn(path, "/?"), path);
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	const char *what;

	if (has("slow", end + 1))
		fake_clock_advance(9000);
	if (strstr(path, "/eviction") && has("budget", end + 1))
		return error_set(err, -EAGAIN, "it would violate the pod's disruption budget");
	fake_world_list(&all);
	strlist_for_each(what, &all)
		if (strncmp(what, "pod:", 4) == 0 && strcmp(strrchr(what, ':'), end) == 0)
			drop(what);
	return 0;
}

unsigned fake_world_api_seconds;
unsigned fake_world_rights;

/* Every request takes a second. */
static bool is_still_coming_up(void)
{
	if (fake_world_api_seconds == 0)
		return false;
	fake_world_api_seconds--;
	fake_clock_advance(1000);
	return true;
}

/* The PersistentVolumes "volume:NODE:CLAIM". */
static json_t *list_volumes(void)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	json_t *items = json_array();
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all) {
		cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
		json_t *rule;

		if (strncmp(what, "volume:", 7) != 0)
			continue;
		strlist_split(&words, what, ':');
		rule = json_pack("{s:s, s:s, s:[s]}", "key", "kubernetes.io/hostname", "operator",
				 "In", "values", words.items[1]);
		(void)json_array_append_new(
			items,
			json_pack("{s:{s:s}, s:{s:{s:s, s:s}, s:{s:{s:[{s:[o]}]}}}}", "metadata",
				  "name", what, "spec", "claimRef", "namespace", "default", "name",
				  words.items[2], "nodeAffinity", "required", "nodeSelectorTerms",
				  "matchExpressions", rule));
	}
	return json_pack("{s:o}", "items", items);
}

/* The kinds that the API knows, by the version of their API. */
static json_t *list_kinds(const char *path)
{
	static const struct {
		const char *path;
		const char *kind;
		const char *name;
		bool namespaced;
	} kinds[] = {
		{ "/api/v1", "Namespace", "namespaces", false },
		{ "/api/v1", "ServiceAccount", "serviceaccounts", true },
		{ "/api/v1", "ConfigMap", "configmaps", true },
		{ "/apis/rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false },
		{ "/apis/rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings",
		  false },
		{ "/apis/apps/v1", "DaemonSet", "daemonsets", true },
	};
	json_t *items = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].path, path) == 0)
			(void)json_array_append_new(
				items, json_pack("{s:s, s:s, s:b}", "kind", kinds[i].kind, "name",
						 kinds[i].name, "namespaced", kinds[i].namespaced));
	if (json_array_size(items) > 0)
		return json_pack("{s:o}", "resources", items);
	json_decref(items);
	return NULL;
}

/* flannel's pods write the configuration of their nodes at once.  Objects of manifests are
 * "applied:NAME" if they are in the namespace cni-test. */
static void change_object(enum kube_verb verb, const char *path)
{
	static const char config[] = "/etc/cni/net.d/10-flannel.conflist";
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	const char *what;

	if (strstr(path, "/namespaces/cni-test/")) {
		if (verb == KUBE_APPLY)
			add_about("applied", strrchr(path, '/') + 1);
		else if (verb == KUBE_DELETE)
			drop_about("applied", strrchr(path, '/') + 1);
	}
	if (!strstr(path, "/daemonsets/kube-flannel-ds"))
		return;
	if (verb == KUBE_DELETE)
		drop("flannel");
	if (verb != KUBE_APPLY)
		return;
	add("flannel");
	fake_world_list(&all);
	strlist_for_each(what, &all) {
		const struct node_spec spec = { .name = what + strlen("running:") };

		if (strncmp(what, "running:", strlen("running:")) == 0)
			(void)fake_files.put(&spec, config, "{}", 2, 0644, NULL);
	}
}

static int fake_kube(const struct profile *profile, enum kube_verb verb, const char *path,
		     const json_t *body, json_t **ret_answer, struct error *err)
{
	const char *secret = strstr(path, "/secrets");

	if (fake_world_inits() == 0 || !has_quorum() ||
	    (strcmp(path, "/readyz") == 0 && is_still_coming_up()) ||
	    (verb == KUBE_APPLY && fake_world_api_seconds > 0))
		return error_set(err, -ECONNREFUSED, "the API is down");
	if (has("hung", "front-door") || has("hung-etcd", "node-1") ||
	    has("hung-kube-apiserver", "node-1"))
		return error_set(err, -ETIMEDOUT, "the API did not answer in time");
	if (verb == KUBE_APPLY && strstr(path, "manykube:watcher"))
		fake_world_rights++;
	if (verb == KUBE_GET && ret_answer && !*ret_answer && strncmp(path, "/api", 4) == 0)
		*ret_answer = list_kinds(path);
	change_object(verb, path);
	if (secret && verb == KUBE_CREATE)
		add_about("token", json_string_value(json_object_get(
					   json_object_get(body, "metadata"), "name")));
	if (secret && verb == KUBE_DELETE)
		drop_about("token", secret + strlen("/secrets/"));
	if (verb == KUBE_GET && strcmp(path, "/api/v1/nodes") == 0 && ret_answer)
		*ret_answer = list_nodes(profile);
	if (verb == KUBE_GET && strstr(path, "/kube-node-lease/") && ret_answer)
		*ret_answer = list_leases();
	if (strncmp(path, "/api/v1/nodes/", 14) == 0)
		return fake_node(profile, verb, path + 14, body, ret_answer, err);
	if (strncmp(path, POD_PATH, strlen(POD_PATH)) == 0)
		return fake_pod(path + strlen(POD_PATH), err);
	if (verb == KUBE_GET && strstr(path, "spec.nodeName%3D") && ret_answer)
		*ret_answer = list_pods(strstr(path, "%3D") + 3);
	if (strcmp(path, "/api/v1/persistentvolumes") == 0)
		*ret_answer = list_volumes();
	if (strstr(path, "/configmaps/kubeadm-config"))
		return fake_stored_config(verb, body, ret_answer);
	if (verb == KUBE_GET && strstr(path, "component%3Dkube-apiserver"))
		*ret_answer = list_api_servers(profile);
	return 0;
}

/* The member on the node NAME, or the one to be added; its name is its number. */
static json_t *member_object(const struct profile *profile, const char *name, bool learner)
{
	const struct node *node = profile_find_node(profile, name);
	cleanup_free char *peer = xasprintf("https://%s:2380", node ? node->address : "192.0.2.1");

	return json_pack("{s:s, s:s, s:[s], s:b}", "ID", name, "name", learner ? "" : name,
			 "peerURLs", peer, "isLearner", learner);
}

static json_t *list_etcd(const struct profile *profile)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	json_t *items = json_array();
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all) {
		if (strncmp(what, "etcd:", 5) == 0)
			(void)json_array_append_new(items, member_object(profile, what + 5, false));
		if (strncmp(what, "learner:", 8) == 0)
			(void)json_array_append_new(items, member_object(profile, what + 8, true));
	}
	return json_pack("{s:o}", "members", items);
}

unsigned fake_world_unsettled;

/* The leader of etcd: the chosen one, or else the first running member.  The caller frees it. */
static char *leader(void)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	char *name = remembered("leader");
	const char *what;

	if (*name && has("etcd", name) && is_awake(name))
		return name;
	free(name);
	fake_world_list(&all);
	strlist_for_each(what, &all)
		if (strncmp(what, "etcd:", 5) == 0 && is_awake(what + 5))
			return xstrdup(what + 5);
	return xstrdup("");
}

/* Requests of API servers at this moment would fail. */
static int pass_lead(const char *from, const char *to, struct error *err)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all)
		if (strncmp(what, "etcd:", 5) == 0 && is_awake(what + 5) &&
		    !fake_world_holds(what + 5))
			return error_set(err, -EBUSY, "the API server of '%s' is not held",
					 what + 5);
	happen("lead", to, from);
	remember("leader", to);
	return 0;
}

static int fake_etcd(const struct profile *profile, const struct node *node, const char *path,
		     const json_t *body, json_t **ret_answer, struct error *err)
{
	const char *id = json_string_value(json_object_get(body, "ID"));

	if (!is_awake(node->name) || !has("etcd", node->name) || !has_quorum())
		return error_set(err, -ECONNREFUSED, "etcd does not answer");
	if (strstr(path, "/remove") && fake_world_unsettled > 0) {
		fake_world_unsettled--;
		return error_set(err, -EAGAIN, "unhealthy cluster");
	}
	if (strstr(path, "/remove")) {
		drop_about("etcd", id);
		drop_about("learner", id);
	}
	if (strstr(path, "/list") && ret_answer)
		*ret_answer = list_etcd(profile);
	if (strstr(path, "/status") && ret_answer) {
		cleanup_free char *name = leader();

		*ret_answer = json_pack("{s:s}", "leader", name);
	}
	if (strstr(path, "/transfer-leadership"))
		return pass_lead(node->name, json_string_value(json_object_get(body, "targetID")),
				 err);
	return 0;
}

static bool fake_api(arg_unused const struct profile *profile, const struct node *node)
{
	return is_awake(node->name) && has_quorum();
}

static bool fake_roles(arg_unused const struct profile *profile)
{
	return fake_world_inits() > 0 && !is_still_coming_up();
}

static bool admin_has_rights;

static int fake_give_rights(arg_unused const struct profile *profile)
{
	admin_has_rights = true;
	return 0;
}

static bool fake_admin(arg_unused const struct profile *profile)
{
	return admin_has_rights;
}

static int fake_config_add(arg_unused const struct profile *profile, arg_unused struct error *err)
{
	add("kubeconfig");
	return 0;
}

static int fake_config_remove(arg_unused const char *name, arg_unused struct error *err)
{
	drop("kubeconfig");
	return 0;
}

static const struct world fake_world = {
	.payload = fake_payload,
	.network_lock = fake_lock,
	.room = fake_room,
	.network_plan = fake_plan,
	.ports_are_free = fake_ports,
	.network_up = fake_network_up,
	.network_forget = fake_forget,
	.network_down = fake_network_down,
	.network_is_up = fake_network_is_up,
	.cut = fake_cut,
	.delay = fake_delay,
	.delay_probe = fake_delay_probe,
	.failure_timer = fake_timer,
	.front_door_up = fake_door_up,
	.front_door_hangs = fake_door_hangs,
	.front_door_without = fake_door_without,
	.front_door_down = fake_door_down,
	.kube = fake_kube,
	.api_is_ready = fake_api,
	.etcd = fake_etcd,
	.roles_are_made = fake_roles,
	.give_admin_rights = fake_give_rights,
	.admin_is_ready = fake_admin,
	.renew = fake_renew,
	.import_images = fake_import,
	.kubeconfig_add = fake_config_add,
	.kubeconfig_remove = fake_config_remove,
	.after = after,
};

void fake_world_use(const char *path, unsigned step)
{
	cleanup_free char *files = xasprintf("%s/.files", path);

	free(dir);
	dir = xstrdup(path);
	crash_at = step;
	steps = 0;
	strlist_release(&fake_world_payloads);
	fake_world_fetches = 0;
	(void)file_make_dirs(files, 0755, NULL);
	fake_files_use(files);
	world = &fake_world;
	node_driver_replace(&fake_driver);
}
