/*
 * Starting QEMU and its keeper.
 *
 * QEMU runs with a uid of its own, without capabilities, in an empty network and behind its own
 * filter of system calls.  It opens no file of ours by a path: it inherits its disks, its tap and
 * the sockets to the keeper.  In particular, the image below its disk is the one that we open, not
 * one that the disk's header names, which QEMU writes.
 */

#include "vm/machine.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "cgroup/cgroup.h"
#include "host/cage.h"
#include "vm/initrd.h"
#include "vm/keeper.h"
#include "vm/kvm.h"

#define DISK   "disk.qcow2"
/* How long QEMU is watched when KVM is tried. */
#define KVM_MS 500

#define TRANSLATION_BYTES (UINT64_C(256) << 20)

#if defined(__aarch64__)
#define QEMU    "qemu-system-aarch64"
#define MACHINE "virt"
#define CONSOLE "ttyAMA0"
#else
#define QEMU    "qemu-system-x86_64"
#define MACHINE "q35"
#define CONSOLE "ttyS0"
#endif

const char *const machine_programs[] = { QEMU, "qemu-img", NULL };

struct kvm_user {
	uid_t uid;
	gid_t group;
};

static int become_kvm_user(const void *arg)
{
	const struct kvm_user *user = arg;

	return cage_drop_rights(user->uid, &user->group);
}

/* A virtual CPU that runs is not enough: QEMU must be able to set up the one that it offers. */
static bool qemu_begins(gid_t group)
{
	struct kvm_user user = { CAGE_UID_FIRST, group };
	struct process_options options = { .no_stdin = true,
					   .output = "/dev/null",
					   .dies_with_us = true,
					   .enter = become_kvm_user,
					   .enter_arg = &user };
	cleanup_with(process_release) struct process process = PROCESS_INIT;

	/* It is paused: if nothing is wrong, it stays. */
	return process_spawn(ARGV(QEMU, "-machine", MACHINE, "-accel", "kvm", "-cpu", "host",
				  "-nodefaults", "-no-user-config", "-display", "none", "-S"),
			     &options, &process, NULL) == 0 &&
	       process_wait(&process, clock_now_ms() + KVM_MS, NULL) == -ETIMEDOUT;
}

bool machine_has_kvm(gid_t *ret_group, const char **ret_why)
{
	if (!kvm_works(ret_group, ret_why))
		return false;
	if (qemu_begins(*ret_group))
		return true;
	*ret_why = "QEMU cannot set up a virtual CPU with /dev/kvm";
	return false;
}

uint64_t machine_overhead(uint64_t memory_bytes)
{
	return TRANSLATION_BYTES + (UINT64_C(192) << 20) + memory_bytes / 16;
}

int machine_make_disk(const char *dir, const struct vm_base *base, uint64_t size, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/" DISK, dir);
	cleanup_free char *part = xasprintf("%s.part", path);
	cleanup_free char *log = xasprintf("%s/disk.log", dir);
	cleanup_free char *bytes = xasprintf("%llu", (unsigned long long)size);
	struct process_options options = { .output = log, .no_stdin = true, .dies_with_us = true };
	int r;

	if (file_exists(path))
		return 0;
	(void)unlink(log);
	r = process_run(ARGV("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b",
			     base->disk, part, bytes),
			&options, err);
	if (r > 0)
		r = error_set(err, -EIO, "qemu-img cannot make '%s'; see '%s'", path, log);
	if (r == 0 && rename(part, path) < 0)
		r = error_sys(err, "cannot make '%s'", path);
	return r;
}

/* What QEMU and the keeper inherit. */
struct ends {
	struct keeper_fds keeper;
	int monitor; /* QEMU's ends */
	int channel;
	int console;
	int disk;
	int image;
	int kernel;
	int initrd;
	int log;
};

#define ENDS_INIT ((struct ends){ { -1, -1, -1, -1, -1, -1 }, -1, -1, -1, -1, -1, -1, -1, -1 })

static void release_ends(struct ends *ends)
{
	int *const all[] = { &ends->keeper.listener, &ends->keeper.monitor,
			     &ends->keeper.channel,  &ends->keeper.console,
			     &ends->keeper.log,      &ends->keeper.state,
			     &ends->monitor,         &ends->channel,
			     &ends->console,         &ends->disk,
			     &ends->image,           &ends->kernel,
			     &ends->initrd,          &ends->log };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		cleanup_fd_(all[i]);
}

static int make_pair(int *ret_keeper, int *ret_qemu, struct error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, "cannot make a socket");
	*ret_keeper = pair[0];
	*ret_qemu = pair[1];
	return 0;
}

/* A path of a socket may be longer than an address allows. */
static int listen_in(const char *dir, int *ret_fd, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_fd int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t before;
	int r;

	if (at < 0 || fd < 0)
		return error_sys(err, "cannot make a socket in '%s'", dir);
	(void)unlinkat(at, KEEPER_SOCKET, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", at,
		       KEEPER_SOCKET);
	before = umask(0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address));
	(void)umask(before);
	if (r < 0 || listen(fd, 16) < 0)
		return error_sys(err, "cannot make a socket in '%s'", dir);
	*ret_fd = take_fd(fd);
	return 0;
}

