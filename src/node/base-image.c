/* The source of a node's /usr. */

#include "node/base-image.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "node/node-files.h"
#include "probe/probe.h"

/* The directories in which a node looks for programs; the last one is the most common. */
static const char *const program_dirs[] = { "usr/local/sbin", "usr/local/bin", "usr/sbin",
					    "usr/bin" };

/* Directories that nodes have of their own, or never use. */
#define NOT_UNPACKED                                                                              \
	"boot", "dev", "home", "media", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", \
		"var"

/* A base that is being checked: a directory, or the names in a tar archive. */
struct base {
	const char *dir;
	struct strlist names;
};

static void release_base(struct base *base)
{
	strlist_release(&base->names);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Whether BASE has PATH; in a directory, links are followed as in the node. */
static bool base_has(const struct base *base, const char *path)
{
	cleanup_free char *found = NULL;
	cleanup_fd int fd = -1;

	if (!base->dir)
		return strlist_has(&base->names, path);
	return below_find(base->dir, path, &fd, &found, NULL) == 0;
}

static bool has_program(const char *program, const void *data)
{
	for (size_t i = 0; i < ARRAY_SIZE(program_dirs); i++) {
		cleanup_free char *path = xasprintf("%s/%s", program_dirs[i], program);

		if (base_has(data, path))
			return true;
	}
	return false;
}

/* Whether NAME, a top-level directory, is a real one and not a link into usr. */
static bool is_own_dir(const struct base *base, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", base->dir ? base->dir : "", name);
	size_t len = strlen(name);
	const char *other;
	struct stat st;

	if (base->dir)
		return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
	strlist_for_each(other, &base->names)
		if (strncmp(other, name, len) == 0 && other[len] == '/' && other[len + 1])
			return true;
	return false;
}

/* The ELF machine type of the program PATH; 0 if it is not an ELF program. */
static unsigned machine_of(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr header;

	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	return header.e_machine;
}

static bool is_for_other_machine(const struct base *base)
{
	cleanup_free char *shell = NULL;
	cleanup_fd int fd = -1;
	unsigned machine;

	if (!base->dir || below_find(base->dir, "usr/bin/sh", &fd, &shell, NULL) < 0)
		return false;
	machine = machine_of(shell);
	return machine && machine != machine_of("/proc/self/exe");
}

/* Check that a node can run on BASE, which is called PATH. */
static int check_base(const struct base *base, const char *path, struct error *err)
{
	static const char *const merged[] = { "bin", "sbin", "lib", "lib64" };
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist packages = STRLIST_INIT;
	cleanup_free char *all_names = NULL;
	cleanup_free char *all_packages = NULL;

	if (!is_own_dir(base, "usr")) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "'%s' is not a root file system: it has no directory 'usr'",
				    path);
		return error_hint(
			err, -EINVAL,
			"use a directory created by debootstrap, or an archive created by "
			"'docker export', not by 'docker save'");
	}
	for (size_t i = 0; i < ARRAY_SIZE(merged); i++)
		if (is_own_dir(base, merged[i]))
			return error_because(
				err, &reason_usage, -EINVAL,
				"'%s' cannot be used for nodes: its '/%s' must be a link to "
				"'usr/%s', as in current distributions",
				path, merged[i], merged[i]);
	if (!has_program("sh", base))
		strlist_add(&names, "sh");
	probe_missing_programs(has_program, base, &names, &packages);
	if (names.count > 0) {
		all_names = strlist_join(&names, ", ");
		all_packages = strlist_join(&packages, " ");
		(void)error_because(err, &reason_usage, -EINVAL,
				    "'%s' lacks programs that nodes need: %s", path, all_names);
		return packages.count == 0
			       ? -EINVAL
			       : error_hint(
					 err, -EINVAL,
					 "install them there; in Debian, they are in the packages %s",
					 all_packages);
	}
	if (is_for_other_machine(base))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is for another machine architecture", path);
	return 0;
}

/* Run tar with ARGV on PATH; its output is appended to OUTPUT unless that is NULL. */
static int run_tar(char *const *argv, const char *path, struct strbuf *output, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf unused = STRBUF_INIT;
	cleanup_fd int said = memfd_create("tar", MFD_CLOEXEC);
	const struct process_options options = { .no_stdin = true,
						 .dies_with_us = true,
						 .stderr_fd = said };
	int r;

	if (said < 0)
		return error_sys(err, "cannot create a temporary file");
	r = process_capture(argv, &options, output ? output : &unused, err);
	if (r == -ENOENT) {
		(void)error_reason(err, r, &reason_host_missing_tool);
		return error_hint(err, r, "apt install tar");
	}
	if (r <= 0)
		return r;
	(void)lseek(said, 0, SEEK_SET);
	(void)file_read_fd(said, 1 << 20, &words, NULL);
	return error_because(err, &reason_usage, -EINVAL, "cannot unpack '%s': %.*s", path,
			     (int)strcspn(words.text, "\n"), words.text);
}

