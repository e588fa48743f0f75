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

#define WAIT_MS (20 * 60 * 1000)

const char *const vm_base_programs[] = { "busybox", "mke2fs", "ldd", "nft", NULL };

static const char make_base[] =
#include "base.sh.inc"
	;

static const char get_kernel[] =
#include "kernel.sh.inc"
	;

/* Add what identifies the file PATH of this host, if it exists. */
static void add_stamp(struct sha256 *digest, const char *path)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct stat st;

	if (!path || stat(path, &st) < 0)
		return;
	strbuf_addf(&text, "%s %lld %lld\n", path, (long long)st.st_size,
		    (long long)st.st_mtim.tv_sec);
	sha256_add(digest, text.text, text.len);
}

/* The name of the base: what goes into it. */
static int name_of(const char *payload, char ret[SHA256_HEX_SIZE], struct error *err)
{
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;
	cleanup_with(strbuf_release) struct strbuf document = STRBUF_INIT;
	cleanup_free char *json = xasprintf("%s/payload.json", payload);
	int r = file_read(json, 1 << 20, &document, err);

	if (r < 0)
		return r;
	sha256_begin(&digest);
	sha256_add(&digest, make_base, sizeof(make_base));
	sha256_add(&digest, get_kernel, sizeof(get_kernel));
	sha256_add(&digest, document.text, document.len);
	for (size_t i = 0; vm_base_programs[i]; i++) {
		cleanup_free char *path = process_find(vm_base_programs[i]);

		add_stamp(&digest, path);
	}
	sha256_end(&digest, ret);
	return 0;
}

static int run_script(const char *what, const char *script, const char *log, char *const *words,
		      struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	struct process_options options = {
		.output = log, .no_stdin = true, .new_session = true, .dies_with_us = true
	};
	int r;

	strlist_add_all(&argv, ARGV((char[]){ "sh" }, (char[]){ "-c" }));
	strlist_add(&argv, script);
	strlist_add(&argv, "sh");
	strlist_add_all(&argv, words);
	r = process_run(argv.items, &options, err);
	if (r <= 0)
		return r;
	(void)error_because(err, &reason_host_unsupported, -EIO, "cannot %s; see '%s'", what, log);
	return -EIO;
}

/* Get the kernel's files into CACHE/kernel, which is RET_DIR. */
static int ensure_kernel(const char *cache, const char *log, bool offline, char **ret_dir,
			 struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/kernel", cache);
	cleanup_free char *part = xasprintf("%s/kernel.part", cache);
	int r;

	if (file_exists(dir)) {
		*ret_dir = take_ptr(dir);
		return 0;
	}
	if (offline)
		return error_because(err, &reason_download, -ENOENT,
				     "the kernel for VMs is not in the cache, and --offline "
				     "forbids downloading it");
	r = file_remove_tree(part, err);
	if (r == 0)
		r = file_make_dirs(part, 0755, err);
	if (r < 0)
		return r;
	r = run_script("get a kernel for VMs", get_kernel, log, ARGV(part), err);
	if (r < 0) {
		(void)error_reason(err, r, &reason_download);
		return error_hint(err, r,
				  "it is the package linux-image-cloud of Debian, which "
				  "'apt-get download' has to find");
	}
	if (rename(part, dir) < 0)
		return error_sys(err, "cannot make '%s'", dir);
	*ret_dir = take_ptr(dir);
	return 0;
}

static int make(const char *cache, const char *dir, const char *payload, bool offline,
		struct error *err)
{
	cleanup_free char *part = xasprintf("%s.part", dir);
	cleanup_free char *log = xasprintf("%s/base.log", cache);
	cleanup_free char *kernel = NULL;
	cleanup_free char *payload_copy = xstrdup(payload);
	int r;

	(void)unlink(log);
	r = ensure_kernel(cache, log, offline, &kernel, err);
	if (r == 0)
		r = file_remove_tree(part, err);
	if (r == 0)
		r = file_make_dirs(part, 0755, err);
	if (r == 0)
		r = run_script("make the disk image of VMs", make_base, log,
			       ARGV(part, kernel, payload_copy), err);
	if (r == 0 && rename(part, dir) < 0)
		r = error_sys(err, "cannot make '%s'", dir);
	return r;
}

/* The directory of all bases, and that of the base for PAYLOAD. */
static int find_dirs(const char *payload, char **ret_cache, char **ret_dir, struct error *err)
{
	cleanup_free char *above = NULL;
	char name[SHA256_HEX_SIZE];
	int r = name_of(payload, name, err);

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

int vm_base_find(const char *payload, struct vm_base *ret, struct error *err)
{
	cleanup_free char *cache = NULL;
	cleanup_free char *dir = NULL;
	int r = find_dirs(payload, &cache, &dir, err);

	if (r == 0 && !file_exists(dir))
		r = error_set(err, -ENOENT, "there is no disk image of VMs in '%s'", cache);
	if (r == 0)
		fill(dir, ret);
	return r;
}

int vm_base_ensure(const char *payload, bool offline, struct observer *observer,
		   struct vm_base *ret, struct error *err)
{
	static const char step[] = "making the disk image of VMs";
	cleanup_free char *cache = NULL;
	cleanup_free char *lock = NULL;
	cleanup_free char *dir = NULL;
	cleanup_fd int fd = -1;
	int r = find_dirs(payload, &cache, &dir, err);

	if (r == 0 && !file_exists(dir)) {
		lock = xasprintf("%s/lock", cache);
		observe_begin(observer, step, NULL);
		r = file_make_dirs(cache, 0755, err);
		if (r == 0)
			r = file_lock_private(lock, step, WAIT_MS, &fd, err);
		if (r == 0 && !file_exists(dir))
			r = make(cache, dir, payload, offline, err);
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
