/* The process that listens at a port of this host. */

#include "network/port-holder.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "balancer/balancer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "record/profile.h"

#define TABLE_BYTES (4 << 20)
#define LISTENING   0x0a

/* The text of an IPv4 address in these files is the 32 bit number in the host's byte order. */
static bool concerns(const char *hex, struct in_addr address)
{
	static const char all_ipv6[] = "00000000000000000000000000000000";
	static const char mapped[] = "0000000000000000FFFF0000";
	char wanted[9];

	if (strlen(hex) == strlen(mapped) + 8 && strncmp(hex, mapped, strlen(mapped)) == 0)
		hex += strlen(mapped);
	(void)snprintf(wanted, sizeof(wanted), "%08X", address.s_addr);
	if (strcmp(hex, all_ipv6) == 0 || strcmp(hex, "00000000") == 0)
		return true;
	return strlen(hex) == 8 && (address.s_addr == INADDR_ANY || strcmp(hex, wanted) == 0);
}

bool port_holder_parse(const char *line, struct in_addr address, unsigned port,
		       unsigned long *ret_inode)
{
	unsigned long inode;
	unsigned state;
	unsigned at;
	char hex[33];

	if (sscanf(line, " %*d: %32[0-9A-F]:%x %*s %x %*s %*s %*s %*s %*s %lu", hex, &at, &state,
		   &inode) != 4 ||
	    state != LISTENING || at != port || inode == 0 || !concerns(hex, address))
		return false;
	*ret_inode = inode;
	return true;
}

static bool find_inode(const char *path, struct in_addr address, unsigned port,
		       unsigned long *ret_inode)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *line;

	if (file_read(path, TABLE_BYTES, &text, NULL) < 0)
		return false;
	strlist_split(&lines, text.text, '\n');
	strlist_for_each(line, &lines)
		if (port_holder_parse(line, address, port, ret_inode))
			return true;
	return false;
}

/* Whether the process called PID, a directory in /proc, has the link TARGET among its descriptors.
 * The kernel makes all of that. */
static bool has_descriptor(const char *pid, const char *target)
{
	cleanup_free char *path = xasprintf("/proc/%s/fd", pid);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		char link[64];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		link[MAX(len, 0)] = '\0';
		found = strcmp(link, target) == 0;
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

/* The pid of a process that has the socket INODE; 0 if none can be found. */
static unsigned long long find_process(unsigned long inode)
{
	cleanup_free char *target = xasprintf("socket:[%lu]", inode);
	unsigned long long found = 0;
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	while (dir && !found && (entry = readdir(dir))) {
		unsigned long long pid;

		if (parse_number(entry->d_name, 1, INT32_MAX, &pid, NULL) == 0 &&
		    has_descriptor(entry->d_name, target))
			found = pid;
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

/* The name of the cluster whose front door PID is, for the caller to free, or NULL. */
static char *find_cluster(pid_t pid)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	if (profile_list(&names, NULL) < 0)
		return NULL;
	strlist_for_each(name, &names) {
		cleanup_free char *dir = NULL;

		if (profile_dir(name, &dir, NULL) == 0 &&
		    (balancer_pid(dir) == pid || balancer_worker_pid(dir) == pid ||
		     balancer_registry_pid(dir) == pid))
			return xstrdup(name);
	}
	return NULL;
}

char *port_holder(struct in_addr address, unsigned port)
{
	cleanup_with(strbuf_release) struct strbuf name = STRBUF_INIT;
	cleanup_free char *cluster = NULL;
	cleanup_free char *path = NULL;
	unsigned long long pid;
	unsigned long inode;

	if (!find_inode("/proc/self/net/tcp", address, port, &inode) &&
	    !find_inode("/proc/self/net/tcp6", address, port, &inode))
		return NULL;
	pid = find_process(inode);
	if (pid == 0)
		return NULL;
	cluster = find_cluster((pid_t)pid);
	if (cluster)
		return xasprintf("cluster '%s'", cluster);
	path = xasprintf("/proc/%llu/comm", pid);
	if (file_read(path, 64, &name, NULL) < 0)
		return NULL;
	strbuf_trim_end(&name);
	return xasprintf("'%s' (process %llu)", name.text, pid);
}
