/*
 * The filter of system calls, and the bounding set of capabilities.
 *
 * How the filter works: it is a list of numbers for each way of calling the kernel that the
 * processor has, 64 and 32 bits, with an errno for each number; all else is allowed.  Its length
 * costs nothing: the kernel runs it once for every number and remembers which are always allowed,
 * so only ioctl() and socket() are looked at again.  Pods' own filters come on top.
 */

#include "host/confine.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum abi {
	NATIVE,
	COMPAT,
	ABI_COUNT
};

/* A system call's number in the ABIs of this processor; NONE where it does not exist. */
#define NONE (-1)
#if defined(__x86_64__)
#define CALL(x86_64, i386, arm64, arm) \
	{                              \
		x86_64, i386           \
	}
static const unsigned abis[ABI_COUNT] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_I386 };
#elif defined(__aarch64__)
#define CALL(x86_64, i386, arm64, arm) \
	{                              \
		arm64, arm             \
	}
static const unsigned abis[ABI_COUNT] = { AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM };
#else
#error "name the system calls of this processor"
#endif

/* Numbers from here on are a third ABI of x86, x32, which next to no kernel has; all bits set is
 * a call that a debugger has cancelled. */
#define X32_FIRST 0x40000000u
#define CANCELLED 0xffffffffu

static const struct {
	int number[ABI_COUNT];
	int answer; /* errno */
} rules[] = {
	/* Another kernel, or more of this one. */
	{ CALL(246, 283, 104, 347), EPERM },  /* kexec_load */
	{ CALL(320, NONE, 294, 401), EPERM }, /* kexec_file_load */
	{ CALL(175, 128, 105, 128), EPERM },  /* init_module */
	{ CALL(313, 350, 273, 379), EPERM },  /* finit_module */
	{ CALL(176, 129, 106, 129), EPERM },  /* delete_module */
	{ CALL(321, 357, 280, 386), EPERM },  /* bpf */
	/* The whole host's: swap, accounting, the clock, ports, the kernel's log. */
	{ CALL(167, 87, 224, 87), EPERM },     /* swapon */
	{ CALL(168, 115, 225, 115), EPERM },   /* swapoff */
	{ CALL(163, 51, 89, 51), EPERM },      /* acct */
	{ CALL(164, 79, 170, 79), EPERM },     /* settimeofday */
	{ CALL(227, 264, 112, 262), EPERM },   /* clock_settime */
	{ CALL(NONE, 404, NONE, 404), EPERM }, /* clock_settime64 */
	{ CALL(NONE, 25, NONE, NONE), EPERM }, /* stime */
	{ CALL(172, 110, NONE, NONE), EPERM }, /* iopl */
	{ CALL(173, 101, NONE, NONE), EPERM }, /* ioperm */
	{ CALL(103, 103, 116, 103), EPERM },   /* syslog */
	/* A file by its number, whatever directories are above it. */
	{ CALL(304, 342, 265, 371), EPERM }, /* open_by_handle_at */
	/* Large and new code, where most attacks on kernels begin; container engines refuse it,
	   too. */
	{ CALL(298, 336, 241, 364), EPERM }, /* perf_event_open */
	{ CALL(323, 374, 282, 388), EPERM }, /* userfaultfd */
	{ CALL(425, 425, 425, 425), EPERM }, /* io_uring_setup */
	{ CALL(426, 426, 426, 426), EPERM }, /* io_uring_enter */
	{ CALL(427, 427, 427, 427), EPERM }, /* io_uring_register */
	/* Kernels can be built without keys: programs go on then, runc among them. */
	{ CALL(248, 286, 217, 309), ENOSYS }, /* add_key */
	{ CALL(249, 287, 218, 310), ENOSYS }, /* request_key */
	{ CALL(250, 288, 219, 311), ENOSYS }, /* keyctl */
	/* For programs of the last century. */
	{ CALL(212, 253, 18, 249), ENOSYS },     /* lookup_dcookie */
	{ CALL(134, 86, NONE, 86), ENOSYS },     /* uselib */
	{ CALL(NONE, 166, NONE, NONE), ENOSYS }, /* vm86 */
	{ CALL(NONE, 113, NONE, NONE), ENOSYS }, /* vm86old */
};

/* Typing into a terminal that others read, and driving the console. */
static const int ioctl_numbers[] = CALL(16, 54, 29, 54);
static const unsigned ioctls[] = { TIOCSTI, TIOCLINUX };

/* Other families are code that is seldom used, or a way to what the host itself runs in (vsock). */
static const int socket_numbers[] = CALL(41, 359, 198, 281);
static const unsigned families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET };

