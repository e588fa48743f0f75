/* Checks of memory, disk space and limits of the host. */

#include <ctype.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/strlist.h"
#include "host/namespace.h"
#include "probe/probe-checks.h"

#define DISK_GOOD_BYTES   (UINT64_C(10) << 30)
#define MEMORY_GOOD_BYTES (UINT64_C(2) << 30)
#define OPEN_FILES        8192
#define CLOCK_LEAST       1735689600 /* 2025: an earlier clock is wrong */

int probe_read_number(const char *path, unsigned long long *ret, struct error *err)
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

enum probe_state probe_check_inotify(const struct probe *probe arg_unused, struct strbuf *text)
{
	unsigned long long instances;
	unsigned long long watches;

	if (probe_read_number(INOTIFY_INSTANCES_FILE, &instances, NULL) < 0 ||
	    probe_read_number(INOTIFY_WATCHES_FILE, &watches, NULL) < 0) {
		strbuf_add(text, "cannot read the inotify limits");
		return PROBE_WARNING;
	}
	strbuf_addf(text, "%llu instances and %llu watches per user", instances, watches);
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

static uint64_t free_memory(void)
{
	cleanup_with(strbuf_release) struct strbuf info = STRBUF_INIT;

	(void)file_read("/proc/meminfo", PROC_LIMIT, &info, NULL);
	return probe_available_memory(info.text);
}

int probe_state_dir(char **ret_path, struct error *err)
{
	cleanup_free char *path = NULL;
	int r = path_state(&path, err);

	if (r < 0)
		return r;
	/* The directory may not exist yet: use its nearest existing parent. */
	while (!file_exists(path) && strrchr(path, '/') > path)
		*strrchr(path, '/') = '\0';
	*ret_path = file_exists(path) ? take_ptr(path) : xstrdup("/");
	return 0;
}

static int free_disk(char **ret_path, uint64_t *ret_bytes, struct error *err)
{
	cleanup_free char *path = NULL;
	struct statvfs st;
	int r = probe_state_dir(&path, err);

	if (r < 0)
		return r;
	if (statvfs(path, &st) < 0)
		return error_sys(err, "cannot determine the free space in '%s'", path);
	*ret_bytes = (uint64_t)st.f_bavail * st.f_frsize;
	*ret_path = take_ptr(path);
	return 0;
}

int probe_room(uint64_t memory_bytes, uint64_t disk_bytes, struct error *err)
{
	cleanup_free char *path = NULL;
	uint64_t memory = free_memory();
	uint64_t disk;
	int r;

	/* If the free memory is unknown, proceed. */
	if (memory && memory < memory_bytes) {
		(void)error_because(
			err, &reason_resources, -ENOMEM,
			"the nodes need about %llu MiB of memory, but only %llu MiB are free",
			(unsigned long long)(memory_bytes >> 20),
			(unsigned long long)(memory >> 20));
		return error_hint(err, -ENOMEM,
				  "stop other programs, use fewer nodes (--nodes), or try anyway "
				  "with --force");
	}
	if (!disk_bytes)
		return 0;
	r = free_disk(&path, &disk, err);
	if (r < 0 || disk >= disk_bytes)
		return r;
	(void)error_because(err, &reason_storage, -ENOSPC,
			    "a cluster needs %llu MiB of disk space, but only %llu MiB are free "
			    "in '%s'",
			    (unsigned long long)(disk_bytes >> 20),
			    (unsigned long long)(disk >> 20), path);
	return error_hint(err, -ENOSPC, "free some space on the disk of '%s'", path);
}

static enum probe_state enough(uint64_t bytes, uint64_t least, uint64_t good, const char *where,
			       struct strbuf *text)
{
	strbuf_addf(text, "%.1f GiB free%s", (double)bytes / (1 << 30), where);
	if (bytes < least)
		return PROBE_MISSING;
	return bytes < good ? PROBE_WARNING : PROBE_OK;
}

enum probe_state probe_check_memory(const struct probe *probe arg_unused, struct strbuf *text)
{
	uint64_t bytes = free_memory();

