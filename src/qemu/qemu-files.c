/* The files of VMs. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "driver/native-files.h"
#include "driver/tree.h"
#include "qemu/qemu.h"

#define DO_MS 60000

/* The changes that the VM does not have: a path per line, and those of a removed file have a "-" in
 * front. */
#define PENDING      "pending"
#define PENDING_MOST (1u << 20)

/* It exists once the VM has run. */
#define RAN "ran"

/* The largest file that the host writes. */
#define FILE_MOST (64u << 20)

/* Copied when the VM stops: Kubernetes' files that tell whether it has joined and until when its
 * certificates are valid, and the end of logs. */
static const struct {
	const char *path;
	size_t most;
	bool log;
} saved[] = {
	{ "/etc/kubernetes/kubelet.conf", 1 << 20, false },
	{ "/var/lib/kubelet/config.yaml", 1 << 20, false },
	{ "/var/lib/kubelet/kubeadm-flags.env", 1 << 20, false },
	{ "/var/lib/kubelet/pki/kubelet-client-current.pem", 1 << 20, false },
	{ "/etc/kubernetes/manifests/etcd.yaml", 1 << 20, false },
	{ "/etc/kubernetes/admin.conf", 1 << 20, false },
	{ "/var/log/agent.log", 256 << 10, true },
	{ "/var/log/containerd.log", 256 << 10, true },
	{ "/var/log/kubelet.log", 256 << 10, true },
};

static char *below(const struct node_spec *spec, const char *name)
{
	return xasprintf("%s/%s", spec->dir, name);
}

static int check_path(const char *path, struct error *err)
{
	if (*path != '/' || strchr(path, '\n'))
		return error_set(err, -EINVAL, "'%s' is no path in a VM", path);
	return 0;
}

/* Note that PATH was changed, or REMOVED, by the host. */
static int add_pending(const struct node_spec *spec, const char *path, bool removed,
		       struct error *err)
{
	cleanup_free char *file = below(spec, PENDING);
	cleanup_free char *line = xasprintf("%s%s\n", removed ? "-" : "", path);
	cleanup_fd int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || file_write_all(fd, line, strlen(line)) < 0)
		return error_sys(err, "cannot write '%s'", file);
	return 0;
}

static int read_agent_state(const struct node_spec *spec, struct strbuf *ret, struct error *err)
{
	return node_tree_read_state(spec->dir, ret, err);
}

static int show(const struct node_spec *spec, struct error *err)
{
	return native_files.show ? 0 : error_set(err, -ENOTSUP, "%s", spec->name);
}

/* Whether the host has every file PATH that exists, because only the host makes such files. */
static bool is_of_host(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(saved); i++)
		if (strcmp(saved[i].path, path) == 0)
			return false;
	return strncmp(path, "/etc/", 5) == 0;
}

/* After the file PATH was not found in the tree: the VM may have it. */
static int missing(const struct node_spec *spec, const char *path, int r, struct error *err)
{
	cleanup_free char *ran = below(spec, RAN);

	if (r != -ENOENT || is_of_host(path) || !file_exists(ran))
		return r;
	return error_set(err, -ENOTSUP, "'%s' can be read only while node '%s', a VM, runs", path,
			 spec->name);
}

static int look_at_file(const struct node_spec *spec, const char *path, struct node_file_info *ret,
			struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	unsigned long long size;
	long long seconds;
	long nanoseconds;
	char type;
	int r;

	if (!qemu_runs(spec))
		return missing(spec, path, native_files.look(spec, path, ret, err), err);
	r = qemu_do(spec, ARGV("look", (char *)(uintptr_t)path), NULL, &out, 256, DO_MS, err);
	if (r < 0)
		return r;
	if (sscanf(out.text, "%c %llu %lld %ld", &type, &size, &seconds, &nanoseconds) != 4)
		return error_set(err, -EPROTO, "node '%s' answers wrongly", spec->name);
	*ret = (struct node_file_info){ .is_directory = type == 'd',
					.size_bytes = size,
					.changed = { seconds, nanoseconds } };
	return 0;
}

static int list_directory(const struct node_spec *spec, const char *path, size_t most,
			  struct strlist *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *number = xasprintf("%zu", most);
	const char *line;
	size_t count = 0;
	int r;

	if (!qemu_runs(spec))
		return missing(spec, path, native_files.list(spec, path, most, ret, err), err);
	r = qemu_do(spec, ARGV("list", (char *)(uintptr_t)path, number), NULL, &out, 16u << 20,
		    DO_MS, err);
	if (r < 0)
		return r;
	strlist_split(&lines, out.text, '\n');
	strlist_for_each(line, &lines) {
		if (!*line || count == most)
			continue;
		/* A name of a guest that is none. */
		if (*line == '.' || strchr(line, '/'))
			continue;
		strlist_add(ret, line);
		count++;
	}
	strlist_sort(ret);
	return strstr(out.text, "\n\n") ? 1 : 0;
}