static int open_in(const char *dir, const char *name, int flags, mode_t mode, int *ret_fd,
		   struct error *err)
{
	cleanup_free char *path = *name == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name);

	*ret_fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode);
	return *ret_fd < 0 ? error_sys(err, "cannot open '%s'", path) : 0;
}

static int open_ends(const struct machine *machine, struct ends *ends, struct error *err)
{
	const char *dir = machine->dir;
	cleanup_free char *state = xasprintf("%s/" KEEPER_STATE, dir);
	int r = make_pair(&ends->keeper.monitor, &ends->monitor, err);

	(void)unlink(state);
	if (r == 0)
		r = make_pair(&ends->keeper.channel, &ends->channel, err);
	if (r == 0)
		r = make_pair(&ends->keeper.console, &ends->console, err);
	if (r == 0)
		r = listen_in(dir, &ends->keeper.listener, err);
	if (r == 0)
		r = open_in(dir, KEEPER_STATE, O_RDWR | O_CREAT | O_EXCL, 0644, &ends->keeper.state,
			    err);
	if (r == 0)
		r = open_in(dir, KEEPER_CONSOLE, O_RDWR | O_CREAT | O_APPEND, 0644,
			    &ends->keeper.log, err);
	if (r == 0)
		r = open_in(dir, "qemu.log", O_WRONLY | O_CREAT | O_TRUNC, 0644, &ends->log, err);
	if (r == 0)
		r = open_in(dir, DISK, O_RDWR, 0, &ends->disk, err);
	if (r == 0)
		r = open_in(dir, machine->base->disk, O_RDONLY, 0, &ends->image, err);
	if (r == 0)
		r = open_in(dir, machine->base->kernel, O_RDONLY, 0, &ends->kernel, err);
	if (r == 0)
		r = initrd_make(machine->base->initrd, machine->agent, &ends->initrd, err);
	return r;
}

struct entering {
	const struct machine *machine;
	const int *fds; /* to be inherited, ended by -1 */
	bool confined;
};

/* In the child: enter the group, and for QEMU give up all rights.  Returns -1 and sets errno. */
static int enter(const void *arg)
{
	const struct entering *entering = arg;

	for (const int *fd = entering->fds; *fd >= 0; fd++)
		if (fcntl(*fd, F_SETFD, 0) < 0)
			return -1;
	if (cgroup_enter(entering->machine->group, getpid(), NULL) < 0)
		return -1;
	if (!entering->confined)
		return 0;
	if (unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
		return -1;
	return cage_drop_rights(entering->machine->uid,
				entering->machine->kvm ? &entering->machine->kvm_group : NULL);
}

static int start_keeper(const struct machine *machine, const struct ends *ends, pid_t *ret_pid,
			struct error *err)
{
	const struct keeper_fds *fds = &ends->keeper;
	const int kept[] = {
		fds->listener, fds->monitor, fds->channel, fds->console, fds->log, fds->state, -1
	};
	const struct entering entering = { .machine = machine, .fds = kept };
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	struct process process = PROCESS_INIT;
	const struct process_options options = { .no_stdin = true,
						 .stdout_fd = ends->log,
						 .stderr_fd = ends->log,
						 .new_session = true,
						 .dir = "/",
						 .enter = enter,
						 .enter_arg = &entering };
	int r;

	strlist_add_all(&argv, ARGV("/proc/self/exe", "vm-keeper"));
	strlist_addf(&argv, "%u", (unsigned)machine->uid + 1);
	for (size_t i = 0; kept[i] >= 0; i++)
		strlist_addf(&argv, "%d", kept[i]);
	r = process_spawn(argv.items, &options, &process, err);
	if (r < 0)
		return r;
	(void)close(process.pidfd);
	*ret_pid = process.pid;
	return 0;
}

static void add_kernel_arguments(const struct machine *machine, struct strlist *argv)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;
	char address[INET_ADDRSTRLEN];
	char gateway[INET_ADDRSTRLEN];

	(void)inet_ntop(AF_INET, &machine->address, address, sizeof(address));
	(void)inet_ntop(AF_INET, &machine->gateway, gateway, sizeof(gateway));
	strbuf_addf(&line,
		    "console=" CONSOLE " loglevel=4 panic=-1 mitigations=off apparmor=0 "
		    "random.trust_cpu=on manykube.name=%s manykube.address=%s/%u",
		    machine->name, address, machine->prefix);
	/* On a busy host, an emulated timer may tick too late for the kernel's check of it, which
	 * ends in a panic. */
	if (!machine->kvm)
		strbuf_add(&line, " no_timer_check");
	if (machine->default_route)
		strbuf_addf(&line, " manykube.gateway=%s", gateway);
	strlist_add_all(argv, ARGV("-append"));
	strlist_add(argv, line.text);
}

