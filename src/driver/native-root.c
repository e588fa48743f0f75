/*
 * The root file system of a native node.
 *
 * How it works:
 *
 *  1. As the host's root, in a copy of its mounts: propagation is made private (pivot_root()
 *     refuses a shared parent), a tmpfs is mounted on /tmp, which exists on every host and is
 *     accessible to all users, and the prepared trees are attached there.
 *  2. The mounts are copied into the node's user namespace, which locks them: the node's root can
 *     neither unmount them nor make them writable.
 *  3. As the node's root: a second tmpfs becomes the node's /, the trees are bound to their places,
 *     and /usr is an overlay of the host's or the base's /usr with the node's own layer.
 *  4. proc, sysfs, cgroups and a small /dev are mounted.  This is done while the host's /proc and
 *     /sys are visible, because the kernel allows new ones only then.
 *  5. After pivot_root(), the host's tree is detached, and the user's mounts are moved to their
 *     places.  This comes after detaching, because the node's root may have made links of the
 * paths.
 *  6. All mounts are made shared again, as the kubelet's mount propagation requires.
 */

#include "driver/native-root.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "cgroup/cgroup.h"
#include "driver/native-tmpfs.h"
#include "driver/native-views.h"
#include "driver/tree.h"
#include "host/namespace.h"

#define STAGE "/tmp"
#define ROOT  STAGE "/root"

/* The /proc of a pid namespace that belongs to the host, in which the node cannot mount one. */
#define STAGED_PROC STAGE "/proc"

/* How file systems of the kernel are mounted. */
#define KERNEL_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC)

/* Open the node's /usr.  That of a base must be a directory:
 * a link could lead to the host's files. */
static int open_usr(const struct node_spec *spec, int userns_fd, struct native_trees *ret,
		    struct error *err)
{
	cleanup_free char *opened = NULL;
	cleanup_fd int fd = -1;
	int r;

	if (!spec->base)
		return namespace_map_tree("/usr", userns_fd, true, &ret->usr, err);
	r = below_open(spec->base, "usr", O_DIRECTORY, &fd, err);
	if (r < 0)
		return r;
	opened = xasprintf("/proc/self/fd/%d", fd);
	return namespace_map_tree(opened, userns_fd, true, &ret->usr, err);
}

int native_trees_open(const struct node_spec *spec, const char *agent, int userns_fd,
		      uid_t uid_base, struct native_trees *ret, struct error *err)
{
	cleanup_free char *bin = xasprintf("%s/bin", spec->payload);
	cleanup_free char *cni = xasprintf("%s/cni", spec->payload);
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_free char *var = xasprintf("%s/var", tree);
	cleanup_free char *views = xasprintf("%s/views", spec->dir);
	int r = open_usr(spec, userns_fd, ret, err);

	if (r == 0)
		r = namespace_map_tree(tree, userns_fd, false, &ret->node, err);
	if (r == 0 && spec->disk_bytes)
		r = namespace_map_tree(var, userns_fd, false, &ret->disk, err);
	if (r == 0)
		r = namespace_map_tree(views, userns_fd, true, &ret->views, err);
	if (r == 0)
		r = namespace_map_tree(bin, userns_fd, true, &ret->bin, err);
	if (r == 0)
		r = namespace_map_tree(cni, userns_fd, true, &ret->cni, err);
	if (r == 0)
		r = namespace_map_tree(agent, userns_fd, true, &ret->agent, err);
	/* Its files have the owners and modes that nodes see, so no user of the host may enter it.
	 */
	if (r == 0)
		r = file_make_dirs(spec->shared, 0700, err);
	if (r == 0)
		r = namespace_map_tree(spec->shared, userns_fd, true, &ret->shared, err);
	if (r == 0)
		r = native_mounts_open(spec, userns_fd, uid_base, &ret->mounts, err);
	return r;
}

void native_trees_release(struct native_trees *trees)
{
	int *fds[] = { &trees->usr, &trees->node,  &trees->views, &trees->bin,
		       &trees->cni, &trees->agent, &trees->disk,  &trees->shared };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			(void)close(*fds[i]);
		*fds[i] = -1;
	}
	native_mounts_release(&trees->mounts);
}

static int make_dir(const char *path, mode_t mode, struct error *err)
{
	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the node's directory '%s'", path);
	return 0;
}

static int make_dirs(struct error *err)
{
	static const char *const dirs[] = {
		"usr",
		"etc",
		"var",
		"run",
		"tmp",
		"root",
		"home",
		"mnt",
		"dev",
		"proc",
		"sys",
		"srv",
		"opt",
		"opt/cni",
		"opt/cni/bin",
		".host",
		"opt/manykube",
		"opt/manykube/bin",
		"opt/manykube/shared",
	};
	static const char *const links[] = { "bin", "sbin", "lib", "lib32", "lib64", "libx32" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(dirs); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), ROOT "/%s", dirs[i]);
		r = make_dir(path, 0755, err);
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(links); i++) {
		char path[64];
		char target[64];

		(void)snprintf(path, sizeof(path), STAGE "/usr/%s", links[i]);
		if (!file_exists(path))
			continue;
		(void)snprintf(target, sizeof(target), "usr/%s", links[i]);
		(void)snprintf(path, sizeof(path), ROOT "/%s", links[i]);
		if (symlink(target, path) < 0)
			r = error_sys(err, "cannot make the node's link '%s'", links[i]);
	}
	return r;
}