static int read_file(const struct node_spec *spec, const char *path, unsigned flags, size_t limit,
		     struct strbuf *ret, struct error *err)
{
	cleanup_free char *number = xasprintf("%zu", limit);
	char *words[] = { "read", (char *)(uintptr_t)path, number, NULL, NULL };

	if (!qemu_runs(spec))
		return missing(spec, path, native_files.read(spec, path, flags, limit, ret, err),
			       err);
	if (flags & NODE_READ_LINKS)
		words[3] = "links";
	return qemu_do(spec, words, NULL, ret, limit, DO_MS, err);
}

/* Append what follows OFFSET (-1: the last MOST bytes) of the file PATH to RET. */
static int read_from(const struct node_spec *spec, const char *path, off_t offset, size_t most,
		     struct tail *tail, struct strbuf *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *number = xasprintf("%zu", most);
	cleanup_free char *from = offset < 0 ? xstrdup("end")
					     : xasprintf("%lld", (long long)offset);
	long long end;
	const char *line;
	int r = qemu_do(spec, ARGV("tail", (char *)(uintptr_t)path, number, from), NULL, &out,
			most + 64, DO_MS, err);

	if (r < 0)
		return r;
	line = strchr(out.text, '\n');
	if (!line || sscanf(out.text, "%lld", &end) != 1 || end < 0)
		return error_set(err, -EPROTO, "node '%s' answers wrongly", spec->name);
	tail->offset = (off_t)end;
	strbuf_add_mem(ret, line + 1, out.len - (size_t)(line + 1 - out.text));
	return 0;
}

static int read_end(const struct node_spec *spec, const char *path, size_t most, struct tail *tail,
		    struct strbuf *ret, struct error *err)
{
	if (!qemu_runs(spec))
		return missing(spec, path, native_files.read_end(spec, path, most, tail, ret, err),
			       err);
	tail_release(tail);
	return read_from(spec, path, -1, most, tail, ret, err);
}

static int read_more(const struct node_spec *spec, const char *path, size_t most, struct tail *tail,
		     struct strbuf *ret, struct error *err)
{
	if (!qemu_runs(spec))
		return 0;
	return read_from(spec, path, tail->offset, most, tail, ret, err);
}

static void add_change(struct strbuf *out, const char *verb, mode_t mode, const char *path,
		       const char *data, size_t len)
{
	strbuf_addf(out, "%s %o %zu %s\n", verb, (unsigned)mode, len, path);
	strbuf_add_mem(out, data, len);
}

static int apply(const struct node_spec *spec, const struct strbuf *changes, struct error *err)
{
	return qemu_do(spec, ARGV("apply"), changes, NULL, 0, DO_MS, err);
}

static int put_file(const struct node_spec *spec, const char *path, const void *data, size_t len,
		    mode_t mode, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf change = STRBUF_INIT;
	int r = check_path(path, err);

	if (r == 0)
		r = native_files.put(spec, path, data, len, mode, err);
	if (r < 0)
		return r;
	if (!qemu_runs(spec))
		return add_pending(spec, path, false, err);
	add_change(&change, "put", mode, path, data, len);
	return apply(spec, &change, err);
}

static int make_link(const struct node_spec *spec, const char *target, const char *path,
		     struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf change = STRBUF_INIT;
	int r = check_path(path, err);

	if (r == 0)
		r = native_files.link(spec, target, path, err);
	if (r < 0)
		return r;
	if (!qemu_runs(spec))
		return add_pending(spec, path, false, err);
	add_change(&change, "link", 0, path, target, strlen(target));
	return apply(spec, &change, err);
}

static int make_directory(const struct node_spec *spec, const char *path, mode_t mode,
			  struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf change = STRBUF_INIT;
	int r = check_path(path, err);

	if (r == 0)
		r = native_files.make_directory(spec, path, mode, err);
	if (r < 0)
		return r;
	if (!qemu_runs(spec))
		return add_pending(spec, path, false, err);
	add_change(&change, "mkdir", mode, path, "", 0);
	return apply(spec, &change, err);
}

static int remove_file(const struct node_spec *spec, const char *path, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf change = STRBUF_INIT;
	int r = check_path(path, err);

	if (r == 0)
		r = native_files.remove(spec, path, err);
	if (r < 0)
		return r;
	if (!qemu_runs(spec))
		return add_pending(spec, path, true, err);
	add_change(&change, "remove", 0, path, "", 0);
	return apply(spec, &change, err);
}

static int rename_file(const struct node_spec *spec, const char *from, const char *to,
		       struct error *err)
{
	int r = check_path(from, err);