	if (!bytes) {
		strbuf_add(text, "cannot determine the free memory");
		return PROBE_WARNING;
	}
	return enough(bytes, PROBE_CONTROL_PLANE_BYTES, MEMORY_GOOD_BYTES, "", text);
}

enum probe_state probe_check_disk(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = NULL;
	cleanup_free char *where = NULL;
	uint64_t bytes;

	if (free_disk(&path, &bytes, &why) < 0) {
		strbuf_add(text, why.text);
		return PROBE_WARNING;
	}
	where = xasprintf(" in '%s'", path);
	return enough(bytes, PROBE_DISK_BYTES, DISK_GOOD_BYTES, where, text);
}

enum probe_state probe_check_home(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *wanted = NULL;
	cleanup_free char *path = NULL;

	if (path_state(&wanted, &why) < 0 || probe_state_dir(&path, &why) < 0) {
		strbuf_add(text, why.text);
		return PROBE_MISSING;
	}
	/* Users other than root need not be able to write to root's directories. */
	if ((geteuid() == 0 || path_is_one_home()) && access(path, W_OK | X_OK) < 0) {
		strbuf_addf(text, "cannot write to '%s': %s", path, strerror(errno));
		return geteuid() == 0 ? PROBE_MISSING : PROBE_WARNING;
	}
	strbuf_addf(text, "clusters are stored in '%s'", wanted);
	return PROBE_OK;
}

enum probe_state probe_check_swap(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf swaps = STRBUF_INIT;
	const char *lines;

	(void)file_read("/proc/swaps", PROC_LIMIT, &swaps, NULL);
	lines = strchr(swaps.text, '\n');
	strbuf_add(text, lines && lines[1] ? "in use, which is allowed" : "none");
	return PROBE_OK;
}

enum probe_state probe_check_open_files(const struct probe *probe arg_unused, struct strbuf *text)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
		strbuf_add(text, "cannot determine the limit of open files");
		return PROBE_WARNING;
	}
	strbuf_addf(text, "at most %llu", (unsigned long long)limit.rlim_max);
	return limit.rlim_max < OPEN_FILES ? PROBE_WARNING : PROBE_OK;
}

bool probe_has_capability(const char *status, unsigned number)
{
	const char *at = strstr(status, "CapEff:");
	unsigned long long set = 0;

	if (!at)
		return false;
	at += strlen("CapEff:");
	at += strspn(at, " \t");
	for (; isxdigit((unsigned char)*at); at++)
		set = set << 4 | (unsigned)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10);
	return number < 64 && set >> number & 1;
}

enum probe_state probe_check_capabilities(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf status = STRBUF_INIT;

	(void)file_read("/proc/self/status", PROC_LIMIT, &status, NULL);
	/* For information only: nodes work with the limits they get. */
	strbuf_add(text, probe_has_capability(status.text, CAP_SYS_RESOURCE)
				 ? "has CAP_SYS_RESOURCE"
				 : "no CAP_SYS_RESOURCE: limits cannot be raised");
	return PROBE_OK;
}

/* Whether LINE, NAME:FIRST:COUNT, includes ids of nodes. */
static bool has_node_ids(const char *line)
{
	const uint64_t nodes_end = NAMESPACE_UID_FIRST + UINT64_C(256) * NAMESPACE_IDS;
	unsigned long long first;
	unsigned long long count;

	return sscanf(line, "%*[^:]:%llu:%llu", &first, &count) == 2 && first < nodes_end &&
	       count > 0 && first + count > NAMESPACE_UID_FIRST;
}

char *probe_owner_of_ids(const char *text)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;

	strlist_split(&lines, text, '\n');
	strlist_for_each(line, &lines) {
		cleanup_free char *name = xstrndup(line, strcspn(line, ":"));

		if (strcmp(name, "root") != 0 && strcmp(name, "0") != 0 && has_node_ids(line))
			return take_ptr(name);
	}
	return NULL;
}

enum probe_state probe_check_ids(const struct probe *probe arg_unused, struct strbuf *text)
{
	static const char *const files[] = { "/etc/subuid", "/etc/subgid" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_with(strbuf_release) struct strbuf contents = STRBUF_INIT;
		cleanup_free char *owner = NULL;

		if (file_read(files[i], PROC_LIMIT, &contents, NULL) == 0)
			owner = probe_owner_of_ids(contents.text);
		if (owner) {
			strbuf_addf(text, "'%s' assigns ids of nodes to '%s'", files[i], owner);
			return PROBE_WARNING;
		}
	}
	strbuf_addf(text, "from %u up", NAMESPACE_UID_FIRST);
	return PROBE_OK;
}

enum probe_state probe_check_clock(const struct probe *probe arg_unused, struct strbuf *text)
{
	int64_t now = clock_wall_seconds();
	cleanup_free char *moment = clock_rfc3339(now);

	strbuf_add(text, moment);
	return now < CLOCK_LEAST ? PROBE_WARNING : PROBE_OK;
}

enum probe_state probe_check_root(const struct probe *probe arg_unused, struct strbuf *text)
{
	bool is_root = geteuid() == 0;

	strbuf_add(text,
		   is_root ? "running as root" : "not running as root: some checks are incomplete");
	return is_root ? PROBE_OK : PROBE_WARNING;
}