static void add_devices(const struct machine *machine, const struct ends *ends,
			struct strlist *argv)
{
	const unsigned char *bytes = (const unsigned char *)&machine->address;

	strlist_add(argv, "-add-fd");
	strlist_addf(argv, "fd=%d,set=1", ends->disk);
	strlist_add(argv, "-add-fd");
	strlist_addf(argv, "fd=%d,set=2", ends->image);
	strlist_add_all(argv,
			ARGV("-blockdev",
			     "driver=file,node-name=image-file,filename=/dev/fdset/2,read-only=on,"
			     "locking=off",
			     "-blockdev", "driver=raw,node-name=image,file=image-file,read-only=on",
			     "-blockdev",
			     "driver=file,node-name=disk-file,filename=/dev/fdset/1,locking=off,"
			     "discard=unmap,cache.no-flush=on",
			     "-blockdev",
			     "driver=qcow2,node-name=disk,file=disk-file,backing=image,"
			     "discard=unmap",
			     "-device", "virtio-blk-pci,drive=disk"));
	strlist_add(argv, "-netdev");
	strlist_addf(argv, "tap,id=net,fd=%d", machine->tap);
	strlist_add(argv, "-device");
	/* The address that link_set_mac() gives to native nodes. */
	strlist_addf(argv,
		     "virtio-net-pci,netdev=net,mac=02:6b:%02x:%02x:%02x:%02x,romfile=", bytes[0],
		     bytes[1], bytes[2], bytes[3]);
	strlist_add_all(argv,
			ARGV("-object", "rng-random,id=rng,filename=/dev/urandom", "-device",
			     "virtio-rng-pci,rng=rng", "-device", "virtio-serial-pci", "-chardev"));
	strlist_addf(argv, "socket,id=channel,fd=%d", ends->channel);
	strlist_add_all(
		argv, ARGV("-device", "virtserialport,chardev=channel,name=manykube", "-chardev"));
	strlist_addf(argv, "socket,id=console,fd=%d", ends->console);
	strlist_add_all(argv, ARGV("-serial", "chardev:console", "-chardev"));
	strlist_addf(argv, "socket,id=monitor,fd=%d", ends->monitor);
	strlist_add_all(argv, ARGV("-mon", "chardev=monitor,mode=control"));
}

static void add_arguments(const struct machine *machine, const struct ends *ends,
			  struct strlist *argv)
{
	strlist_add_all(argv, ARGV(QEMU, "-name"));
	strlist_add(argv, machine->name);
	strlist_add_all(argv, ARGV("-nodefaults", "-no-user-config", "-display", "none",
				   "-no-reboot", "-sandbox",
				   "on,obsolete=deny,elevateprivileges=deny,spawn=deny,"
				   "resourcecontrol=deny",
				   "-machine", MACHINE, "-accel"));
	/* With a thread per CPU, guests locked up now and then. */
	strlist_add(argv, machine->kvm ? "kvm" : "tcg,thread=single,tb-size=256");
	strlist_add_all(argv, ARGV("-cpu"));
	strlist_add(argv, machine->kvm ? "host" : "max");
	strlist_add(argv, "-smp");
	strlist_addf(argv, "%u", machine->cpus);
	strlist_add(argv, "-m");
	strlist_addf(argv, "%lluM", (unsigned long long)(machine->memory_bytes >> 20));
	strlist_add(argv, "-kernel");
	strlist_addf(argv, "/proc/self/fd/%d", ends->kernel);
	strlist_add(argv, "-initrd");
	strlist_addf(argv, "/proc/self/fd/%d", ends->initrd);
	add_kernel_arguments(machine, argv);
	add_devices(machine, ends, argv);
}

static int start_qemu(const struct machine *machine, const struct ends *ends, pid_t *ret_pid,
		      struct error *err)
{
	static char path[] = "PATH=/usr/bin:/bin";
	const int kept[] = { ends->monitor, ends->channel, ends->console, ends->disk, ends->image,
			     ends->kernel,  ends->initrd,  machine->tap,  -1 };
	const struct entering entering = { .machine = machine, .fds = kept, .confined = true };
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	struct process process = PROCESS_INIT;
	const struct process_options options = { .no_stdin = true,
						 .stdout_fd = ends->log,
						 .stderr_fd = ends->log,
						 .new_session = true,
						 .dir = "/",
						 .environment = (char *[]){ path, NULL },
						 .enter = enter,
						 .enter_arg = &entering };
	int r;

	add_arguments(machine, ends, &argv);
	r = process_spawn(argv.items, &options, &process, err);
	if (r < 0)
		return r;
	(void)close(process.pidfd);
	*ret_pid = process.pid;
	return 0;
}

int machine_start(const struct machine *machine, pid_t *ret_keeper, pid_t *ret_qemu,
		  struct error *err)
{
	cleanup_with(release_ends) struct ends ends = ENDS_INIT;
	int r = open_ends(machine, &ends, err);

	if (r == 0)
		r = start_keeper(machine, &ends, ret_keeper, err);
	if (r == 0)
		r = start_qemu(machine, &ends, ret_qemu, err);
	return r;
}