static int mount_one(const char *source, const char *path, const char *type, unsigned long flags,
		     const char *data, struct error *err)
{
	if (mount(source, path, type, flags, data) < 0)
		return error_sys(err, "cannot mount the node's '%s'", path + strlen(ROOT));
	return 0;
}

static int bind_tree(const char *from, const char *to, struct error *err)
{
	return mount_one(from, to, NULL, MS_BIND, NULL, err);
}

static int mount_trees(struct error *err)
{
	/* Directories whose contents stay when the node is stopped. */
	static const char *const kept[] = { "etc", "var", "root", "home", "srv", "mnt" };
	cleanup_fd int agent = open(ROOT "/opt/manykube/agent", O_WRONLY | O_CREAT | O_CLOEXEC,
				    0755);
	int r;

	if (agent < 0)
		return error_sys(err, "cannot make the node's agent");
	r = bind_tree(STAGE "/bin", ROOT "/opt/manykube/bin", err);
	if (r == 0)
		r = bind_tree(STAGE "/cni", ROOT "/opt/cni/bin", err);
	if (r == 0)
		r = bind_tree(STAGE "/agent", ROOT "/opt/manykube/agent", err);
	if (r == 0)
		r = bind_tree(STAGE "/shared", ROOT NODE_SHARED_DIR, err);
	if (r == 0)
		r = mount_one("usr", ROOT "/usr", "overlay", 0,
			      "lowerdir=" STAGE "/usr,upperdir=" STAGE "/node/usr,workdir=" STAGE
			      "/node/usr-work,userxattr",
			      err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kept); i++) {
		char from[64];
		char to[64];

		(void)snprintf(from, sizeof(from), STAGE "/node/%s", kept[i]);
		(void)snprintf(to, sizeof(to), ROOT "/%s", kept[i]);
		r = bind_tree(from, to, err);
	}
	if (r == 0)
		r = mount_one("run", ROOT "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755", err);
	if (r == 0)
		r = mount_one("tmp", ROOT "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777", err);
	return r;
}

static int mount_device(const char *name, struct error *err)
{
	char source[64];
	char path[64];
	int fd;

	(void)snprintf(source, sizeof(source), "/dev/%s", name);
	(void)snprintf(path, sizeof(path), ROOT "/dev/%s", name);
	/* Not every host has tun. */
	if (!file_exists(source))
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_sys(err, "cannot make the node's '%s'", source);
	(void)close(fd);
	return mount_one(source, path, NULL, MS_BIND, NULL, err);
}

static int mount_devices(struct error *err)
{
	/* No fuse: a process that waits for a file system that it serves
	 * itself cannot be killed. */
	static const char *const devices[] = { "null",    "zero", "full",   "random",
					       "urandom", "tty",  "net/tun" };
	static const char *const dirs[] = { "net", "pts", "shm", "mqueue" };
	static const char *const links[][2] = {
		{ "pts/ptmx", "ptmx" },          { "/proc/self/fd", "fd" },
		{ "/proc/self/fd/0", "stdin" },  { "/proc/self/fd/1", "stdout" },
		{ "/proc/self/fd/2", "stderr" },
	};
	int r = mount_one("dev", ROOT "/dev", "tmpfs", MS_NOSUID, "mode=755,size=1m,nr_inodes=4k",
			  err);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(dirs); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), ROOT "/dev/%s", dirs[i]);
		r = make_dir(path, 0755, err);
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(devices); i++)
		r = mount_device(devices[i], err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(links); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), ROOT "/dev/%s", links[i][1]);
		if (symlink(links[i][0], path) < 0)
			r = error_sys(err, "cannot make the node's '%s'", path + strlen(ROOT));
	}
	if (r == 0)
		r = mount_one("devpts", ROOT "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
			      "newinstance,ptmxmode=0666,mode=0620,gid=5,max=1024", err);
	if (r == 0)
		r = mount_one("shm", ROOT "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777",
			      err);
	if (r == 0)
		r = mount_one("mqueue", ROOT "/dev/mqueue", "mqueue",
			      MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, err);
	return r;
}

/* Mount a /proc: the staged one, or one of our own pid namespace. */
static int mount_proc(const char *path, struct error *err)
{
	if (file_exists(STAGED_PROC))
		return bind_tree(STAGED_PROC, path, err);
	return mount_one("proc", path, "proc", KERNEL_FLAGS, NULL, err);
}