	if (r == 0)
		r = check_path(to, err);
	if (r < 0)
		return r;
	if (qemu_runs(spec)) {
		/* The copy here may be older, or missing. */
		(void)native_files.rename(spec, from, to, NULL);
		return qemu_do(spec, ARGV("rename", (char *)(uintptr_t)from, (char *)(uintptr_t)to),
			       NULL, NULL, 0, DO_MS, err);
	}
	r = missing(spec, from, native_files.rename(spec, from, to, err), err);
	if (r == 0)
		r = add_pending(spec, from, true, err);
	return r == 0 ? add_pending(spec, to, false, err) : r;
}

/* The program needs the node's files, which only the node has: it runs there.  Its services do not
 * run yet if it did not. */
static int spawn_on_files(const struct node_spec *spec, arg_unused const char *flag,
			  char *const *argv, const struct process_options *options,
			  struct process *ret_process, struct error *err)
{
	const char *name = strrchr(argv[0], '/');
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	int r = qemu_runs(spec) ? 0 : qemu_boot(spec, err);

	if (r < 0)
		return r;
	strlist_addf(&all, "/opt/manykube/bin%s", name ? name : "/");
	strlist_add_all(&all, argv + 1);
	return qemu_spawn(spec, all.items, options, ret_process, err);
}

/* Add the change for LINE of the list to OUT; a file that is gone was removed by a later one. */
static int add_line(const struct node_spec *spec, const char *tree, const char *line,
		    struct strbuf *out, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf data = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s%s", tree, line);
	struct stat st;
	char target[4096];
	ssize_t len;
	int r;

	if (*line == '-') {
		add_change(out, "remove", 0, line + 1, "", 0);
		return 0;
	}
	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode)) {
		add_change(out, "mkdir", st.st_mode & 07777, line, "", 0);
	} else if (S_ISLNK(st.st_mode)) {
		len = readlink(path, target, sizeof(target));
		if (len > 0)
			add_change(out, "link", 0, line, target, (size_t)len);
	} else if (S_ISREG(st.st_mode)) {
		r = native_files.read(spec, line, 0, FILE_MOST, &data, err);
		if (r < 0)
			return r;
		add_change(out, "put", st.st_mode & 07777, line, data.text, data.len);
	}
	return 0;
}

int qemu_files_send(const struct node_spec *spec, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf changes = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf list = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *pending = below(spec, PENDING);
	cleanup_free char *tree = node_tree_path(spec->dir);
	const char *line;
	int r = file_read(pending, PENDING_MOST, &list, err);

	if (r == -ENOENT)
		return 0;
	strlist_split(&lines, list.text, '\n');
	strlist_for_each(line, &lines)
		if (r == 0 && *line)
			r = add_line(spec, tree, line, &changes, err);
	if (r == 0)
		r = apply(spec, &changes, err);
	if (r == 0 && unlink(pending) < 0)
		r = error_sys(err, "cannot remove '%s'", pending);
	return r < 0 ? error_prefix(err, r, "writing the files of node '%s'", spec->name) : 0;
}

void qemu_files_save(const struct node_spec *spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(saved); i++) {
		cleanup_with(strbuf_release) struct strbuf data = STRBUF_INIT;
		cleanup_with(tail_release) struct tail tail = TAIL_INIT;
		int r = saved[i].log
				? read_end(spec, saved[i].path, saved[i].most, &tail, &data, NULL)
				: read_file(spec, saved[i].path, NODE_READ_LINKS, saved[i].most,
					    &data, NULL);

		if (r == 0)
			(void)native_files.put(spec, saved[i].path, data.text, data.len, 0600,
					       NULL);
		else if (r == -ENOENT)
			(void)native_files.remove(spec, saved[i].path, NULL);
		else if (r == -ETIMEDOUT || r == -EPIPE)
			return;
	}
}

int qemu_files_begin(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *ran = below(spec, RAN);

	return file_put(ran, "", 0, 0600, err);
}

int qemu_files_forget(const struct node_spec *spec, struct error *err)
{
	static const char *const names[] = { RAN, PENDING, "tree" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = below(spec, names[i]);

		r = file_remove_tree(path, err);
	}
	return r;
}

static const char *const host_logs[] = { "console.log", "qemu.log", "disk.log", "state", NULL };

const struct node_files qemu_files = {
	.host_logs = host_logs,
	.show = show,
	.read_state = read_agent_state,
	.look = look_at_file,
	.list = list_directory,
	.read = read_file,
	.read_end = read_end,
	.read_more = read_more,
	.put = put_file,
	.link = make_link,
	.make_directory = make_directory,
	.rename = rename_file,
	.remove = remove_file,
	.spawn = spawn_on_files,
};
