/* Starting the registry of a cluster in confinement. */

#include "registry/cell.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"
#include "base/strlist.h"
#include "host/cage.h"
#include "host/confine.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* Refused with EPERM, besides the calls that nodes do not have.  Without socket() and namespaces,
 * the process keeps to what it inherited; without memfd_create() it has nothing to execute.  A
 * listening socket that was shut down would become a client of this host by sending with
 * MSG_FASTOPEN, so data leaves by write() only. */
static const int refused[] = {
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_sendto,
	SYS_sendmsg,
	SYS_sendmmsg,
	SYS_bind,
	SYS_listen,
	SYS_mount,
	SYS_umount2,
	SYS_fsopen,
	SYS_fspick,
	SYS_open_tree,
	SYS_move_mount,
	SYS_fsmount,
	SYS_chroot,
	SYS_mount_setattr,
	SYS_pivot_root,
	SYS_unshare,
	SYS_setns,
	SYS_ptrace,
	SYS_pidfd_getfd,
	SYS_pidfd_open,
	SYS_process_vm_readv,
	SYS_kcmp,
	SYS_memfd_create,
	SYS_process_vm_writev,
	SYS_execve,
	SYS_fanotify_init,
	SYS_name_to_handle_at,
	SYS_mknodat,
	SYS_inotify_init1,
	SYS_memfd_secret,
	SYS_quotactl,
	SYS_sched_setscheduler,
};

/* Memory and descriptors for all connections that the program accepts, and for its threads. */
static const struct process_limit limits[] = {
	{ RLIMIT_CORE, 0 },    { RLIMIT_MEMLOCK, 0 },   { RLIMIT_MSGQUEUE, 0 },
	{ RLIMIT_NPROC, 512 }, { RLIMIT_NOFILE, 8192 }, { RLIMIT_DATA, 2ull << 30 },
};

/* Make the directory DATA the root directory.  In a changed root, the kernel also refuses new user
 * namespaces. */
static int enter_data(const char *data)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
					       MOUNT_ATTR_NOEXEC };
	int tree = open_tree(AT_FDCWD, data, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ||
	    fchdir(tree) < 0 || chroot(".") < 0)
		return -1;
	return chdir("/");
}

static int filter_calls(void)
{
	struct sock_filter code[2 * ARRAY_SIZE(refused) + 5];
	struct sock_fprog program = { .filter = code };
	unsigned short n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)refused[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							 SECCOMP_RET_ERRNO | (unsigned)EPERM);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* In the child, before the program is executed; returns -1 and sets errno on failure. */
static int enter_cell(const void *arg)
{
	const struct cell *cell = arg;

	for (size_t i = 0; i < cell->count; i++)
		if (fcntl(cell->sockets[i], F_SETFD, 0) < 0)
			return -1;
	if (unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0 || enter_data(cell->data) < 0 ||
	    process_lower_limits(limits, ARRAY_SIZE(limits)) < 0)
		return -1;
	if (confine() < 0 || cage_drop_rights(cell_uid(cell->data), NULL) < 0)
		return -1;
	return filter_calls();
}

uid_t cell_uid(const char *data)
{
	return cage_uid(data);
}

/* Make the data directory, and give it to the registry. */
static int make_data(const char *data, struct error *err)
{
	uid_t uid = cell_uid(data);
	cleanup_fd int fd = -1;
	struct stat st;

	if (mkdir(data, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make '%s'", data);
	fd = open(data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open '%s'", data);
	if ((st.st_uid != uid || st.st_gid != uid) && fchown(fd, uid, uid) < 0)
		return error_sys(err, "cannot give '%s' to the registry", data);
	return 0;
}

int cell_start(const struct cell *cell, struct process *ret, struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	/* The program's heap shrinks before it reaches the limit of its memory. */
	char *const environment[] = { (char[]){ "GOMEMLIMIT=512MiB" }, NULL };
	const struct process_options options = { .no_stdin = true,
						 .dies_with_us = true,
						 .environment = environment,
						 .enter = enter_cell,
						 .enter_arg = cell };
	int r = make_data(cell->data, err);

	if (r < 0)
		return r;
	strlist_add(&argv, cell->program);
	for (size_t i = 0; i < cell->count; i++)
		strlist_addf(&argv, "%d", cell->sockets[i]);
	r = process_spawn(argv.items, &options, ret, err);
	return r < 0 ? error_prefix(err, r, "cannot start the registry") : 0;
}