/*
 * Mount a second /proc and /sys without anything mounted on top: the kernel allows a pod with its
 * own user namespace to mount new ones only if there are complete ones.
 */
static int mount_clean(struct error *err)
{
	int r = make_dir(ROOT "/opt/manykube/proc", 0755, err);

	if (r == 0)
		r = make_dir(ROOT "/opt/manykube/sys", 0755, err);
	if (r == 0)
		r = mount_proc(ROOT "/opt/manykube/proc", err);
	if (r == 0)
		r = mount_one("sysfs", ROOT "/opt/manykube/sys", "sysfs", KERNEL_FLAGS, NULL, err);
	return r;
}

static int mount_kernel(const struct native_cpus *cpus, struct error *err)
{
	int r = mount_proc(ROOT "/proc", err);

	if (r == 0)
		r = mount_one("sysfs", ROOT "/sys", "sysfs", KERNEL_FLAGS, NULL, err);
	if (r == 0)
		r = cgroup_mount(ROOT "/sys/fs/cgroup", err);
	if (r == 0)
		r = mount_clean(err);
	if (r == 0)
		r = native_views_mount(STAGE "/views", ROOT, cpus, err);
	return r;
}

/* Change from the host's tree to the one at ROOT.  MOUNTS are placed last, when links in the node's
 * directories can no longer lead to files of the host. */
static int pivot(const struct native_mounts *mounts, struct error *err)
{
	int r;

	if (chdir(ROOT) < 0 || syscall(SYS_pivot_root, ".", ".host") < 0 || chdir("/") < 0)
		return error_sys(err, "cannot change to the node's root directory");
	r = native_mounts_pick_up(mounts, "/.host" STAGE "/mounts", err);
	if (r < 0)
		return r;
	if (umount2("/.host", MNT_DETACH) < 0 || rmdir("/.host") < 0)
		return error_sys(err, "cannot detach the host's files");
	r = native_mounts_place(mounts, err);
	if (r < 0)
		return r;
	if (mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) < 0)
		return error_sys(err, "cannot share the node's mounts");
	return 0;
}

static int attach(int tree, const char *path, bool is_file, struct error *err)
{
	if (is_file) {
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

		if (fd < 0)
			return error_sys(err, "cannot make '%s'", path);
		(void)close(fd);
	} else if (mkdir(path, 0755) < 0) {
		return error_sys(err, "cannot make '%s'", path);
	}
	if (move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_sys(err, "cannot attach '%s'", path);
	return 0;
}

int native_stage(const struct native_trees *trees, struct error *err)
{
	int r;

	umask(022);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_sys(err, "cannot make a private mount namespace");
	if (mount("stage", STAGE, "tmpfs", 0, "mode=755,size=1m") < 0)
		return error_sys(err, "cannot mount a tmpfs for the node's root");
	r = attach(trees->usr, STAGE "/usr", false, err);
	if (r == 0)
		r = attach(trees->node, STAGE "/node", false, err);
	if (r == 0 && trees->disk >= 0 &&
	    move_mount(trees->disk, "", AT_FDCWD, STAGE "/node/var", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = error_sys(err, "cannot attach the node's disk");
	if (r == 0)
		r = attach(trees->views, STAGE "/views", false, err);
	if (r == 0)
		r = attach(trees->bin, STAGE "/bin", false, err);
	if (r == 0)
		r = attach(trees->cni, STAGE "/cni", false, err);
	if (r == 0)
		r = attach(trees->agent, STAGE "/agent", true, err);
	if (r == 0)
		r = attach(trees->shared, STAGE "/shared", false, err);
	if (r == 0)
		r = native_mounts_stage(&trees->mounts, STAGE "/mounts", err);
	return r < 0 ? r : make_dir(ROOT, 0755, err);
}

int native_stage_proc(struct error *err)
{
	int r = make_dir(STAGED_PROC, 0755, err);

	if (r == 0 && mount("proc", STAGED_PROC, "proc", KERNEL_FLAGS, NULL) < 0)
		r = error_sys(err, "cannot mount the /proc of the container");
	return r;
}

int native_build_root(const char *hostname, const struct native_cpus *cpus, uint64_t memory_bytes,
		      const struct native_mounts *mounts, struct error *err)
{
	int r;

	umask(022);
	if (sethostname(hostname, strlen(hostname)) < 0)
		return error_sys(err, "cannot set the node's host name");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_sys(err, "cannot make the node's mounts private");
	if (mount("root", ROOT, "tmpfs", 0, "mode=755,size=16m,nr_inodes=16k") < 0)
		return error_sys(err, "cannot mount the node's root");
	r = make_dirs(err);
	if (r == 0)
		r = mount_trees(err);
	if (r == 0)
		r = mount_kernel(cpus, err);
	if (r == 0)
		r = mount_devices(err);
	if (r == 0)
		r = native_tmpfs_limit(ROOT, memory_bytes, err);
	return r < 0 ? r : pivot(mounts, err);
}
