/* Whether this host can run VMs with KVM. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Run a virtual CPU for one instruction, and see whether members of the group of /dev/kvm may use
 * it, which is *RET_GROUP: QEMU does not run as root.  That /dev/kvm can be opened proves nothing:
 * on some hosts it is there without a processor that it could use.  *RET_WHY is a constant text if
 * it does not work.
 */
bool kvm_works(gid_t *ret_group, const char **ret_why);
