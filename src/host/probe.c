/* What this host can do, with the remedy for what it cannot. */

#include "host/probe.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/process.h"
#include "base/strlist.h"
#include "host/firewall.h"
#include "host/link.h"

#define PROC_LIMIT (1 << 20)

#define INOTIFY_INSTANCES_FILE "/proc/sys/fs/inotify/max_user_instances"
#define INOTIFY_WATCHES_FILE   "/proc/sys/fs/inotify/max_user_watches"
#define INOTIFY_REMEDY \
	"sysctl -w fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=524288"

enum {
	INOTIFY_INSTANCES = 8192,
	INOTIFY_INSTANCES_LEAST = 1024,
	INOTIFY_WATCHES = 524288,
};

#define DISK_LEAST_BYTES   (UINT64_C(10) << 30)
#define MEMORY_LEAST_BYTES (UINT64_C(2) << 30)

/* One thing to look at.  CHECK adds what it found, or what is wrong, to TEXT. */
struct probe {
	const char *name;
	const char *purpose;
	enum probe_state (*check)(const struct probe *probe, struct strbuf *text);
	const char *remedy;
	const char *package; /* of the program NAME */
};

static enum probe_state look_for_program(const struct probe *probe, struct strbuf *text,
					 enum probe_state without)
{
	cleanup_free char *path = process_find(probe->name);

	if (!path) {
		strbuf_addf(text, "there is no program '%s'", probe->name);
		return without;
	}
	strbuf_add(text, path);
	return PROBE_OK;
}

static enum probe_state check_program(const struct probe *probe, struct strbuf *text)
{
	return look_for_program(probe, text, PROBE_MISSING);
}

static enum probe_state check_useful_program(const struct probe *probe, struct strbuf *text)
{
	return look_for_program(probe, text, PROBE_WARNING);
}

bool probe_has_filesystem(const char *text, const char *name)
{
	size_t len = strlen(name);

	/* Lines are "nodev\tNAME" or "\tNAME". */
	for (const char *at = text; (at = strstr(at, name)); at += len)
		if (at > text && at[-1] == '\t' && (at[len] == '\n' || !at[len]))
			return true;
	return false;
}

static enum probe_state check_overlay(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf known = STRBUF_INIT;
	cleanup_fd int fd = -1;

	(void)file_read("/proc/filesystems", PROC_LIMIT, &known, NULL);
	if (!probe_has_filesystem(known.text, "overlay")) {
		/* To ask for it loads the module, if there is one and we may. */
		fd = fsopen("overlay", FSOPEN_CLOEXEC);
		if (fd < 0) {
			strbuf_add(text, "this kernel has no overlay file system");
			return PROBE_MISSING;
		}
	}
	strbuf_add(text, "in this kernel");
	return PROBE_OK;
}

static enum probe_state check_namespaces(const struct probe *probe arg_unused, struct strbuf *text)
{
	static const char *const kinds[] = { "cgroup", "ipc", "mnt", "net", "pid", "uts" };
	cleanup_with(strlist_release) struct strlist missing = STRLIST_INIT;
	cleanup_free char *list = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_free char *path = xasprintf("/proc/self/ns/%s", kinds[i]);

		if (access(path, F_OK) < 0)
			strlist_add(&missing, kinds[i]);
	}
	if (missing.count > 0) {
		list = strlist_join(&missing, ", ");
		strbuf_addf(text, "this kernel has no namespaces of kind %s", list);
		return PROBE_MISSING;
	}
	strbuf_add(text, "cgroup, ipc, mnt, net, pid, uts");
	return PROBE_OK;
}

/* The controllers that the lines "N:a,b:/path" of /proc/self/cgroup name. */
static void add_v1_controllers(struct strlist *found, const char *self)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;

	strlist_split(&lines, self, '\n');
	strlist_for_each(line, &lines) {
		const char *begin = strchr(line, ':');
		const char *end = begin ? strchr(begin + 1, ':') : NULL;
		cleanup_free char *names = NULL;

		if (!end)
			continue;
		names = xstrndup(begin + 1, (size_t)(end - begin - 1));
		strlist_split(found, names, ',');
	}
}

