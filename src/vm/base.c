/* What the VMs of one version of Kubernetes share. */

#include "vm/base.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "data/sha256.h"
#include "vm/kernel.h"

#define WAIT_MS (20 * 60 * 1000)

const char *const vm_base_programs[] = { "busybox", "mke2fs", "ldd", "nft", NULL };

static const char make_base[] =
#include "base.sh.inc"
	;

/* Add what identifies the files of the root file system ROOT, a directory or an archive. */
static int add_root(struct sha256 *digest, const char *root, struct error *err)
{
	static const char list[] = "find \"$1\" -printf '%P %y %m %U %G %s %T@ %l\\n' | sha256sum";
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	const struct process_options options = { .no_stdin = true, .dies_with_us = true };
	int r = process_capture(
		ARGV("sh", "-c", (char *)(uintptr_t)list, "sh", (char *)(uintptr_t)root), &options,
		&text, err);

	if (r == 0)
		sha256_add(digest, text.text, text.len);
	return r > 0 ? error_set(err, -EIO, "cannot list the files of '%s'", root) : r;
}

/* The name of the base: what goes into it. */
static int name_of(const struct vm_source *source, char ret[SHA256_HEX_SIZE], struct error *err)
{
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;
	cleanup_with(strbuf_release) struct strbuf document = STRBUF_INIT;
	cleanup_free char *json = xasprintf("%s/payload.json", source->payload);
	int r = file_read(json, 1 << 20, &document, err);

	if (r < 0)
		return r;
	sha256_begin(&digest);
	sha256_add(&digest, make_base, sizeof(make_base));
	vm_kernel_identify(source->kernel, &digest);
	sha256_add(&digest, document.text, document.len);
	for (size_t i = 0; vm_base_programs[i]; i++) {
		cleanup_free char *path = process_find(vm_base_programs[i]);

		vm_add_stamp(&digest, path);
	}
	if (source->root)
		r = add_root(&digest, source->root, err);
	sha256_end(&digest, ret);
	return r;
}

static int make(const char *cache, const char *dir, const struct vm_source *source, bool offline,
		struct error *err)
{
	cleanup_free char *part = xasprintf("%s.part", dir);
	cleanup_free char *log = xasprintf("%s/base.log", cache);
	cleanup_free char *kernel = NULL;
	cleanup_free char *payload = xstrdup(source->payload);
	cleanup_free char *root = xstrdup(source->root ? source->root : "");
	int r;

	(void)unlink(log);
	r = vm_kernel_ensure(cache, source->kernel, log, offline, &kernel, err);
	if (r == 0)
		r = file_remove_tree(part, err);
	if (r == 0)
		r = file_make_dirs(part, 0755, err);
	if (r == 0)
		r = vm_run_script("make the disk image of VMs", make_base, log,
				  ARGV(part, kernel, payload, root), err);
	if (r == 0 && rename(part, dir) < 0)
		r = error_sys(err, "cannot make '%s'", dir);
	return r;
}

/* The directory of all bases, and that of the base of SOURCE. */
static int find_dirs(const struct vm_source *source, char **ret_cache, char **ret_dir,
		     struct error *err)
{
	cleanup_free char *above = NULL;
	char name[SHA256_HEX_SIZE];
	int r = name_of(source, name, err);

	if (r == 0)
		r = path_cache(&above, err);
	if (r < 0)
		return r;
	*ret_cache = xasprintf("%s/vm", above);
	*ret_dir = xasprintf("%s/base-%.16s", *ret_cache, name);
	return 0;
}

static void fill(const char *dir, struct vm_base *ret)
{
	*ret = (struct vm_base){ .kernel = xasprintf("%s/kernel", dir),
				 .initrd = xasprintf("%s/initrd", dir),
				 .disk = xasprintf("%s/disk", dir) };
}

int vm_base_find(const struct vm_source *source, struct vm_base *ret, struct error *err)
{
	cleanup_free char *cache = NULL;
	cleanup_free char *dir = NULL;
	int r = find_dirs(source, &cache, &dir, err);

	if (r == 0 && !file_exists(dir))
		r = error_set(err, -ENOENT, "there is no disk image of VMs in '%s'", cache);
	if (r == 0)
		fill(dir, ret);
	return r;
}

int vm_base_ensure(const struct vm_source *source, bool offline, struct observer *observer,
		   struct vm_base *ret, struct error *err)
{
	static const char step[] = "making the disk image of VMs";
	cleanup_free char *cache = NULL;
	cleanup_free char *lock = NULL;
	cleanup_free char *dir = NULL;
	cleanup_fd int fd = -1;
	int r = find_dirs(source, &cache, &dir, err);

	if (r == 0 && !file_exists(dir)) {
		lock = xasprintf("%s/lock", cache);
		observe_begin(observer, step, NULL);
		r = file_make_dirs(cache, 0755, err);
		if (r == 0)
			r = file_lock_private(lock, step, WAIT_MS, &fd, err);
		if (r == 0 && !file_exists(dir))
			r = make(cache, dir, source, offline, err);
		observe_end(observer, step, NULL, r == 0);
	}
	if (r == 0)
		fill(dir, ret);
	return r;
}

void vm_base_release(struct vm_base *base)
{
	free(base->kernel);
	free(base->initrd);
	free(base->disk);
	*base = VM_BASE_INIT;
}
