/* The agent as the first process of a VM. */

#include "agent/vm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/channel.h"
#include "agent/net.h"
#include "agent/text.h"

#define DISK    "/dev/vda"
#define DISK_MS 30000
#define AGENT   "/opt/manykube/agent"

/* Not in the headers of the kernel for programs. */
#define EXT4_IOC_RESIZE_FS _IOW('f', 16, uint64_t)

static int go_read = -1;
static int go_write = -1;
static pid_t channel_pid;
static const char *channel_state;

static void mount_at(const char *type, const char *place, unsigned long flags, const char *options)
{
	(void)mkdir(place, 0755);
	if (mount(type, place, type, flags, options) < 0)
		say("cannot mount ", place, ": ", strerror(errno), NULL);
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST))
		say("cannot load ", path, ": ", strerror(errno), NULL);
	if (fd >= 0)
		(void)close(fd);
}

/* Load the modules whose paths are the lines of the file LIST. */
static void load_modules(const char *list)
{
	static char text[16384];
	ssize_t len = read_file(list, text, sizeof(text) - 1);
	char *rest = text;
	char *line;

	if (len < 0)
		say("cannot read ", list, ": ", strerror(errno), NULL);
	while (len > 0 && (line = strsep(&rest, "\n")))
		if (*line)
			load_module(line);
}

static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i < 3; i++)
		(void)dup2(fd, i);
}

_Noreturn static void give_up(const char *what)
{
	say("cannot ", what, ": ", strerror(errno), NULL);
	(void)reboot(RB_POWER_OFF);
	_exit(EXIT_FAILURE);
}

_Noreturn void vm_enter_root(void)
{
	static const char *const moved[] = { "/proc", "/sys", "/dev" };
	int64_t deadline = now_ms() + DISK_MS;

	mount_at("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	mount_at("sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	mount_at("devtmpfs", "/dev", MS_NOSUID, "mode=755");
	open_console();
	load_modules("/modules");
	(void)mkdir("/root", 0755);
	while (access(DISK, F_OK) < 0 && now_ms() < deadline)
		(void)poll(NULL, 0, 10);
	/* A VM may be killed at any time: what was written a second ago must not come back as empty
	 * files, such as certificates without which the kubelet does not start. */
	if (mount(DISK, "/root", "ext4", MS_NOATIME, "nodelalloc,commit=1") < 0)
		give_up("mount the disk");
	for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++) {
		char place[32];

		(void)snprintf(place, sizeof(place), "/root%s", moved[i]);
		if (mount(moved[i], place, NULL, MS_MOVE, NULL) < 0)
			give_up("move a mount");
	}
	if (mount("/init", "/root" AGENT, NULL, MS_BIND, NULL) < 0)
		give_up("mount the agent");
	if (chdir("/root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		give_up("enter the root file system");
	(void)execl(AGENT, "manykube-agent", "vm", NULL);
	give_up("run the agent");
}

static void mount_all(void)
{
	(void)mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL);
	mount_at("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "mode=620,ptmxmode=666,gid=5");
	mount_at("mqueue", "/dev/mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	mount_at("cgroup2", "/sys/fs/cgroup", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	mount_at("bpf", "/sys/fs/bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	(void)mkdir("/dev/shm", 01777);
	if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0 ||
	    mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0)
		say("cannot mount a tmpfs: ", strerror(errno), NULL);
	(void)mkdir("/run/manykube", 0755);
	(void)!symlink("/proc/self/fd", "/dev/fd");
	(void)!symlink("fd/0", "/dev/stdin");
	(void)!symlink("fd/1", "/dev/stdout");
	(void)!symlink("fd/2", "/dev/stderr");
}

/* The value of the kernel's argument NAME ("manykube.name="); false if there is none. */
static bool find_argument(const char *name, char *ret, size_t size)
{
	static char text[4096];
	ssize_t len = read_file("/proc/cmdline", text, sizeof(text) - 1);
	char *rest = text;
	char *word;

	while (len > 0 && (word = strsep(&rest, " \n")))
		if (strncmp(word, name, strlen(name)) == 0) {
			(void)snprintf(ret, size, "%s", word + strlen(name));
			return true;
		}
	return false;
}

int vm_grow_disk(void)
{
	int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int disk = open(DISK, O_RDONLY | O_CLOEXEC);
	struct statfs fs = { 0 };
	uint64_t bytes = 0;
	uint64_t blocks;
	int problem = 0;

	if (root < 0 || disk < 0 || fstatfs(root, &fs) < 0 || fs.f_bsize <= 0 ||
	    ioctl(disk, BLKGETSIZE64, &bytes) < 0) {
		problem = errno;
	} else {
		blocks = bytes / (uint64_t)fs.f_bsize;
		/* At most starts, it has that size. */
		if (ioctl(root, EXT4_IOC_RESIZE_FS, &blocks) < 0)
			problem = errno;
	}
	if (root >= 0)
		(void)close(root);
	if (disk >= 0)
		(void)close(disk);
	return problem;
}

static void set_up_network(void)
{
	const struct in_addr loopback = { htonl(INADDR_LOOPBACK) };
	const struct in_addr anywhere = { 0 };
	struct in_addr address;
	struct in_addr gateway;
	char value[128];
	char *prefix;
	int problem = net_link_up("lo", loopback, 8);

	if (find_argument("manykube.name=", value, sizeof(value)))
		(void)!sethostname(value, strlen(value));
	if (find_argument("manykube.address=", value, sizeof(value)) &&
	    (prefix = strchr(value, '/'))) {
		*prefix = '\0';
		if (!problem && inet_pton(AF_INET, value, &address) == 1)
			problem = net_link_up("eth0", address, (unsigned)number_of(prefix + 1, 32));
	}
	if (!problem && find_argument("manykube.gateway=", value, sizeof(value)) &&
	    inet_pton(AF_INET, value, &gateway) == 1)
		problem = net_route(anywhere, 0, gateway, false);
	if (problem)
		say("cannot set up the network: ", strerror(problem), NULL);
	(void)poke_file("/proc/sys/net/ipv4/ip_forward", "1");
}

static void start_channel(void)
{
	channel_pid = fork();
	if (channel_pid == 0) {
		sigset_t none;

		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		(void)close(go_read);
		_exit(channel_serve(go_write, channel_state));
	}
}

void vm_begin(const char *state_file)
{
	const struct rlimit files = { 1048576, 1048576 };
	int go[2];
	char byte;

	open_console();
	mount_all();
	load_modules("/opt/manykube/modules");
	set_up_network();
	if (vm_grow_disk())
		say("cannot grow the file system", NULL);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	(void)reboot(RB_DISABLE_CAD);
	if (pipe2(go, O_CLOEXEC) < 0)
		give_up("make a pipe");
	go_read = go[0];
	go_write = go[1];
	channel_state = state_file;
	start_channel();
	while (read(go_read, &byte, 1) != 1) {
		struct pollfd ready = { .fd = go_read, .events = POLLIN };
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			vm_ended(pid);
		(void)poll(&ready, 1, 1000);
	}
}

void vm_ended(pid_t pid)
{
	if (pid == channel_pid)
		start_channel();
}

_Noreturn void vm_power_off(void)
{
	sync();
	(void)kill(-1, SIGKILL);
	(void)poll(NULL, 0, 50);
	(void)mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY, NULL);
	sync();
	(void)reboot(RB_POWER_OFF);
	for (;;)
		(void)pause();
}