/* How old programs call socket(), with the family where a filter can't look; 1 stands for it. */
static const int socketcall_numbers[] = CALL(NONE, 102, NONE, NONE);
static const unsigned socketcalls[] = { 1 };

/*
 * Capabilities that are of no use in a user namespace.  CAP_SYS_MODULE, CAP_SYS_TIME and CAP_SYSLOG
 * are neither, but pods name them, and runc starts no container that it can't give what it names;
 * the calls behind them are refused above.
 */
static const int useless[] = {
	CAP_SYS_RAWIO,     CAP_SYS_PACCT,     CAP_WAKE_ALARM,   CAP_MAC_ADMIN,
	CAP_AUDIT_CONTROL, CAP_BLOCK_SUSPEND, CAP_MAC_OVERRIDE, CAP_AUDIT_READ,
};

struct filter {
	struct sock_filter *code;
	unsigned short len;
};

static void emit(struct filter *filter, unsigned code, unsigned k, unsigned yes, unsigned no)
{
	filter->code[filter->len++] = (struct sock_filter){
		.code = (unsigned short)code,
		.jt = (unsigned char)yes,
		.jf = (unsigned char)no,
		.k = k,
	};
}

static void emit_load(struct filter *filter, size_t offset)
{
	emit(filter, BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

/* 0: allow the call. */
static void emit_answer(struct filter *filter, int code)
{
	emit(filter, BPF_RET | BPF_K, code ? SECCOMP_RET_ERRNO | (unsigned)code : SECCOMP_RET_ALLOW,
	     0, 0);
}

/* Skip so many instructions unless what was loaded is VALUE. */
static void emit_unless(struct filter *filter, unsigned value, size_t skipped)
{
	emit(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, (unsigned)skipped);
}

/* The call with this NUMBER gets the answer LISTED if its argument INDEX is one of VALUES, else
 * OTHERS.  The kernel reads an int, the lower half of what is passed. */
static void emit_argument(struct filter *filter, int number, size_t index, const unsigned *values,
			  size_t count, int listed, int others)
{
	if (number == NONE)
		return;
	emit_unless(filter, (unsigned)number, count * 2 + 2);
	emit_load(filter, offsetof(struct seccomp_data, args) + index * sizeof(uint64_t));
	for (size_t i = 0; i < count; i++) {
		emit_unless(filter, values[i], 1);
		emit_answer(filter, listed);
	}
	emit_answer(filter, others);
}

/* All for ABI; the ABI itself has been loaded. */
static void emit_abi(struct filter *filter, enum abi abi)
{
	unsigned short begin = filter->len;

	emit_unless(filter, abis[abi], 0);
	emit_load(filter, offsetof(struct seccomp_data, nr));
	emit_unless(filter, CANCELLED, 1);
	emit_answer(filter, 0);
	emit(filter, BPF_JMP | BPF_JGE | BPF_K, X32_FIRST, 0, 1);
	emit_answer(filter, ENOSYS);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i].number[abi] == NONE)
			continue;
		emit_unless(filter, (unsigned)rules[i].number[abi], 1);
		emit_answer(filter, rules[i].answer);
	}
	emit_argument(filter, ioctl_numbers[abi], 1, ioctls, ARRAY_SIZE(ioctls), EPERM, 0);
	emit_argument(filter, socketcall_numbers[abi], 0, socketcalls, ARRAY_SIZE(socketcalls),
		      ENOSYS, 0);
	emit_argument(filter, socket_numbers[abi], 0, families, ARRAY_SIZE(families), 0,
		      EAFNOSUPPORT);
	emit_answer(filter, 0);
	filter->code[begin].jf = (unsigned char)(filter->len - begin - 1);
}

unsigned short confine_filter(struct sock_filter ret[CONFINE_FILTER_MAX])
{
	struct filter filter = { .code = ret };

	emit_load(&filter, offsetof(struct seccomp_data, arch));
	for (enum abi abi = 0; abi < ABI_COUNT; abi++)
		emit_abi(&filter, abi);
	emit_answer(&filter, ENOSYS);
	return filter.len;
}

int confine(struct error *err)
{
	struct sock_filter code[CONFINE_FILTER_MAX];
	struct sock_fprog program = { .filter = code, .len = confine_filter(code) };

	/* An older kernel does not know all of them. */
	for (size_t i = 0; i < ARRAY_SIZE(useless); i++)
		if (prctl(PR_CAPBSET_DROP, useless[i], 0, 0, 0) < 0 && errno != EINVAL)
			return error_sys(err, "cannot limit the node's capabilities");
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return error_sys(err, "cannot filter the node's system calls");
	return 0;
}
