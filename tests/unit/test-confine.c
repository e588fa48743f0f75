#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/confine.h"
#include "test.h"

/* What the filter says of a call: 0 for allowed, else the errno.  As the kernel would run it. */
static int ask(unsigned abi, int number, uint64_t first, uint64_t second)
{
	struct seccomp_data data = { .nr = number, .arch = abi, .args = { first, second } };
	struct sock_filter code[CONFINE_FILTER_MAX];
	unsigned short len = confine_filter(code);
	unsigned value = 0;

	ASSERT(len < CONFINE_FILTER_MAX);
	for (unsigned at = 0; at < len; at++) {
		const struct sock_filter *c = &code[at];
		bool yes = c->code == (BPF_JMP | BPF_JGE | BPF_K) ? value >= c->k : value == c->k;

		if (c->code == (BPF_LD | BPF_W | BPF_ABS)) {
			ASSERT(c->k + sizeof(value) <= sizeof(data));
			memcpy(&value, (char *)&data + c->k, sizeof(value));
		} else if (c->code == (BPF_RET | BPF_K)) {
			return c->k == SECCOMP_RET_ALLOW ? 0 : (int)(c->k & SECCOMP_RET_DATA);
		} else {
			at += yes ? c->jt : c->jf;
		}
	}
	test_fail(__FILE__, __LINE__, "the filter has no end");
	return -1;
}

#ifdef __x86_64__
static const unsigned native = AUDIT_ARCH_X86_64;
static const unsigned compat = AUDIT_ARCH_I386;
#else
static const unsigned native = AUDIT_ARCH_AARCH64;
static const unsigned compat = AUDIT_ARCH_ARM;
#endif

TEST(what_a_node_needs_for_nothing_is_refused)
{
	static const int calls[] = {
		SYS_kexec_load,
		SYS_kexec_file_load,
		SYS_init_module,
		SYS_finit_module,
		SYS_delete_module,
		SYS_bpf,
		SYS_swapon,
		SYS_swapoff,
		SYS_acct,
		SYS_settimeofday,
		SYS_clock_settime,
		SYS_syslog,
		SYS_perf_event_open,
		SYS_userfaultfd,
		SYS_io_uring_setup,
		SYS_io_uring_enter,
		SYS_io_uring_register,
		SYS_open_by_handle_at,
#ifdef __x86_64__
		SYS_iopl,
		SYS_ioperm,
#endif
	};
	static const int missing[] = { SYS_keyctl, SYS_add_key, SYS_request_key };

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		ASSERT_INT(ask(native, calls[i], 0, 0), EPERM);
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++)
		ASSERT_INT(ask(native, missing[i], 0, 0), ENOSYS);
}

TEST(what_nodes_and_pods_use_is_allowed)
{
	static const int calls[] = {
		SYS_read,
		SYS_execve,
		SYS_clone,
		SYS_unshare,
		SYS_setns,
		SYS_mount,
		SYS_umount2,
		SYS_pivot_root,
		SYS_move_mount,
		SYS_fsopen,
		SYS_reboot,
		SYS_ptrace,
		SYS_seccomp,
		SYS_personality,
		SYS_adjtimex,
		SYS_mknodat,
		SYS_chroot,
		SYS_sethostname,
		SYS_process_vm_readv,
		SYS_pidfd_open,
		SYS_name_to_handle_at,
	};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		ASSERT_INT(ask(native, calls[i], 0, 0), 0);
	for (int number = 0; number < 1024; number++)
		count += ask(native, number, AF_UNIX, 0) != 0;
	ASSERT(count > 20 && count < 35);
	/* What a debugger cancelled. */
	ASSERT_INT(ask(native, -1, 0, 0), 0);
}

TEST(the_families_of_sockets_are_those_of_networks)
{
	static const int good[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET };
	static const int bad[] = { AF_VSOCK, AF_ALG, AF_KEY, AF_TIPC, AF_BLUETOOTH, AF_CAN, -1 };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ASSERT_INT(ask(native, SYS_socket, (uint64_t)good[i], 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(ask(native, SYS_socket, (uint64_t)bad[i], 0), EAFNOSUPPORT);
	/* The kernel reads an int. */
	ASSERT_INT(ask(native, SYS_socket, UINT64_C(0xffffffff00000000) | AF_VSOCK, 0),
		   EAFNOSUPPORT);
}

TEST(input_cannot_be_injected_into_terminals)
{
	ASSERT_INT(ask(native, SYS_ioctl, 0, TIOCSTI), EPERM);
	ASSERT_INT(ask(native, SYS_ioctl, 0, TIOCLINUX), EPERM);
	ASSERT_INT(ask(native, SYS_ioctl, 0, UINT64_C(1) << 32 | TIOCSTI), EPERM);
	ASSERT_INT(ask(native, SYS_ioctl, 0, TIOCGWINSZ), 0);
}

TEST(other_abis_are_filtered_as_well)
{
	/* init_module and ioctl have the same numbers on i386 and arm. */
	ASSERT_INT(ask(compat, 128, 0, 0), EPERM);
	ASSERT_INT(ask(compat, 54, 0, TIOCSTI), EPERM);
	ASSERT_INT(ask(compat, 3, 0, 0), 0);
	ASSERT_INT(ask(AUDIT_ARCH_RISCV64, SYS_read, 0, 0), ENOSYS);
#ifdef __x86_64__
	ASSERT_INT(ask(native, 0x40000000 | SYS_read, 0, 0), ENOSYS);
	ASSERT_INT(ask(compat, 359, AF_VSOCK, 0), EAFNOSUPPORT);
	ASSERT_INT(ask(compat, 102, 1, 0), ENOSYS);
	ASSERT_INT(ask(compat, 102, 3, 0), 0);
#endif
}

TEST(the_kernel_takes_the_filter)
{
	if (unshare(CLONE_NEWUSER) < 0)
		test_skip("needs user namespaces");
	ASSERT_INT(confine(), 0);
	ASSERT_INT(prctl(PR_CAPBSET_READ, 17 /* CAP_SYS_RAWIO */, 0, 0, 0), 0);
	ASSERT_INT(prctl(PR_CAPBSET_READ, 21 /* CAP_SYS_ADMIN */, 0, 0, 0), 1);
	ASSERT_INT(syscall(SYS_swapoff, "/"), -1);
	ASSERT_INT(errno, EPERM);
	ASSERT_INT(syscall(SYS_keyctl, 0, 0, 0, 0, 0), -1);
	ASSERT_INT(errno, ENOSYS);
	ASSERT_INT(socket(AF_VSOCK, SOCK_STREAM, 0), -1);
	ASSERT_INT(errno, EAFNOSUPPORT);
	ASSERT(socket(AF_INET, SOCK_STREAM, 0) >= 0);
}
