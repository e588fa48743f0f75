/*
 * The nftables of a native node's network.
 *
 * A child of ours does the work.  nft reads what there is in the kernel before it changes anything,
 * and the node's root can have made that, with any contents.  So the child opens the socket, whose
 * buffers have to be larger than the node's own rights allow, and then keeps no more rights than
 * changing that network: those of the node's root, without files, other processes and descriptors.
 */

#include "driver/native-filter.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "driver/native-link.h"
#include "host/cage.h"
#include "host/confine.h"
#include "host/firewall.h"

#define REASON_MOST 4096

/* What the largest policies may take. */
static const rlim_t memory_most_bytes = 256 << 20;
static const rlim_t cpu_most_seconds = 20;
static const unsigned load_most_seconds = 30;

struct task {
	int netns;
	int out; /* for the reason of a failure */
	const char *name;
	const char *rules;
};

/* Close all descriptors but those of TASK, and make 0 to 2 /dev/null. */
static int close_others(const struct task *task)
{
	unsigned low = (unsigned)MIN(task->netns, task->out);
	unsigned high = (unsigned)MAX(task->netns, task->out);
	int null;

	if ((low > 3 && close_range(3, low - 1, 0) < 0) ||
	    (high > low + 1 && close_range(low + 1, high - 1, 0) < 0) ||
	    close_range(high + 1, UINT_MAX, 0) < 0)
		return -1;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			return -1;
	return close(null);
}

static int limit_resources(void)
{
	const struct process_limit limits[] = {
		{ RLIMIT_DATA, CAGE_SANITIZED ? RLIM_INFINITY : memory_most_bytes },
		{ RLIMIT_CPU, cpu_most_seconds },
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_NPROC, 0 },
	};

	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(load_most_seconds);
	return process_lower_limits(limits, ARRAY_SIZE(limits));
}

static int keep_capability(unsigned number)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const unsigned kept = 1u << number;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = kept, .permitted = kept },
	};

	return (int)syscall(SYS_capset, &header, data);
}

/* Become root of the user namespace that owns the network.  That is never our own: the kernel
 * refuses to enter it a second time. */
static int become_owner(int netns)
{
	cleanup_fd int owner = ioctl(netns, NS_GET_USERNS);

	if (owner < 0 || unshare(CLONE_NEWIPC) < 0 || !cage_leave_files() ||
	    setns(owner, CLONE_NEWUSER) < 0 || setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 ||
	    setresuid(0, 0, 0) < 0)
		return -1;
	/* Set after the change of ids, which clears it. */
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int give_up_rights(const struct task *task)
{
	if (become_owner(task->netns) < 0 || close(task->netns) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    confine() < 0)
		return -1;
	return keep_capability(CAP_NET_ADMIN);
}

static int load_rules(const struct task *task, struct error *err)
{
	struct nft_ctx *context;
	int r;

	if (close_others(task) < 0 || setns(task->netns, CLONE_NEWNET) < 0)
		return error_sys(err, "cannot enter the node's network");
	r = firewall_open(&context, err);
	if (r < 0)
		return r;
	if (limit_resources() < 0 || give_up_rights(task) < 0)
		return error_sys(err, "cannot give up rights");
	return firewall_load(context, task->name, task->rules, err);
}

static _Noreturn void filter_inside(const struct task *task)
{
	struct error err = ERROR_INIT;
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	r = load_rules(task, &err);
	if (r < 0)
		(void)file_write_all(task->out, err.text, strlen(err.text));
	_exit(r < 0 ? 1 : 0);
}

int native_filter(const struct node_spec *spec, pid_t pid, const char *name, const char *rules,
		  struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf reason = STRBUF_INIT;
	cleanup_fd int netns = -1;
	cleanup_fd int in = -1;
	cleanup_fd int out = -1;
	int ends[2];
	pid_t child;
	int status;
	int r = native_link_open_network(spec, pid, &netns, err);

	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	in = ends[0];
	out = ends[1];
	child = fork();
	if (child < 0)
		return error_sys(err, "cannot start a process");
	if (child == 0)
		filter_inside(&(struct task){ netns, out, name, rules });
	(void)close(take_fd(out));
	(void)file_read_fd(in, REASON_MOST, &reason, NULL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(err, -EIO, "cannot change the rules in node '%s': %s", spec->name,
			 reason.len > 0 ? reason.text : "the process was killed");
}
