/* A running VM: QEMU and its keeper (vm/keeper.h). */
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include "base/error.h"
#include "vm/base.h"

struct machine {
	const char *dir;   /* of the VM on this host; disk.qcow2, state, console.log */
	const char *name;  /* the guest's host name */
	const char *group; /* the control group for QEMU and the keeper */
	uid_t uid;         /* QEMU's; the keeper has the next one */
	const struct vm_base *base;
	const char *agent; /* its program on this host */
	unsigned cpus;
	uint64_t memory_bytes;
	struct in_addr address;
	unsigned prefix;
	struct in_addr gateway;
	bool default_route;
	int tap;
	bool kvm;
	gid_t kvm_group; /* which may use KVM */
};

/* Whether QEMU can use KVM here, as a member of *RET_GROUP; else *RET_WHY is a constant text. */
bool machine_has_kvm(gid_t *ret_group, const char **ret_why);

/* The least memory of a VM, and what it has if nobody says so. */
#define MACHINE_MEMORY_LEAST   (UINT64_C(512) << 20)
#define MACHINE_MEMORY_DEFAULT (UINT64_C(2) << 30)
#define MACHINE_CPUS_DEFAULT   2u
#define MACHINE_DISK_DEFAULT   (UINT64_C(20) << 30)

/* The memory that QEMU and the keeper need beside the guest's. */
uint64_t machine_overhead(uint64_t memory_bytes);

/* The programs of QEMU; ends with NULL. */
extern const char *const machine_programs[];

/* Make DIR/disk.qcow2, a layer of SIZE bytes above the image of BASE, unless it exists. */
int machine_make_disk(const char *dir, const struct vm_base *base, uint64_t size,
		      struct error *err);

/* Start it; *RET_KEEPER and *RET_QEMU are the pids. The guest is booting then. */
int machine_start(const struct machine *machine, pid_t *ret_keeper, pid_t *ret_qemu,
		  struct error *err);
