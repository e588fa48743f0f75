/* The agent's cgroup in the node, and the processes of pods. */

#include "agent/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/text.h"

static const char root[] = "/sys/fs/cgroup";
static const char leaf[] = "manykube";
static const char pods[] = "kubepods";

/* Copy FILE of a v1 cpuset to our leaf: no process can enter a cpuset without CPUs and memory. */
static void inherit_cpuset(const char *group, const char *file)
{
	struct text from = { 0 };
	struct text to = { 0 };
	char value[1024];

	text_add(&from, group, "/", file, NULL);
	text_add(&to, group, "/", leaf, "/", file, NULL);
	if (read_file(to.buf, value, sizeof(value) - 1) < 0 || (value[0] && value[0] != '\n'))
		return;
	if (read_file(from.buf, value, sizeof(value) - 1) > 0)
		(void)poke_file(to.buf, value);
}

/* Enable all controllers, one at a time, so that one failure does not affect the others. */
static void enable_controllers(const char *group)
{
	struct text from = { 0 };
	struct text to = { 0 };
	char names[1024];
	char *name = names;

	text_add(&from, group, "/cgroup.controllers", NULL);
	text_add(&to, group, "/cgroup.subtree_control", NULL);
	if (read_file(from.buf, names, sizeof(names) - 1) <= 0)
		return;
	names[strcspn(names, "\n")] = '\0';
	while (name && *name) {
		char *next = strchr(name, ' ');
		struct text word = { 0 };

		if (next)
			*next++ = '\0';
		text_add(&word, "+", name, NULL);
		if (poke_file(to.buf, word.buf) < 0)
			say("cannot enable the cgroup controller ", name, ": ", strerror(errno),
			    NULL);
		name = next;
	}
}

static void enter_leaf_of(const char *group)
{
	struct text path = { 0 };

	text_add(&path, group, "/cgroup.procs", NULL);
	if (access(path.buf, F_OK) < 0)
		return;
	path.len = 0;
	text_add(&path, group, "/", leaf, NULL);
	if (mkdir(path.buf, 0755) < 0 && errno != EEXIST) {
		say("cannot make ", path.buf, ": ", strerror(errno), NULL);
		return;
	}
	inherit_cpuset(group, "cpuset.cpus");
	inherit_cpuset(group, "cpuset.mems");
	text_add(&path, "/cgroup.procs", NULL);
	if (poke_file(path.buf, "0") < 0)
		say("cannot enter ", path.buf, ": ", strerror(errno), NULL);
	enable_controllers(group);
}

void cgroup_enter_leaf(void)
{
	struct dirent *entry;
	DIR *dir;

	enter_leaf_of(root);
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
		return;
	dir = opendir(root);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		struct text path = { 0 };

		/* Symbolic links (cpuacct -> cpu,cpuacct) lead to the same hierarchies again. */
		if (entry->d_name[0] == '.' || entry->d_type == DT_LNK)
			continue;
		text_add(&path, root, "/", entry->d_name, NULL);
		enter_leaf_of(path.buf);
	}
	(void)closedir(dir);
}

/* Signal the processes in the file PATH, a cgroup.procs; returns their number. */
static unsigned signal_processes(const char *path, int signal)
{
	static char pids[65536];
	unsigned count = 0;
	unsigned pid = 0;

	if (read_file(path, pids, sizeof(pids) - 1) <= 0)
		return 0;
	for (const char *p = pids; *p; p++) {
		if (*p >= '0' && *p <= '9') {
			pid = pid * 10 + (unsigned)(*p - '0');
			continue;
		}
		/* 0 is a process of another pid namespace, 1 is this process. */
		if (pid > 1) {
			count++;
			if (signal)
				(void)kill((pid_t)pid, signal);
		}
		pid = 0;
	}
	return count;
}

static unsigned walk(struct text *path, bool in_pods, unsigned depth, int signal)
{
	size_t len = path->len;
	unsigned count = 0;
	struct dirent *entry;
	DIR *dir;

	if (in_pods) {
		text_add(path, "/cgroup.procs", NULL);
		count += signal_processes(path->buf, signal);
		path->buf[path->len = len] = '\0';
	}
	dir = depth < 16 ? opendir(path->buf) : NULL;
	if (!dir)
		return count;
	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		text_add(path, "/", entry->d_name, NULL);
		count += walk(path, in_pods || strncmp(entry->d_name, pods, strlen(pods)) == 0,
			      depth + 1, signal);
		path->buf[path->len = len] = '\0';
	}
	(void)closedir(dir);
	return count;
}

unsigned cgroup_signal_pods(int signal)
{
	static const char *const hierarchies[] = { "/pids", "/cpu", "/memory", "/systemd" };
	struct text path = { 0 };

	text_add(&path, root, NULL);
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
		return walk(&path, false, 0, signal);
	for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
		path.buf[path.len = strlen(root)] = '\0';
		text_add(&path, hierarchies[i], NULL);
		if (access(path.buf, F_OK) == 0)
			return walk(&path, false, 0, signal);
	}
	return 0;
}
