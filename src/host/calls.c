/*
 * The seccomp filter of the front door's worker.
 *
 * Refused system calls raise SIGSYS; the handler logs the call and makes it fail with EPERM.  The
 * handler cannot be replaced, because sigaction is not on the list.
 */

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/cleanup.h"
#include "host/cage.h"

#if defined(__x86_64__)
#define OUR_ARCH           AUDIT_ARCH_X86_64
#define RESULT_OF(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define OUR_ARCH           AUDIT_ARCH_AARCH64
#define RESULT_OF(context) ((context)->uc_mcontext.regs[0])
#endif

#ifdef OUR_ARCH

#define REFUSE SECCOMP_RET_TRAP

/* Calls that are allowed with any arguments. */
static const unsigned calls[] = {
	/* Connections. */
	SYS_accept4,
	SYS_connect,
	SYS_getpeername,
	SYS_getsockname,
	SYS_getsockopt,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_sendto,
	SYS_shutdown,
	SYS_read,
	SYS_write,
	SYS_close,
	/* The event loop. */
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_restart_syscall,
	SYS_rt_sigreturn,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	/* Memory. */
	SYS_brk,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_futex,
	/* Time, random numbers, file status and the log. */
	SYS_clock_gettime,
	SYS_gettimeofday,
	SYS_getrandom,
	SYS_getpid,
	SYS_gettid,
	SYS_fstat,
	SYS_newfstatat,
	SYS_lseek,
	SYS_sysinfo,
#ifdef SYS_time
	SYS_time,
#endif
#if CAGE_SANITIZED
	SYS_sigaltstack,
#endif
	/* Exiting, also by abort(). */
	SYS_rt_sigprocmask,
	SYS_exit,
	SYS_exit_group,
};

/* A condition: the lower 32 bits of an argument, masked, must be one of two values. */
struct check {
	unsigned argument;
	uint32_t mask;
	uint32_t values[2];
};

/* Calls that are allowed with these arguments only.  Other protocols than TCP and UDP would make
 * the kernel load modules. */
static const struct {
	unsigned call;
	unsigned count;
	struct check checks[2];
} checked_calls[] = {
	{ SYS_socket,
	  2,
	  { { 0, UINT32_MAX, { AF_INET, AF_INET6 } }, { 2, UINT32_MAX, { 0, 0 } } } },
	{ SYS_setsockopt, 1, { { 1, UINT32_MAX, { SOL_SOCKET, IPPROTO_TCP } } } },
	{ SYS_fcntl, 1, { { 1, UINT32_MAX, { F_DUPFD_CLOEXEC, F_GETFL } } } },
	{ SYS_mmap, 1, { { 2, PROT_EXEC, { 0, 0 } } } },
	{ SYS_mprotect, 1, { { 2, PROT_EXEC, { 0, 0 } } } },
};

static void on_refused(arg_unused int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	char line[] = "the front door's worker was refused the system call 0000\n";
	char *digit = line + sizeof(line) - 3;

	for (int number = info->si_syscall, i = 0; i < 4; i++, number /= 10)
		*digit-- = (char)('0' + number % 10);
	(void)!write(STDERR_FILENO, line, sizeof(line) - 1);
	RESULT_OF(context) = -EPERM;
}

struct program {
	struct sock_filter steps[256];
	unsigned short count;
};

static void add_step(struct program *program, struct sock_filter step)
{
	assert(program->count < ARRAY_SIZE(program->steps));
	program->steps[program->count++] = step;
}

static void add_load(struct program *program, size_t offset)
{
	add_step(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* If the loaded word equals VALUE, skip SKIPPED steps. */
static void add_skip(struct program *program, uint32_t value, uint8_t skipped)
{
	add_step(program,
		 (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skipped, 0));
}

/* Unless the loaded word equals VALUE, skip SKIPPED steps. */
static void add_test(struct program *program, uint32_t value, uint8_t skipped)
{
	add_step(program,
		 (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
}

static void add_verdict(struct program *program, uint32_t verdict)
{
	add_step(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* Refuse the call unless CHECK holds.  Adds five steps. */
static void add_check(struct program *program, const struct check *check)
{
	/* The lower 32 bits come first: both supported processors are little-endian. */
	add_load(program, offsetof(struct seccomp_data, args) + check->argument * 8);
	add_step(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, check->mask));
	add_skip(program, check->values[0], 2);
	add_skip(program, check->values[1], 1);
	add_verdict(program, REFUSE);
}

static void add_checked(struct program *program, unsigned call, const struct check *checks,
			unsigned count)
{
	add_test(program, call, (uint8_t)(5 * count + 1));
	for (unsigned i = 0; i < count; i++)
		add_check(program, &checks[i]);
	add_verdict(program, SECCOMP_RET_ALLOW);
}

static void build(struct program *program)
{
	/* abort() sends a signal; only signals to ourselves are allowed. */
	uint32_t own = (uint32_t)getpid();
	struct check to_ourselves = { 0, UINT32_MAX, { own, own } };

	add_load(program, offsetof(struct seccomp_data, arch));
	add_skip(program, OUR_ARCH, 1);
	add_verdict(program, SECCOMP_RET_KILL_PROCESS);
	add_load(program, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		add_test(program, calls[i], 1);
		add_verdict(program, SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < ARRAY_SIZE(checked_calls); i++)
		add_checked(program, checked_calls[i].call, checked_calls[i].checks,
			    checked_calls[i].count);
	add_checked(program, SYS_tgkill, &to_ourselves, 1);
	/* This also refuses calls of the x32 ABI, whose numbers have an extra bit. */
	add_verdict(program, REFUSE);
}

int cage_calls(struct error *err)
{
	struct sigaction action = { .sa_sigaction = on_refused, .sa_flags = SA_SIGINFO };
	struct program program = { .count = 0 };
	struct sock_fprog filter = { .filter = program.steps };

	build(&program);
	filter.len = program.count;
	if (sigaction(SIGSYS, &action, NULL) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0)
		return error_sys(err, "cannot filter system calls");
	return 0;
}

#else

int cage_calls(struct error *err)
{
	return error_set(err, -ENOSYS, "there is no list of system calls for this processor");
}

#endif
