/* Confinement of the process that reads an archive. */

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/process.h"
#include "host/cage.h"
#include "host/confine.h"
#include "image/reader-inside.h"

/* More memory than the documents of an archive need. */
#define MEMORY_MAX (UINT64_C(2) << 30)

/* Decompressing 100 GB takes a quarter of this. */
#define CPU_SECONDS 3600

/* More than the levels of a tree that are removed at the same time. */
#define FILES_MAX 1024

/* For making files with any owner and mode, and for removing them, in its user namespace. */
#define CAPABILITY(number) (1u << (number))
#define CAPABILITIES                                                                              \
	(CAPABILITY(CAP_CHOWN) | CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_DAC_READ_SEARCH) | \
	 CAPABILITY(CAP_FOWNER) | CAPABILITY(CAP_FSETID) | CAPABILITY(CAP_MKNOD) |                \
	 CAPABILITY(CAP_SETFCAP))

static_assert(CAP_SETFCAP < 32, "capabilities are in the first word");

/* Make the descriptors 3, 4, ... those of FDS, 0 to 2 /dev/null, and close all others. */
static int keep_only(const int *fds, int count)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int safe[8];

	for (int i = 0; i < count; i++) {
		safe[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64);
		if (safe[i] < 0)
			return -1;
	}
	null = null < 0 ? -1 : fcntl(null, F_DUPFD_CLOEXEC, 64);
	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			return -1;
	for (int i = 0; i < count; i++)
		if (dup2(safe[i], 3 + i) < 0)
			return -1;
	return close_range((unsigned)(3 + count), UINT_MAX, 0);
}

static int become_namespace_root(int user_namespace)
{
	if (setns(user_namespace, CLONE_NEWUSER) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return -1;
	return unshare(CLONE_NEWNET | CLONE_NEWIPC);
}

static void limit_process(void)
{
	const struct process_limit limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_MSGQUEUE, 0 },
		{ RLIMIT_NOFILE, FILES_MAX },
		{ RLIMIT_CPU, CPU_SECONDS },
		{ RLIMIT_DATA, CAGE_SANITIZED ? RLIM_INFINITY : MEMORY_MAX },
	};

	(void)process_lower_limits(limits, ARRAY_SIZE(limits));
}

static int keep_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const unsigned kept = CAPABILITIES;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = kept, .permitted = kept },
	};

	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
			return -1;
	return (int)syscall(SYS_capset, &header, data);
}

int reader_confine(pid_t parent, int user_namespace, int root, const int fds[2], struct error *err)
{
	const int kept[] = { fds[0], fds[1], user_namespace, root };

	for (char **entry = environ; *entry; entry++)
		explicit_bzero(*entry, strlen(*entry));
	limit_process();
	if (keep_only(kept, ARRAY_SIZE(kept)) < 0)
		return error_sys(err, "cannot close descriptors");
	if (become_namespace_root(5) < 0)
		return error_sys(err, "cannot enter a namespace");
	if (fchdir(6) < 0 || chroot(".") < 0 || chdir("/") < 0)
		return error_sys(err, "cannot change the root directory");
	(void)close(5);
	(void)close(6);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_sys(err, "cannot give up rights");
	/* Set after the change of ids, which clears it. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (confine() < 0 || keep_capabilities() < 0)
		return error_sys(err, "cannot give up capabilities");
	return 0;
}
