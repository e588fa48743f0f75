/*
 * The programs of Kubernetes in VMs.
 *
 * They are on the disk image that the VM's disk builds upon, which cannot be replaced under it.
 * After an upgrade, and for a kubelet of another release or of the user's own, the files that
 * differ are sent to the VM when it boots, before its services start.  What it has is listed on the
 * host, a line "PATH SIZE MTIME" per file, and the list is written after each file.
 */

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "qemu/qemu.h"

#define LIST      "programs"
#define LIST_MOST (1u << 16)
#define SEND_MS   (10 * 60 * 1000)

/* The directories of the payload, and where a VM has them. */
static const struct {
	const char *host;
	const char *node;
} places[] = {
	{ "bin", "/opt/manykube/bin" },
	{ "cni", "/opt/cni/bin" },
};

/* Read what the VM has; if nothing is known, it gets everything. */
static int read_list(const struct node_spec *spec, struct strlist *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = qemu_path(spec, LIST);
	int r = file_read(path, LIST_MOST, &text, err);

	if (r == 0)
		strlist_split(ret, text.text, '\n');
	return r == -ENOENT ? 0 : r;
}

static int write_list(const struct node_spec *spec, const struct strlist *list, struct error *err)
{
	cleanup_free char *path = qemu_path(spec, LIST);
	cleanup_free char *text = strlist_join(list, "\n");

	return file_replace(path, text, strlen(text), 0600, err);
}

/* The file of the host that the node's kubelet is; NULL: the payload's. */
static const char *own_kubelet(const struct node_spec *spec)
{
	for (size_t i = 0; i < spec->mount_count; i++)
		if (strcmp(spec->mounts[i].node, NODE_KUBELET) == 0)
			return spec->mounts[i].host;
	return NULL;
}

typedef int (*program_fn)(const struct node_spec *spec, const char *path, int fd, const char *line,
			  void *data, struct error *err);

/* Call FN for the file HOST, open as a descriptor, which the node has as PATH. */
static int visit_file(const struct node_spec *spec, const char *host, const char *path,
		      program_fn fn, void *data, struct error *err)
{
	cleanup_fd int fd = open(host, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_free char *line = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open '%s'", host);
	if (!S_ISREG(st.st_mode))
		return 0;
	line = xasprintf("%s %lld %lld.%09ld", path, (long long)st.st_size,
			 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return fn(spec, path, fd, line, data, err);
}

/* Call FN for all programs that the node is to have. */
static int visit(const struct node_spec *spec, program_fn fn, void *data, struct error *err)
{
	const char *kubelet = own_kubelet(spec);
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(places); i++) {
		cleanup_free char *dir = xasprintf("%s/%s", spec->payload, places[i].host);
		cleanup_dir DIR *stream = opendir(dir);
		struct dirent *entry;

		if (!stream)
			return error_sys(err, "cannot open '%s'", dir);
		while (r == 0 && (entry = readdir(stream))) {
			cleanup_free char *host = xasprintf("%s/%s", dir, entry->d_name);
			cleanup_free char *path = xasprintf("%s/%s", places[i].node, entry->d_name);
			bool is_kubelet = kubelet && strcmp(path, NODE_KUBELET) == 0;

			r = visit_file(spec, is_kubelet ? kubelet : host, path, fn, data, err);
		}
	}
	return r;
}

static int add_to_list(arg_unused const struct node_spec *spec, arg_unused const char *path,
		       arg_unused int fd, const char *line, void *data,
		       arg_unused struct error *err)
{
	strlist_add(data, line);
	return 0;
}

int qemu_programs_record(const struct node_spec *spec, struct error *err)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
	struct node_spec plain = *spec;
	int r;

	/* The disk image has the payload's kubelet. */
	plain.mount_count = 0;
	r = visit(&plain, add_to_list, &list, err);
	return r == 0 ? write_list(spec, &list, err) : r;
}

static int send_file(const struct node_spec *spec, const char *path, int fd, struct error *err)
{
	static char script[] =
		"set -e; cat >\"$1.new\"; chmod 755 \"$1.new\"; mv -f \"$1.new\" \"$1\"";
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	cleanup_free char *log = qemu_path(spec, "programs.log");
	struct process_options options = { .stdin_fd = fd, .output = log };
	int r = qemu_spawn(spec, ARGV("sh", "-c", script, "send", (char *)(uintptr_t)path),
			   &options, &process, err);

	if (r == 0)
		r = process_wait(&process, clock_now_ms() + SEND_MS, err);
	return r > 0 ? error_because(err, &reason_node_failed, -EIO,
				     "node '%s' cannot write '%s'; see '%s'", spec->name, path, log)
		     : r;
}

/* Replace in LIST the line about PATH by LINE. */
static void update(struct strlist *list, const char *path, const char *line)
{
	cleanup_with(strlist_release) struct strlist fresh = STRLIST_INIT;
	size_t len = strlen(path);
	const char *old;

	strlist_for_each(old, list)
		if (strncmp(old, path, len) != 0 || old[len] != ' ')
			strlist_add(&fresh, old);
	strlist_add(&fresh, line);
	strlist_release(list);
	*list = fresh;
	fresh = STRLIST_INIT;
}

static int send_if_other(const struct node_spec *spec, const char *path, int fd, const char *line,
			 void *data, struct error *err)
{
	struct strlist *list = data;
	int r;

	if (strlist_has(list, line))
		return 0;
	log_debug("sending '%s' to node '%s'", path, spec->name);
	r = send_file(spec, path, fd, err);
	if (r < 0)
		return r;
	update(list, path, line);
	return write_list(spec, list, err);
}

int qemu_programs_send(const struct node_spec *spec, struct error *err)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
	int r = read_list(spec, &list, err);

	if (r == 0)
		r = visit(spec, send_if_other, &list, err);
	return r < 0 ? error_prefix(err, r, "updating the programs of node '%s'", spec->name) : 0;
}
