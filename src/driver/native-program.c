/* Running a program of the host on the files of a node. */

#include "driver/native-program.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"
#include "driver/tree.h"
#include "host/confine.h"
#include "host/namespace.h"

/* More than kubeadm needs.  The address space that Go reserves does not count. */
#define MEMORY_MOST (512u << 20)

/* The largest file that it can write, and how much its log may grow. */
#define FILE_MOST (16u << 20)

#define CPU_SECONDS 60

struct room {
	int userns;
	int files; /* a detached mount of the node's files, mapped for the user namespace */
};

static bool limit_resources(void)
{
	struct stat log;
	/* The limit applies to the log as well, which may be long already. */
	rlim_t file_most = FILE_MOST + (fstat(STDOUT_FILENO, &log) == 0 ? (rlim_t)log.st_size : 0);
	const struct process_limit limits[] = {
		{ RLIMIT_CORE, 0 },           { RLIMIT_CPU, CPU_SECONDS },
		{ RLIMIT_DATA, MEMORY_MOST }, { RLIMIT_FSIZE, file_most },
		{ RLIMIT_MEMLOCK, 0 },        { RLIMIT_MSGQUEUE, 0 },
	};

	return process_lower_limits(limits, ARRAY_SIZE(limits)) == 0;
}

/* Attach the node's files, mapped, to the working directory; all other mounts become read-only. */
static bool attach_files(int files)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };

	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof(read_only)) == 0 &&
	       move_mount(files, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH) == 0 &&
	       fchdir(files) == 0;
}

/* Restrict the capabilities that the program will have. */
static bool drop_capabilities(void)
{
	const uint64_t kept = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER |
			      1u << CAP_SYS_CHROOT;

	/* EINVAL: unknown to this kernel. */
	for (int cap = 0; cap < 64; cap++)
		if (!(kept >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 &&
		    errno != EINVAL)
			return false;
	return true;
}

static int enter_room(const void *arg)
{
	const struct room *room = arg;

	if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0 ||
	    !attach_files(room->files) || namespace_new_keyring() < 0 || !limit_resources() ||
	    setns(room->userns, CLONE_NEWUSER) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return -1;
	if (confine() < 0 || !drop_capabilities())
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int native_program_spawn(const struct node_spec *spec, const char *flag, char *const *argv,
			 const struct process_options *options, struct process *ret_process,
			 struct error *err)
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	uid_t uid = NAMESPACE_UID_FIRST + spec->slot * NAMESPACE_IDS;
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	struct process_options here = *options;
	cleanup_fd int userns = -1;
	cleanup_fd int files = -1;
	struct room room;
	int r = namespace_new_user(uid, &userns, err);

	if (r == 0)
		r = namespace_map_tree(tree, userns, false, &files, err);
	if (r < 0)
		return r;
	room = (struct room){ .userns = userns, .files = files };
	here.dir = tree;
	here.new_session = true;
	here.dies_with_us = true;
	here.environment = (char *[]){ path, NULL };
	here.enter = enter_room;
	here.enter_arg = &room;
	strlist_add(&all, argv[0]);
	/* Only root can reach the tree by its path. */
	strlist_addf(&all, "%s.", flag);
	strlist_add_all(&all, argv + 1);
	return process_spawn(all.items, &here, ret_process, err);
}
