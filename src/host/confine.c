/*
 * The seccomp filter and the capability bounding set of a node.
 *
 * The filter lists system call numbers for both ABIs of the processor, 64-bit and 32-bit, with an
 * errno for each; all other calls are allowed.  Its length costs nothing at run time: the kernel
 * evaluates it once for every number and remembers which calls are always allowed, so only ioctl()
 * and socket() are checked again.  Filters of pods apply in addition.
 */

#include "host/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"

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
#error "add the system call numbers of this processor"
#endif

/* Numbers from X32_FIRST on belong to x32, a third ABI of x86 that hardly any kernel supports.
 * CANCELLED is a call that a debugger has cancelled. */
#define X32_FIRST 0x40000000u
#define CANCELLED 0xffffffffu

static const struct {
	int number[ABI_COUNT];
	int answer; /* errno */
} rules[] = {
	/* Loading code into the kernel. */
	{ CALL(246, 283, 104, 347), EPERM },  /* kexec_load */
	{ CALL(320, NONE, 294, 401), EPERM }, /* kexec_file_load */
	{ CALL(175, 128, 105, 128), EPERM },  /* init_module */
	{ CALL(313, 350, 273, 379), EPERM },  /* finit_module */
	{ CALL(176, 129, 106, 129), EPERM },  /* delete_module */
	{ CALL(321, 357, 280, 386), EPERM },  /* bpf */
	/* Resources of the whole host: swap, accounting, clock, I/O ports, the kernel's log. */
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
	/* Opening files by handle, bypassing directories. */
	{ CALL(304, 342, 265, 371), EPERM }, /* open_by_handle_at */
	/* Large and complex code, a frequent target of attacks;
	 * container engines refuse it, too. */
	{ CALL(298, 336, 241, 364), EPERM }, /* perf_event_open */
	{ CALL(323, 374, 282, 388), EPERM }, /* userfaultfd */
	{ CALL(425, 425, 425, 425), EPERM }, /* io_uring_setup */
	{ CALL(426, 426, 426, 426), EPERM }, /* io_uring_enter */
	{ CALL(427, 427, 427, 427), EPERM }, /* io_uring_register */
	/* ENOSYS as on a kernel built without keyrings, which programs such as runc tolerate. */
	{ CALL(248, 286, 217, 309), ENOSYS }, /* add_key */
	{ CALL(249, 287, 218, 310), ENOSYS }, /* request_key */
	{ CALL(250, 288, 219, 311), ENOSYS }, /* keyctl */
	/* Obsolete calls. */
	{ CALL(212, 253, 18, 249), ENOSYS },     /* lookup_dcookie */
	{ CALL(134, 86, NONE, 86), ENOSYS },     /* uselib */
	{ CALL(NONE, 166, NONE, NONE), ENOSYS }, /* vm86 */
	{ CALL(NONE, 113, NONE, NONE), ENOSYS }, /* vm86old */
};

/* Refused ioctls: injecting input into a terminal, and controlling the console. */
static const int ioctl_numbers[] = CALL(16, 54, 29, 54);
static const unsigned ioctls[] = { TIOCSTI, TIOCLINUX };

/* Allowed address families.  The others are rarely used code, or reach the hypervisor (vsock). */
static const int socket_numbers[] = CALL(41, 359, 198, 281);
static const unsigned families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET };

/* Old programs call socket() through socketcall(1, ...), whose family a filter cannot see. */
static const int socketcall_numbers[] = CALL(NONE, 102, NONE, NONE);
static const unsigned socketcalls[] = { 1 };

/*
 * Capabilities that have no effect in a user namespace.  CAP_SYS_MODULE, CAP_SYS_TIME and
 * CAP_SYSLOG have none either, but pods request them, and runc does not start a container whose
 * capabilities are missing; their system calls are refused above.
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

/* Return the errno CODE from the call, or allow it if CODE is 0. */
static void emit_answer(struct filter *filter, int code)
{
	emit(filter, BPF_RET | BPF_K, code ? SECCOMP_RET_ERRNO | (unsigned)code : SECCOMP_RET_ALLOW,
	     0, 0);
}

/* Unless the loaded word equals VALUE, skip SKIPPED instructions. */
static void emit_unless(struct filter *filter, unsigned value, size_t skipped)
{
	emit(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, (unsigned)skipped);
}

/* Answer the call NUMBER with LISTED if its argument INDEX is one of VALUES, else with OTHERS. Only
 * the lower 32 bits are compared, because the kernel reads an int. */
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

/* Emit all rules for ABI.  The loaded word is the architecture. */
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

int confine(void)
{
	struct sock_filter code[CONFINE_FILTER_MAX];
	struct sock_fprog program = { .filter = code, .len = confine_filter(code) };

	/* EINVAL: an older kernel does not know the capability. */
	for (size_t i = 0; i < ARRAY_SIZE(useless); i++)
		if (prctl(PR_CAPBSET_DROP, useless[i], 0, 0, 0) < 0 && errno != EINVAL)
			return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
