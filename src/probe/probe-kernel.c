/* Checks of kernel features that nodes need. */

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/process.h"
#include "base/strlist.h"
#include "cgroup/scope.h"
#include "host/namespace.h"
#include "probe/probe-checks.h"

/* An unused uid, like those of nodes. */
#define TRIAL_UID 0x6fff0000u

bool probe_kernel_is_new(const char *release)
{
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;
	unsigned long long major;
	unsigned long long minor;

	strlist_split(&parts, release, '.');
	if (parts.count < 2)
		return false;
	parts.items[1][strspn(parts.items[1], "0123456789")] = '\0';
	if (parse_number(parts.items[0], 0, 9999, &major, NULL) < 0 ||
	    parse_number(parts.items[1], 0, 9999, &minor, NULL) < 0)
		return false;
	return major > 5 || (major == 5 && minor >= 19);
}

enum probe_state probe_check_kernel(const struct probe *probe arg_unused, struct strbuf *text)
{
	struct utsname name;

	if (uname(&name) < 0) {
		strbuf_add(text, "cannot determine the kernel version");
		return PROBE_WARNING;
	}
	if (!probe_kernel_is_new(name.release)) {
		strbuf_addf(text, "Linux %s, which is older than 5.19", name.release);
		return PROBE_MISSING;
	}
	strbuf_addf(text, "Linux %s, %s", name.release, name.machine);
	return PROBE_OK;
}

enum probe_state probe_check_user_namespaces(const struct probe *probe arg_unused,
					     struct strbuf *text)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_fd int fd = -1;

	if (geteuid() != 0) {
		strbuf_add(text, "only root can check user namespaces");
		return PROBE_UNTRIED;
	}
	if (namespace_new_user(TRIAL_UID, &fd, &why) < 0) {
		strbuf_add(text, why.text);
		return PROBE_MISSING;
	}
	strbuf_add(text, "allowed");
	return PROBE_OK;
}

int probe_idmap(const char *path, struct error *err)
{
	cleanup_fd int userns = -1;
	cleanup_fd int tree = -1;
	int r = namespace_new_user(TRIAL_UID, &userns, err);

	return r < 0 ? r : namespace_map_tree(path, userns, false, &tree, err);
}

enum probe_state probe_check_idmap(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = NULL;
	cleanup_fd int userns = -1;
	cleanup_fd int tree = -1;

	if (geteuid() != 0) {
		strbuf_add(text, "only root can check idmapped mounts");
		return PROBE_UNTRIED;
	}
	/* Other checks report why these fail. */
	if (probe_state_dir(&path, NULL) < 0 || namespace_new_user(TRIAL_UID, &userns, NULL) < 0) {
		strbuf_add(text, "could not be checked");
		return PROBE_WARNING;
	}
	if (namespace_map_tree(path, userns, false, &tree, &why) < 0) {
		strbuf_addf(text, "the file system of '%s' does not support idmapped mounts", path);
		return PROBE_MISSING;
	}
	strbuf_addf(text, "supported by the file system of '%s'", path);
	return PROBE_OK;
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

enum probe_state probe_check_overlay(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf known = STRBUF_INIT;
	cleanup_fd int fd = -1;

	(void)file_read("/proc/filesystems", PROC_LIMIT, &known, NULL);
	if (!probe_has_filesystem(known.text, "overlay")) {
		/* fsopen() loads the module if there is one and we are allowed to. */
		fd = fsopen("overlay", FSOPEN_CLOEXEC);
		if (fd < 0) {
			strbuf_add(text, "this kernel does not support overlayfs");
			return PROBE_MISSING;
		}
	}
	strbuf_add(text, "supported by this kernel");
	return PROBE_OK;
}

/* Nodes get the host's /usr and links into it, so /bin must be a link, too. */
enum probe_state probe_check_usr_merge(const struct probe *probe arg_unused, struct strbuf *text)
{
	char target[PATH_MAX];
	ssize_t len = readlink("/bin", target, sizeof(target));

	if (len < 0) {
		strbuf_add(text, "'/bin' is a directory, not a link into '/usr'");
		return PROBE_MISSING;
	}
	strbuf_addf(text, "'/bin' is a link to '%.*s'", (int)len, target);
	return PROBE_OK;
}

/* Mandatory access control on the host. */
enum probe_state probe_check_confinement(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf apparmor = STRBUF_INIT;
	unsigned long long enforces = 0;

	(void)probe_read_number("/sys/fs/selinux/enforce", &enforces, NULL);
	if (enforces) {
		strbuf_add(text, "SELinux is enforcing; nodes were tested with Debian's policy");
		return PROBE_WARNING;
	}
	(void)file_read("/sys/module/apparmor/parameters/enabled", PROC_LIMIT, &apparmor, NULL);
	strbuf_add(text, apparmor.len > 0 && apparmor.text[0] == 'Y'
				 ? "AppArmor is enabled; containers in nodes have no profiles"
				 : "neither SELinux nor AppArmor is enabled");
	return PROBE_OK;
}

enum probe_state probe_check_loop(const struct probe *probe arg_unused, struct strbuf *text)
{
	if (!file_exists("/dev/loop-control")) {
		strbuf_add(text, "no '/dev/loop-control', which --disk-size needs");
		return PROBE_MISSING;
	}
	strbuf_add(text, "available");
	return PROBE_OK;
}

enum probe_state probe_check_namespaces(const struct probe *probe arg_unused, struct strbuf *text)
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
		strbuf_addf(text, "this kernel has no %s namespaces", list);
		return PROBE_MISSING;
	}
	strbuf_add(text, "cgroup, ipc, mnt, net, pid, uts");
	return PROBE_OK;
}

/* Add the controllers in lines "N:a,b:/path" of /proc/self/cgroup to FOUND. */
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
	/* v2 restricts devices with BPF programs, without a controller. */
	if (!unified && !strlist_has(&found, "devices"))
		strlist_add(&missing, "devices");
	return missing.count > 0 ? strlist_join(&missing, ", ") : NULL;
}

enum probe_state probe_check_cgroups(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf self = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf unified = STRBUF_INIT;
	cleanup_free char *missing = NULL;
	bool is_v2;

	(void)file_read("/proc/self/cgroup", PROC_LIMIT, &self, NULL);
	is_v2 = file_read("/sys/fs/cgroup/cgroup.controllers", PROC_LIMIT, &unified, NULL) >= 0;
	missing = probe_missing_controllers(self.text, is_v2 ? unified.text : NULL);
	if (missing) {
		strbuf_addf(text, "cgroup v%d, missing controllers: %s", is_v2 ? 2 : 1, missing);
		return PROBE_MISSING;
	}
	strbuf_addf(text, "cgroup v%d", is_v2 ? 2 : 1);
	return PROBE_OK;
}

enum probe_state probe_check_systemd(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_free char *path = NULL;

	if (!scope_is_used()) {
		strbuf_add(text, "not in use; manykube manages the control groups of nodes");
		return PROBE_OK;
	}
	path = process_find("systemd-run");
	if (!path) {
		strbuf_add(text, "program 'systemd-run' not found");
		return PROBE_MISSING;
	}
	strbuf_add(text, "in use; every cluster is a scope");
	return PROBE_OK;
}
