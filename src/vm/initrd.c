/* The initramfs of a VM: archives of cpio's format "newc", which the kernel unpacks one after the
 * other. */

#include "vm/initrd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"

#define PART_MOST (64u << 20)

static void pad(struct strbuf *out)
{
	static const char zeros[4];

	strbuf_add_mem(out, zeros, (4 - out->len % 4) % 4);
}

/* An entry with one link; all but mode and length is zero. */
static void add_entry(struct strbuf *out, const char *name, mode_t mode, const struct strbuf *data)
{
	static const char form[] = "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X";
	unsigned len = data ? (unsigned)data->len : 0;

	pad(out);
	strbuf_addf(out, form, 0, (unsigned)mode, 0, 0, 1, 0, len, 0, 0, 0, 0,
		    (unsigned)strlen(name) + 1, 0);
	strbuf_add_mem(out, name, strlen(name) + 1);
	pad(out);
	if (data)
		strbuf_add_mem(out, data->text, data->len);
	pad(out);
}

int initrd_make(const char *base, const char *agent, int *ret_fd, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf all = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf program = STRBUF_INIT;
	cleanup_fd int fd = -1;
	int r = file_read(base, PART_MOST, &all, err);

	if (r == 0)
		r = file_read(agent, PART_MOST, &program, err);
	if (r < 0)
		return r;
	add_entry(&all, "init", S_IFREG | 0755, &program);
	add_entry(&all, "TRAILER!!!", 0, NULL);
	fd = memfd_create("initrd", MFD_CLOEXEC);
	/* QEMU opens it once more, without our rights. */
	if (fd < 0 || fchmod(fd, 0444) < 0 || file_write_all(fd, all.text, all.len) < 0)
		return error_sys(err, "cannot make an initramfs");
	*ret_fd = take_fd(fd);
	return 0;
}
