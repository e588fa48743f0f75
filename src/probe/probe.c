/* Checks of what nodes need from this host, with remedies. */

#include "probe/probe.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/strlist.h"
#include "probe/probe-checks.h"

#define ROOT_REMEDY "run 'sudo manykube doctor'"
#define INOTIFY_REMEDY \
	"sysctl -w fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=524288"

static enum probe_state look_for_program(const struct probe *probe, struct strbuf *text,
					 enum probe_state without)
{
	cleanup_free char *path = process_find(probe->name);

	if (!path) {
		strbuf_addf(text, "program '%s' not found", probe->name);
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

/* e2fsck and resize2fs are in the same package. */
static enum probe_state check_disk_program(const struct probe *probe, struct strbuf *text)
{
	enum probe_state state = look_for_program(probe, text, PROBE_MISSING);

	if (state != PROBE_OK)
		strbuf_add(text, ", which --disk-size needs");
	return state;
}

/* clang-format off */
static const struct probe probes[] = {
	{ "root", "needed to create nodes, not to look at clusters", probe_check_root, ROOT_REMEDY, NULL, NULL, PROBE_ONLY_TOLD },
	{ "kernel", "provides the features that nodes need", probe_check_kernel, "use Linux 5.19 or later", NULL, &reason_host_unsupported, 0 },
	{ "user namespaces", "a node's root has no rights on this host", probe_check_user_namespaces,
	  "sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1", NULL, &reason_host_unsupported, 0 },
	{ "ids", "user ids of nodes must not belong to users", probe_check_ids,
	  "remove that range, or trust that user with all nodes", NULL, NULL, PROBE_ONLY_TOLD },
	{ "idmapped mounts", "nodes share files owned by root", probe_check_idmap,
	  "set MANYKUBE_HOME to a directory on ext4, xfs or btrfs", NULL, &reason_host_unsupported, 0 },
	{ "overlayfs", "file systems of nodes and containers", probe_check_overlay,
	  "load the module 'overlay', or use a kernel with CONFIG_OVERLAY_FS", NULL, &reason_host_unsupported, 0 },
	{ "usr merge", "nodes use the programs in this host's /usr", probe_check_usr_merge,
	  "apt-get install usrmerge", NULL, &reason_host_unsupported, 0 },
	{ "cgroups", "limits of nodes and pods", probe_check_cgroups,
	  "enable these controllers at boot, and mount them below /sys/fs/cgroup", NULL, &reason_host_unsupported, 0 },
	{ "systemd", "lets clusters outlive the login session", probe_check_systemd, NULL, "systemd", &reason_host_missing_tool, 0 },
	{ "namespaces", "isolate nodes", probe_check_namespaces,
	  "use a kernel with CONFIG_NAMESPACES and all types of namespaces", NULL, &reason_host_unsupported, 0 },
	{ "loopback", "the API and published ports are at 127.0.0.1", probe_check_loopback,
	  "ip link set lo up; and have firewalls accept traffic of 'lo'", NULL, &reason_host_config, 0 },
	{ "links", "network between nodes", probe_check_links,
	  "load the modules 'bridge' and 'veth' as root, or use a kernel with CONFIG_BRIDGE and CONFIG_VETH", NULL, &reason_host_unsupported, 0 },
	{ "nftables", "network access of nodes", probe_check_firewall,
	  "load the modules 'nf_tables' and 'nft_masq' as root, or use a kernel with CONFIG_NF_TABLES and CONFIG_NFT_MASQ", NULL, &reason_host_unsupported, 0 },
	{ "mount", "the kubelet mounts volumes with it", check_program, NULL, "mount", &reason_host_missing_tool, 0 },
	{ "umount", "the kubelet unmounts volumes with it", check_program, NULL, "mount", &reason_host_missing_tool, 0 },
	{ "nft", "kube-proxy implements services with it", check_program, NULL, "nftables", &reason_host_missing_tool, 0 },
	{ "iptables", "for host ports of pods", check_useful_program, NULL, "iptables", NULL, PROBE_ONLY_TOLD },
	{ "conntrack", "kube-proxy removes stale connections with it", check_useful_program, NULL, "conntrack", NULL, PROBE_ONLY_TOLD },
	{ "mkfs.ext4", "creates disks of nodes (--disk-size)", check_disk_program, NULL, "e2fsprogs", &reason_host_missing_tool, PROBE_OF_DISKS },
	{ "loop devices", "for disks of nodes (--disk-size)", probe_check_loop,
	  "load the module 'loop' as root: modprobe loop", NULL, &reason_host_unsupported, PROBE_OF_DISKS },
	{ "home", "holds the state of clusters", probe_check_home,
	  "set MANYKUBE_HOME to a writable directory", NULL, &reason_host_config, 0 },
	{ "disk", "Kubernetes, images and data of nodes", probe_check_disk,
	  "free some space there; a host without clusters may also set MANYKUBE_HOME to a directory on a larger disk", NULL, &reason_storage, PROBE_ONLY_TOLD },
	{ "memory", "a control plane needs about 900 MB, a worker 110 MB", probe_check_memory,
	  "stop other programs, or use fewer nodes", NULL, &reason_resources, PROBE_ONLY_TOLD },
	{ "swap", "memory of nodes may be swapped out", probe_check_swap, NULL, NULL, NULL, PROBE_ONLY_TOLD },
	{ "inotify", "the kubelet and containerd of every node watch files", probe_check_inotify, INOTIFY_REMEDY, NULL, NULL, PROBE_ONLY_TOLD },
	{ "open files", "API servers and containerd need many", probe_check_open_files,
	  "raise the limit with 'ulimit -Hn 1048576', or LimitNOFILE= of the service", NULL, NULL, PROBE_ONLY_TOLD },
	{ "capabilities", "needed to raise limits", probe_check_capabilities, NULL, NULL, NULL, PROBE_ONLY_TOLD },
	{ "confinement", "security policies can break nodes", probe_check_confinement,
	  "if nodes fail, see 'ausearch -m avc'; 'setenforce 0' disables SELinux until the next boot",
	  NULL, NULL, PROBE_ONLY_TOLD },
	{ "forwarding", "network access of nodes", probe_check_forwarding,
	  "mount /proc with /proc/sys", NULL, NULL, PROBE_ONLY_TOLD },
	{ "firewall", "firewall rules can cut off nodes", probe_check_firewalls,
	  "make these rules accept traffic from and to the interfaces 'mk*'", NULL, NULL, PROBE_ONLY_TOLD },
	{ "clock", "certificates are valid from the time of their creation", probe_check_clock,
	  "set the host's clock", NULL, NULL, PROBE_ONLY_TOLD },
};
/* clang-format on */

static int each(probe_fn fn, void *data, enum probe_flags without)
{
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		cleanup_free char *install = NULL;
		const struct probe *probe = &probes[i];
		struct probe_result result = {
			.name = probe->name,
			.purpose = probe->purpose,
			.package = probe->package,
			.reason = probe->reason,
		};
		int r;

		if (probe->flags & without)
			continue;
		if (probe->package)
			install = xasprintf("apt install %s", probe->package);
		result.state = probe->check(probe, &text);
		/* Most nodes have no disks of their own. */
		if (!without && probe->flags & PROBE_OF_DISKS && result.state == PROBE_MISSING)
			result.state = PROBE_WARNING;
		result.text = text.text;
		if (result.state == PROBE_UNTRIED) {
			result.state = PROBE_WARNING;
			result.remedy = ROOT_REMEDY;
		} else if (result.state != PROBE_OK) {
			result.remedy = install ? install : probe->remedy;
		}
		r = fn(&result, data);
		if (r < 0)
			return r;
	}
	return 0;
}

int probe_each(probe_fn fn, void *data)
{
	return each(fn, data, 0);
}

const char *probe_state_word(enum probe_state state)
{
	static const char *const state_words[] = { "ok", "warning", "missing" };

	return state_words[state];
}

/* Everything that is missing, collected from results. */
struct verdict {
	struct strlist texts;
	struct strlist packages;
	struct strlist remedies;
	const struct reason *reason; /* that of the first missing thing */
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
	if (!verdict->reason)
		verdict->reason = result->reason;
	if (!result->package) {
		strlist_add(&verdict->remedies, result->remedy);
	} else if (!strlist_has(&verdict->packages, result->package)) {
		strlist_add(&verdict->packages, result->package);
	}
	return 0;
}

static int judge_verdict(struct verdict *verdict, struct error *err)
{
	int code = verdict->reason == &reason_host_missing_tool ? -ENOENT : -ENOTSUP;
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
	(void)error_because(err, verdict->reason, code, "this host cannot run nodes: %s", texts);
	return error_hint(err, code, "%s", remedies);
}

int probe_judge(const struct probe_result *results, size_t count, struct error *err)
{
	cleanup_with(verdict_release) struct verdict verdict = { 0 };

	for (size_t i = 0; i < count; i++)
		(void)add_to_verdict(&results[i], &verdict);
	return judge_verdict(&verdict, err);
}

int probe_required(bool with_disks, struct error *err)
{
	cleanup_with(verdict_release) struct verdict verdict = { 0 };

	(void)each(add_to_verdict, &verdict, PROBE_ONLY_TOLD | (with_disks ? 0 : PROBE_OF_DISKS));
	return judge_verdict(&verdict, err);
}

void probe_missing_programs(bool (*has)(const char *program, const void *data), const void *data,
			    struct strlist *names, struct strlist *packages)
{
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		if (probes[i].check != check_program || has(probes[i].name, data))
			continue;
		strlist_add(names, probes[i].name);
		if (!strlist_has(packages, probes[i].package))
			strlist_add(packages, probes[i].package);
	}
}

int probe_raise_number(const char *path, unsigned long long wanted, struct error *err)
{
	cleanup_free char *text = NULL;
	unsigned long long now;
	int r;

	r = probe_read_number(path, &now, err);
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
		(void)error_prefix(
			err, r,
			"cannot raise the inotify limits, which may be too low for many nodes");
		return error_hint(err, r, INOTIFY_REMEDY);
	}
	return 0;
}
