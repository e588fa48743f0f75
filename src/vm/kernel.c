/* The kernel of VMs. */

#include "vm/kernel.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/strbuf.h"

/* Where kernel images and packages have which bytes. */
#define X86_PLACE 514
#define X86_MAGIC "HdrS"
#define ARM_PLACE 56
#define ARM_MAGIC "ARM\x64"
#define DEB_MAGIC "!<arch>\ndebian"

static const char get_kernel[] =
#include "kernel.sh.inc"
	;

static const char take_kernel[] =
#include "own-kernel.sh.inc"
	;

void vm_add_stamp(struct sha256 *digest, const char *path)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct stat st;

	if (!path || stat(path, &st) < 0)
		return;
	strbuf_addf(&text, "%s %lld %lld\n", path, (long long)st.st_size,
		    (long long)st.st_mtim.tv_sec);
	sha256_add(digest, text.text, text.len);
}

int vm_run_script(const char *what, const char *text, const char *log, char *const *words,
		  struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf said = STRBUF_INIT;
	struct process_options options = {
		.output = log, .no_stdin = true, .new_session = true, .dies_with_us = true
	};
	const char *line;
	int r;

	strlist_add_all(&argv, ARGV((char[]){ "sh" }, (char[]){ "-c" }));
	strlist_add(&argv, text);
	strlist_add(&argv, "sh");
	strlist_add_all(&argv, words);
	r = process_run(argv.items, &options, err);
	if (r <= 0)
		return r;
	if (file_read(log, 1 << 20, &said, NULL) < 0 || said.len == 0)
		strbuf_add(&said, "no reason given");
	strbuf_trim_end(&said);
	line = strrchr(said.text, '\n');
	return error_because(err, &reason_host_unsupported, -EIO, "cannot %s: %s; see '%s'", what,
			     line ? line + 1 : said.text, log);
}

static bool has_at(int fd, off_t place, const char *magic)
{
	char found[16];
	size_t len = strlen(magic);

	return pread(fd, found, len, place) == (ssize_t)len && memcmp(found, magic, len) == 0;
}

int vm_kernel_check(const char *file, struct error *err)
{
	cleanup_fd int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (*file != '/' || fd < 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "the kernel '%s' cannot be opened on this host", file);
	if (has_at(fd, X86_PLACE, X86_MAGIC) || has_at(fd, ARM_PLACE, ARM_MAGIC) ||
	    has_at(fd, 0, DEB_MAGIC))
		return 0;
	r = error_because(err, &reason_usage, -EINVAL,
			  "'%s' is neither a kernel image nor a Debian package", file);
	return error_hint(err, r,
			  "name what a boot loader would load, such as '/boot/vmlinuz-6.12.0' or "
			  "'arch/x86/boot/bzImage', not 'vmlinux'");
}

void vm_kernel_identify(const char *file, struct sha256 *digest)
{
	sha256_add(digest, get_kernel, sizeof(get_kernel));
	if (!file)
		return;
	sha256_add(digest, take_kernel, sizeof(take_kernel));
	vm_add_stamp(digest, file);
}

static int get_debians(char *dir, const char *log, bool offline, struct error *err)
{
	int r;

	if (offline)
		return error_because(err, &reason_download, -ENOENT,
				     "the kernel for VMs is not in the cache, and --offline "
				     "forbids downloading it");
	r = vm_run_script("get a kernel for VMs", get_kernel, log, ARGV(dir), err);
	if (r == 0)
		return 0;
	(void)error_reason(err, r, &reason_download);
	return error_hint(err, r,
			  "it is the package linux-image-cloud of Debian, which 'apt-get download' "
			  "has to find; --kernel=FILE uses a kernel of this host");
}

/* The directory of the kernel FILE, below CACHE. */
static char *dir_of(const char *cache, const char *file)
{
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;
	char name[SHA256_HEX_SIZE];

	if (!file)
		return xasprintf("%s/kernel", cache);
	sha256_begin(&digest);
	vm_kernel_identify(file, &digest);
	sha256_end(&digest, name);
	return xasprintf("%s/kernel-%.16s", cache, name);
}

int vm_kernel_ensure(const char *cache, const char *file, const char *log, bool offline,
		     char **ret_dir, struct error *err)
{
	cleanup_free char *dir = dir_of(cache, file);
	cleanup_free char *part = xasprintf("%s.part", dir);
	cleanup_free char *own = file ? xstrdup(file) : NULL;
	int r = 0;

	if (!file_exists(dir)) {
		r = file_remove_tree(part, err);
		if (r == 0)
			r = file_make_dirs(part, 0755, err);
		if (r == 0)
			r = own ? vm_run_script("take the kernel", take_kernel, log,
						ARGV(part, own), err)
				: get_debians(part, log, offline, err);
		if (r == 0 && rename(part, dir) < 0)
			r = error_sys(err, "cannot make '%s'", dir);
	}
	if (r == 0)
		*ret_dir = take_ptr(dir);
	return r;
}