char *probe_missing_controllers(const char *self, const char *unified)
{
	static const char *const needed[] = { "cpu", "cpuset", "memory", "pids" };
	cleanup_with(strlist_release) struct strlist found = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist missing = STRLIST_INIT;

	if (unified) {
		cleanup_free char *line = xstrndup(unified, strcspn(unified, "\n"));

		strlist_split(&found, line, ' ');
	} else {
		add_v1_controllers(&found, self);
	}
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!strlist_has(&found, needed[i]))
			strlist_add(&missing, needed[i]);
	/* Version 2 limits devices by programs of its own, without a controller. */
	if (!unified && !strlist_has(&found, "devices"))
		strlist_add(&missing, "devices");
	return missing.count > 0 ? strlist_join(&missing, ", ") : NULL;
}

static enum probe_state check_cgroups(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf self = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf unified = STRBUF_INIT;
	cleanup_free char *missing = NULL;
	bool is_v2;

	(void)file_read("/proc/self/cgroup", PROC_LIMIT, &self, NULL);
	is_v2 = file_read("/sys/fs/cgroup/cgroup.controllers", PROC_LIMIT, &unified, NULL) >= 0;
	missing = probe_missing_controllers(self.text, is_v2 ? unified.text : NULL);
	if (missing) {
		strbuf_addf(text, "cgroup v%d without the controllers %s", is_v2 ? 2 : 1, missing);
		return PROBE_MISSING;
	}
	strbuf_addf(text, "cgroup v%d", is_v2 ? 2 : 1);
	return PROBE_OK;
}

/* Make a bridge and a veth pair on it in the network namespace we are in. */
static int try_links(void)
{
	cleanup_with(link_closep) struct link_socket *link = NULL;
	cleanup_fd int netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int r;

	r = link_open(&link, NULL);
	if (r >= 0)
		r = link_add_bridge(link, "probe", NULL);
	if (r >= 0)
		r = link_add_veth(link, "probe-a", "probe", "probe-b", netns, NULL);
	return r;
}

static int try_firewall(void)
{
	return firewall_replace_table("probe",
				      "chain probe {\n"
				      "  type nat hook postrouting priority srcnat;\n"
				      "  ip saddr 192.0.2.0/24 masquerade\n"
				      "}",
				      NULL);
}

