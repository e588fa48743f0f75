/*
 * Files whose size says nothing about their contents.
 *
 * The kernel makes the contents of files in /proc when they are read.  tar reads only as much as
 * their size, 0, so that their copies would be empty.
 */

#include "node/copy-size.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/user.h"

/* Reading the kernel's log waits for its next line. */
#define LOOK_MS 2000

static bool hides_on_host(const char *path)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_fd int fd = -1;
	struct stat st;
	char byte;

	if (user_enter(&rights, NULL) < 0)
		return false;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > 0)
		return false;
	return read(fd, &byte, 1) != 0;
}

/* Run ARGV on NODE; returns its exit status, or a negative errno.  What it writes to OUTPUT is cut
 * off after a byte. */
static int run_at(const struct cluster_node *node, char *const *argv, int output)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	struct process_options options = {
		.no_stdin = true, .stdout_fd = output, .stdout_most = 1, .dies_with_us = true
	};
	int r = node->driver->spawn(&node->spec, argv, &options, &process, NULL);

	return r < 0 ? r : process_wait(&process, clock_now_ms() + LOOK_MS, NULL);
}

static bool hides_on_node(const struct cluster_node *node, char *path)
{
	cleanup_fd int output = memfd_create("output", MFD_CLOEXEC);
	struct stat st;
	int r;

	/* Most files are not of size 0. */
	if (output < 0 || run_at(node, ARGV("test", "-s", path), output) != 1)
		return false;
	r = run_at(node, ARGV("head", "-c", "1", "--", path), output);
	return r == -ETIMEDOUT || (r == 0 && fstat(output, &st) == 0 && st.st_size > 0);
}

int copy_check_size(const struct copy_end *from, char *path, struct error *err)
{
	const char *name = from->node ? from->node->spec.name : NULL;

	if (!(from->node ? hides_on_node(from->node, path) : hides_on_host(path)))
		return 0;
	(void)error_because(err, &reason_copy, -EINVAL,
			    "'%s%s%s' has contents but no size, like the files of /proc",
			    name ? name : "", name ? ":" : "", path);
	if (!name)
		return error_hint(err, -EINVAL, "'cat %s' prints it", path);
	return error_hint(err, -EINVAL, "'manykube ssh %s -- cat %s' prints it", name, path);
}