static int list_tar(const char *path, struct strlist *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *file = xasprintf("--file=%s", path);
	const char *line;
	int r = run_tar(ARGV("tar", "--list", "--force-local", file), path, &text, err);

	strlist_split(&lines, text.text, '\n');
	strlist_for_each(line, &lines)
		strlist_add(ret, strncmp(line, "./", 2) == 0 ? line + 2 : line + (*line == '/'));
	return r;
}

int base_check(const char *path, struct error *err)
{
	/* A start plans twice, and listing a large archive takes seconds. */
	static char *found_good;
	cleanup_with(release_base) struct base base = { NULL };
	struct stat st;
	int r = 0;

	if (found_good && strcmp(found_good, path) == 0)
		return 0;
	if (*path != '/' || stat(path, &st) < 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' does not exist on this host", path);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is neither a directory nor a tar archive", path);
	if (S_ISDIR(st.st_mode))
		base.dir = path;
	else
		r = list_tar(path, &base.names, err);
	if (r == 0)
		r = check_base(&base, path, err);
	if (r == 0 && base.dir && geteuid() == 0)
		r = probe_idmap(path, err);
	if (r < 0)
		return r;
	free(found_good);
	found_good = xstrdup(path);
	return 0;
}

static char *unpacked(const struct profile *profile, const struct node *node)
{
	return xasprintf("%s/nodes/%s/base", profile->dir, node->name);
}

char *base_dir(const struct profile *profile, const struct node *node)
{
	if (!node->base_image)
		return NULL;
	return is_dir(node->base_image) ? xstrdup(node->base_image) : unpacked(profile, node);
}

/* The tree of another node that was unpacked from the current version of the archive, for the
 * caller to free, or NULL.  Such a directory has the modification time of the archive. */
static char *find_same_base(const struct profile *profile, const struct node *node,
			    const struct stat *tar)
{
	const struct node *other;

	profile_for_each_node(other, profile) {
		cleanup_free char *dir = unpacked(profile, other);
		struct stat st;

		if (other != node && other->base_image &&
		    strcmp(other->base_image, node->base_image) == 0 && stat(dir, &st) == 0 &&
		    st.st_mtim.tv_sec == tar->st_mtim.tv_sec &&
		    st.st_mtim.tv_nsec == tar->st_mtim.tv_nsec)
			return take_ptr(dir);
	}
	return NULL;
}

static int unpack(const char *path, const char *dir, struct error *err)
{
	static const char *const without[] = { NOT_UNPACKED };
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;

	strlist_add_all(&argv, ARGV("tar", "--extract", "--force-local", "--numeric-owner",
				    "--preserve-permissions", "--anchored"));
	for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
		strlist_addf(&argv, "--exclude=%s", without[i]);
		strlist_addf(&argv, "--exclude=./%s", without[i]);
	}
	strlist_addf(&argv, "--directory=%s", dir);
	strlist_addf(&argv, "--file=%s", path);
	return run_tar(argv.items, path, NULL, err);
}

static int unpack_base(const struct profile *profile, const struct node *node, const char *dir,
		       struct error *err)
{
	cleanup_free char *part = xasprintf("%s.part", dir);
	cleanup_free char *same = NULL;
	const struct base base = { .dir = part };
	struct stat st;
	int r;

	if (stat(node->base_image, &st) < 0)
		return error_sys(err, "cannot open '%s'", node->base_image);
	same = find_same_base(profile, node, &st);
	r = file_remove_tree(part, err);
	if (r == 0)
		r = file_make_dirs(part, 0700, err);
	if (r == 0)
		r = same ? file_link_tree(same, part, NULL, err)
			 : unpack(node->base_image, part, err);
	if (r == 0)
		r = check_base(&base, node->base_image, err);
	if (r < 0) {
		(void)file_remove_tree(part, NULL);
		return r;
	}
	/* Setuid programs in it are for the node only. */
	if (chmod(part, 0700) < 0 ||
	    utimensat(AT_FDCWD, part, (struct timespec[]){ st.st_mtim, st.st_mtim }, 0) < 0 ||
	    rename(part, dir) < 0)
		return error_sys(err, "cannot create '%s'", dir);
	return 0;
}

int base_make(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_free char *dir = base_dir(profile, node);
	const struct base base = { .dir = dir };
	int r;

	if (!dir)
		return 0;
	r = file_exists(dir) ? check_base(&base, node->base_image, err)
			     : unpack_base(profile, node, dir, err);
	return r < 0 ? error_prefix(err, r, "the base image of node '%s'", node->name) : 0;
}