/* Do TRY in a child with a network of its own: 0, -EPERM if we may not, -ENOTSUP if it failed. */
static int try_apart(int (*try)(void))
{
	int status;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		return -EPERM;
	if (pid == 0) {
		if (unshare(CLONE_NEWNET) < 0)
			_exit(2);
		_exit(try() < 0 ? 1 : 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -EPERM;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 2 ? -EPERM : -ENOTSUP;
}

/* Words for what try_apart() returned about WHAT. */
static enum probe_state tried(int r, const char *what, struct strbuf *text)
{
	if (r == -EPERM) {
		strbuf_addf(text, "only root can try out %s", what);
		return PROBE_WARNING;
	}
	if (r < 0) {
		strbuf_addf(text, "this kernel cannot make %s", what);
		return PROBE_MISSING;
	}
	strbuf_add(text, "in this kernel");
	return PROBE_OK;
}

static enum probe_state check_links(const struct probe *probe arg_unused, struct strbuf *text)
{
	return tried(try_apart(try_links), "bridges and veth pairs", text);
}

static enum probe_state check_firewall(const struct probe *probe arg_unused, struct strbuf *text)
{
	return tried(try_apart(try_firewall), "nftables with address translation", text);
}

static int read_number(const char *path, unsigned long long *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r;

	r = file_read(path, PROC_LIMIT, &text, err);
	if (r < 0)
		return r;
	strbuf_trim_end(&text);
	r = parse_number(text.text, 0, UINT64_MAX, ret, err);
	return r < 0 ? error_prefix(err, r, "cannot read '%s'", path) : 0;
}

static enum probe_state check_inotify(const struct probe *probe arg_unused, struct strbuf *text)
{
	unsigned long long instances;
	unsigned long long watches;

	if (read_number(INOTIFY_INSTANCES_FILE, &instances, NULL) < 0 ||
	    read_number(INOTIFY_WATCHES_FILE, &watches, NULL) < 0) {
		strbuf_add(text, "cannot read the limits of inotify");
		return PROBE_WARNING;
	}
	strbuf_addf(text, "%llu instances and %llu watches for each user", instances, watches);
	return instances < INOTIFY_INSTANCES_LEAST || watches < INOTIFY_WATCHES ? PROBE_WARNING
										: PROBE_OK;
}

uint64_t probe_available_memory(const char *text)
{
	static const char key[] = "MemAvailable:";
	const char *at = strstr(text, key);
	cleanup_free char *number = NULL;
	unsigned long long kib;

	if (!at || (at > text && at[-1] != '\n'))
		return 0;
	at += strlen(key);
	at += strspn(at, " ");
	number = xstrndup(at, strspn(at, "0123456789"));
	if (parse_number(number, 0, UINT64_MAX >> 10, &kib, NULL) < 0)
		return 0;
	return (uint64_t)kib << 10;
}

static enum probe_state enough(uint64_t bytes, uint64_t least, const char *where,
			       struct strbuf *text)
{
	strbuf_addf(text, "%.1f GiB free%s", (double)bytes / (1 << 30), where);
	return bytes < least ? PROBE_WARNING : PROBE_OK;
}

static enum probe_state check_memory(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf info = STRBUF_INIT;

	(void)file_read("/proc/meminfo", PROC_LIMIT, &info, NULL);
	return enough(probe_available_memory(info.text), MEMORY_LEAST_BYTES, "", text);
}

static enum probe_state check_disk(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_free char *path = NULL;
	cleanup_free char *where = NULL;
	struct statvfs st;

	if (path_state(&path, NULL) < 0) {
		strbuf_add(text, "there is no folder for clusters");
		return PROBE_WARNING;
	}
	/* The folder may be yet to be made: look at the nearest one above it. */
	while (!file_exists(path) && strrchr(path, '/') > path)
		*strrchr(path, '/') = '\0';
	if (statvfs(path, &st) < 0) {
		strbuf_addf(text, "cannot see how much is free in '%s'", path);
		return PROBE_WARNING;
	}
	where = xasprintf(" in '%s'", path);
	return enough((uint64_t)st.f_bavail * st.f_frsize, DISK_LEAST_BYTES, where, text);
}

/* clang-format off */
static const struct probe probes[] = {
	{ "mount", "kubelet mounts pods' volumes with it", check_program, NULL, "mount" },
	{ "umount", "kubelet unmounts pods' volumes with it", check_program, NULL, "mount" },
	{ "nft", "kube-proxy makes services with it", check_program, NULL, "nftables" },
	{ "iptables", "publishes the host ports of pods", check_useful_program, NULL, "iptables" },
	{ "overlayfs", "the file systems of nodes and containers", check_overlay,
	  "load the module 'overlay', or use a kernel with CONFIG_OVERLAY_FS", NULL },
	{ "cgroups", "limits of nodes and pods", check_cgroups,
	  "boot with these controllers enabled, and see that they are mounted below /sys/fs/cgroup", NULL },
	{ "namespaces", "nodes are made of them", check_namespaces,
	  "use a kernel with CONFIG_NAMESPACES and all kinds of them", NULL },
	{ "links", "the network between nodes", check_links,
	  "load the modules 'bridge' and 'veth' as root, or use a kernel with CONFIG_BRIDGE and CONFIG_VETH", NULL },
	{ "nftables", "the way of nodes to the outside", check_firewall,
	  "load the modules 'nf_tables' and 'nft_masq' as root, or use a kernel with CONFIG_NF_TABLES and CONFIG_NFT_MASQ", NULL },
	{ "inotify", "kubelet and containerd of every node watch files", check_inotify, INOTIFY_REMEDY, NULL },
	{ "memory", "a control plane takes about 1 GiB, a worker half of that", check_memory,
	  "end other programs, or make fewer nodes", NULL },
	{ "disk", "payloads, images and the data of nodes", check_disk,
	  "make room, or set MANYKUBE_HOME to a folder on a larger disk", NULL },
};
/* clang-format on */

int probe_each(probe_fn fn, void *data)
{
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		cleanup_free char *install = NULL;
		const struct probe *probe = &probes[i];
		struct probe_result result = {
			.name = probe->name,
			.purpose = probe->purpose,
			.package = probe->package,
		};
		int r;

		if (probe->package)
			install = xasprintf("apt install %s", probe->package);
		result.state = probe->check(probe, &text);
		result.text = text.text;
		if (result.state != PROBE_OK)
			result.remedy = install ? install : probe->remedy;
		r = fn(&result, data);
		if (r < 0)
			return r;
	}
	return 0;
}

const char *probe_state_word(enum probe_state state)
{
	static const char *const state_words[] = { "ok", "warning", "missing" };

	return state_words[state];
}

/* What is missing, gathered from results. */
struct verdict {
	struct strlist texts;
	struct strlist packages;
	struct strlist remedies;
	bool kernel;
};

static void verdict_release(struct verdict *verdict)
{
	strlist_release(&verdict->texts);
	strlist_release(&verdict->packages);
	strlist_release(&verdict->remedies);
}

static int add_to_verdict(const struct probe_result *result, void *data)
{
	struct verdict *verdict = data;

	if (result->state != PROBE_MISSING)
		return 0;
	strlist_add(&verdict->texts, result->text);
	if (!result->package) {
		verdict->kernel = true;
		strlist_add(&verdict->remedies, result->remedy);
	} else if (!strlist_has(&verdict->packages, result->package)) {
		strlist_add(&verdict->packages, result->package);
	}
	return 0;
}

static int judge(struct verdict *verdict, struct error *err)
{
	const struct reason *reason = verdict->kernel ? &reason_host_unsupported
						      : &reason_host_missing_tool;
	int code = verdict->kernel ? -ENOTSUP : -ENOENT;
	cleanup_free char *texts = NULL;
	cleanup_free char *remedies = NULL;

	if (verdict->texts.count == 0)
		return 0;
	if (verdict->packages.count > 0) {
		cleanup_free char *packages = strlist_join(&verdict->packages, " ");

		strlist_addf(&verdict->remedies, "apt install %s", packages);
	}
	texts = strlist_join(&verdict->texts, "; ");
	remedies = strlist_join(&verdict->remedies, "; ");
	(void)error_because(err, reason, code, "this host cannot run nodes: %s", texts);
	return error_hint(err, code, "%s", remedies);
}

int probe_judge(const struct probe_result *results, size_t count, struct error *err)
{
	cleanup_with(verdict_release) struct verdict verdict = { 0 };

	for (size_t i = 0; i < count; i++)
		(void)add_to_verdict(&results[i], &verdict);
	return judge(&verdict, err);
}

int probe_required(struct error *err)
{
	cleanup_with(verdict_release) struct verdict verdict = { 0 };

	(void)probe_each(add_to_verdict, &verdict);
	return judge(&verdict, err);
}

int probe_raise_number(const char *path, unsigned long long wanted, struct error *err)
{
	cleanup_free char *text = NULL;
	unsigned long long now;
	int r;

	r = read_number(path, &now, err);
	if (r < 0)
		return r;
	if (now >= wanted)
		return 0;
	text = xasprintf("%llu\n", wanted);
	r = file_poke(path, text, err);
	return r < 0 ? r : 1;
}

int probe_raise_inotify(struct error *err)
{
	int r;

	r = probe_raise_number(INOTIFY_INSTANCES_FILE, INOTIFY_INSTANCES, err);
	if (r >= 0)
		r = probe_raise_number(INOTIFY_WATCHES_FILE, INOTIFY_WATCHES, err);
	if (r < 0) {
		(void)error_prefix(err, r,
				   "cannot raise the limits of inotify, many nodes may fail");
		return error_hint(err, r, INOTIFY_REMEDY);
	}
	return 0;
}
