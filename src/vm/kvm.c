/* Whether this host can run VMs with KVM. */

#include "vm/kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PAGE 4096u

#if defined(__x86_64__)
/* Make the vCPU begin at address 0 in real mode. */
static bool set_start(int cpu)
{
	struct kvm_regs registers = { .rip = 0, .rflags = 2 };
	struct kvm_sregs special;

	if (ioctl(cpu, KVM_GET_SREGS, &special) < 0)
		return false;
	special.cs.base = 0;
	special.cs.selector = 0;
	return ioctl(cpu, KVM_SET_SREGS, &special) == 0 &&
	       ioctl(cpu, KVM_SET_REGS, &registers) == 0;
}

/* Run the instruction HLT. */
static bool run_cpu(int vm, int size)
{
	static const unsigned char halt = 0xf4;
	unsigned char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				     -1, 0);
	struct kvm_userspace_memory_region region = { .memory_size = PAGE,
						      .userspace_addr = (uintptr_t)memory };
	cleanup_fd int cpu = -1;
	struct kvm_run *run;
	bool works;

	if (memory == MAP_FAILED)
		return false;
	*memory = halt;
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return false;
	cpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	if (cpu < 0)
		return false;
	run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	if (run == MAP_FAILED)
		return false;
	works = set_start(cpu) && ioctl(cpu, KVM_RUN, 0) == 0 && run->exit_reason == KVM_EXIT_HLT;
	(void)munmap(run, (size_t)size);
	(void)munmap(memory, PAGE);
	return works;
}
#else
static bool run_cpu(int vm, int size)
{
	return vm >= 0 && size > 0;
}
#endif

bool kvm_works(gid_t *ret_group, const char **ret_why)
{
	cleanup_fd int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	cleanup_fd int vm = -1;
	struct stat st;
	int size;

	*ret_why = NULL;
	if (kvm < 0) {
		*ret_why = errno == ENOENT ? "there is no /dev/kvm" : "/dev/kvm cannot be opened";
		return false;
	}
	if (fstat(kvm, &st) < 0 || (st.st_mode & 0060) != 0060) {
		*ret_why = "only root may use /dev/kvm, not its group";
		return false;
	}
	*ret_group = st.st_gid;
	size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	vm = size > 0 ? ioctl(kvm, KVM_CREATE_VM, 0) : -1;
	if (vm < 0 || !run_cpu(vm, size)) {
		*ret_why = "/dev/kvm cannot run a virtual CPU";
		return false;
	}
	return true;
}
