/* The files of nodes in a fake world. */

#include "fake-files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "driver/driver.h"

static char *place;

int fake_files_failure;
unsigned fake_files_questions;

/* Returns 0 if the node is as usual. */
static int fail_if_told(struct error *err)
{
	fake_files_questions++;
	return fake_files_failure ? error_set(err, fake_files_failure, "told to fail") : 0;
}

void fake_files_use(const char *dir)
{
	free(place);
	place = xstrdup(dir);
}

char *fake_files_path(const char *name, const char *path)
{
	return xasprintf("%s/%s%s", place, name, path);
}

void fake_files_nodes(struct strlist *ret)
{
	(void)below_list(place, ".", ret, NULL);
}

static char *files_of(const struct node_spec *spec)
{
	return fake_files_path(spec->name, "");
}

static int fake_show(arg_unused const struct node_spec *spec, arg_unused struct error *err)
{
	return 0;
}

/* What an agent would say of services that are held down, and of the ballast. */
static int make_state(const char *name, struct strbuf *ret, struct error *err)
{
	static const char *const services[] = { "kubelet", "containerd" };
	cleanup_free char *ballast = fake_files_path(name, "/etc/manykube/ballast");
	size_t before = ret->len;

	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		cleanup_free char *in_node = xasprintf("/etc/manykube/hold/%s", services[i]);
		cleanup_free char *hold = fake_files_path(name, in_node);

		if (file_exists(hold))
			strbuf_addf(ret, "%s held 0 0 0\n", services[i]);
	}
	if (file_exists(ballast))
		strbuf_add(ret, "ballast running 1 0 0\n");
	return ret->len > before ? 0 : error_set(err, -ENOENT, "no state");
}

static int fake_read_state(const struct node_spec *spec, struct strbuf *ret, struct error *err)
{
	cleanup_free char *path = fake_files_path(spec->name, FAKE_STATE);

	return file_exists(path) ? file_read(path, 65536, ret, err)
				 : make_state(spec->name, ret, err);
}

static int fake_look(const struct node_spec *spec, const char *path, struct node_file_info *ret,
		     struct error *err)
{
	cleanup_free char *files = files_of(spec);
	cleanup_fd int fd = -1;
	struct stat st;
	int r = fail_if_told(err);

	if (r == 0)
		r = below_open(files, path + 1, 0, &fd, err);
	if (r < 0 || fstat(fd, &st) < 0)
		return r < 0 ? r : -errno;
	*ret = (struct node_file_info){ S_ISDIR(st.st_mode), (uint64_t)st.st_size, st.st_mtim };
	return 0;
}

static int fake_list(const struct node_spec *spec, const char *path, size_t most,
		     struct strlist *ret, struct error *err)
{
	cleanup_free char *files = files_of(spec);
	int r = fail_if_told(err);

	return r < 0 ? r : below_list_most(files, path + 1, most, ret, err);
}

static int fake_read(const struct node_spec *spec, const char *path, unsigned flags, size_t limit,
		     struct strbuf *ret, struct error *err)
{
	cleanup_free char *files = files_of(spec);
	cleanup_free char *found = NULL;
	cleanup_fd int fd = -1;
	int r;

	if (!(flags & NODE_READ_LINKS))
		return below_read(files, path + 1, limit, ret, err);
	r = below_find(files, path + 1, &fd, &found, err);
	return r < 0 ? r : file_read(found, limit, ret, err);
}

static int fake_read_end(const struct node_spec *spec, const char *path, size_t most,
			 struct tail *tail, struct strbuf *ret, struct error *err)
{
	cleanup_free char *files = files_of(spec);
	int r = fail_if_told(err);

	return r < 0 ? r : tail_end(files, path + 1, most, tail, ret, err);
}

static int fake_read_more(const struct node_spec *spec, const char *path, size_t most,
			  struct tail *tail, struct strbuf *ret, struct error *err)
{
	cleanup_free char *files = files_of(spec);

	return tail_more(files, path + 1, most, tail, ret, err);
}

static int fake_put(const struct node_spec *spec, const char *path, const void *data, size_t len,
		    mode_t mode, struct error *err)
{
	cleanup_free char *files = files_of(spec);

	return below_put(files, path + 1, data, len, mode, err);
}

static int fake_link(const struct node_spec *spec, const char *target, const char *path,
		     struct error *err)
{
	cleanup_free char *full = fake_files_path(spec->name, path);

	if (symlink(target, full) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the link '%s'", full);
	return 0;
}

static int fake_make_directory(const struct node_spec *spec, const char *path, mode_t mode,
			       struct error *err)
{
	cleanup_free char *files = files_of(spec);

	return below_make_dir(files, path + 1, mode, NULL, err);
}

static int fake_rename(const struct node_spec *spec, const char *from, const char *to,
		       struct error *err)
{
	cleanup_free char *old = fake_files_path(spec->name, from);
	cleanup_free char *new = fake_files_path(spec->name, to);

	return rename(old, new) < 0 ? error_sys(err, "cannot name '%s'", new) : 0;
}

static int fake_remove(const struct node_spec *spec, const char *path, struct error *err)
{
	cleanup_free char *full = fake_files_path(spec->name, path);

	if (remove(full) < 0 && errno != ENOENT)
		return error_sys(err, "cannot remove '%s'", full);
	return 0;
}

static int fake_spawn(arg_unused const struct node_spec *spec, arg_unused const char *flag,
		      arg_unused char *const *argv, const struct process_options *options,
		      struct process *ret_process, struct error *err)
{
	return process_spawn(ARGV("true"), options, ret_process, err);
}

static const char *const host_logs[] = { "agent.log", NULL };

const struct node_files fake_files = {
	.host_logs = host_logs,
	.show = fake_show,
	.read_state = fake_read_state,
	.look = fake_look,
	.list = fake_list,
	.read = fake_read,
	.read_end = fake_read_end,
	.read_more = fake_read_more,
	.put = fake_put,
	.link = fake_link,
	.make_directory = fake_make_directory,
	.rename = fake_rename,
	.remove = fake_remove,
	.spawn = fake_spawn,
};
