/* Confinement of the front door's worker. */

#include "host/cage.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/process.h"

#define NOBODY 65534

/* The largest file that the worker can write: its log. */
static const rlim_t file_most_bytes = 16 << 20;

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash ^ hash >> 16) & 0xffff;
}

uid_t cage_uid(const char *name)
{
	return CAGE_UID_FIRST + hash_of(name);
}

uid_t cage_machine_uid(const char *name)
{
	return CAGE_MACHINE_UID_FIRST + (hash_of(name) & ~1u);
}

/* Log that PART of the confinement failed; only a debug line if we lack the rights as an ordinary
 * user, which is expected. */
static void log_missing(const char *part)
{
	if (errno == EPERM && geteuid() != 0)
		log_debug("the front door's worker runs without %s: not root", part);
	else
		log_warning("the front door's worker runs without %s: %s", part, strerror(errno));
}

static void limit_resources(uint64_t memory_most)
{
	const struct process_limit limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_NPROC, 0 },
		{ RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_MSGQUEUE, 0 },
		{ RLIMIT_FSIZE, file_most_bytes },
		{ RLIMIT_DATA, CAGE_SANITIZED ? RLIM_INFINITY : memory_most },
	};

	(void)signal(SIGXFSZ, SIG_IGN);
	if (process_lower_limits(limits, ARRAY_SIZE(limits)) < 0)
		log_missing("a limit");
}

bool cage_leave_files(void)
{
	cleanup_fd int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	cleanup_fd int mount = -1;

	if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "size", "4096", 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "nr_inodes", "1", 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", "0555", 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return false;
	mount = fsmount(context, FSMOUNT_CLOEXEC,
			MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				MOUNT_ATTR_NOEXEC);
	return mount >= 0 && fchdir(mount) == 0 && chroot(".") == 0 && chdir("/") == 0;
}

/* Remove all capabilities that executed programs could gain; EINVAL: unknown to this kernel. */
static bool drop_bounding_set(void)
{
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
			return false;
	return true;
}

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return syscall(SYS_capset, &header, none) == 0;
}

static bool become_user(uid_t uid, const gid_t *group)
{
	return setgroups(group ? 1 : 0, group) == 0 && setresgid(uid, uid, uid) == 0 &&
	       setresuid(uid, uid, uid) == 0;
}

int cage_drop_rights(uid_t uid, const gid_t *group)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && drop_bounding_set() &&
			       become_user(uid, group) && drop_capabilities()
		       ? 0
		       : -1;
}

/* Erase the environment, which may hold secrets of the caller. */
static void erase_environment(void)
{
	for (char **entry = environ; *entry; entry++)
		explicit_bzero(*entry, strlen(*entry));
	environ = NULL;
}

void cage_enter(uid_t uid, pid_t parent, uint64_t memory_most)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	erase_environment();
	limit_resources(memory_most);
	if (!cage_leave_files())
		log_missing("an empty root");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		log_missing("no_new_privs");
	if (!drop_bounding_set())
		log_missing("an empty bounding set");
	if (geteuid() == 0 && !become_user(uid, NULL) && !become_user(NOBODY, NULL))
		log_missing("a user of its own");
	if (!drop_capabilities())
		log_missing("dropped capabilities");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		log_missing("protection of its memory");
	/* Must come after the change of user, which clears the parent-death signal. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (cage_calls(&err) < 0)
		log_warning("the front door's worker runs without a system call filter: %s",
			    err.text);
}
