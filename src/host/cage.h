/*
 * Confinement of the front door's worker, before it accepts connections.
 *
 * The worker gives up its user, its groups, all capabilities, privileges of set-user-ID programs,
 * the file system, other processes and most system calls.  None of this can be undone.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The uid for a worker: one of 65536, chosen by a hash of NAME, so that workers of different
 * clusters very likely have different uids.  The range is above the uids of users, services,
 * subordinate ids and nodes (from 0x10000000 on), and below the owner of shared images
 * (0xfffe0000).
 */
#define CAGE_UID_FIRST 0xfffd0000u
uid_t cage_uid(const char *name);

/*
 * Likewise for QEMU of the VM in the directory NAME; the next uid is for its keeper.  Nobody else
 * has these: a VM that takes over its QEMU must not have taken over nodes or tools of other
 * clusters.
 */
#define CAGE_MACHINE_UID_FIRST 0xfffb0000u
uid_t cage_machine_uid(const char *name);

/* Whether this is a build with AddressSanitizer, which needs more memory
 * and one more system call. */
#if defined(__SANITIZE_ADDRESS__)
#define CAGE_SANITIZED 1
#elif defined(__has_feature)
#define CAGE_SANITIZED __has_feature(address_sanitizer)
#else
#define CAGE_SANITIZED 0
#endif

/*
 * Confine this process permanently.  It must have a single thread and only descriptors that it may
 * keep; it is killed when the process PARENT ends, and has at most MEMORY_MOST bytes of data. Parts
 * that the host or our rights do not allow are skipped with a warning in the log.
 */
void cage_enter(uid_t uid, pid_t parent, uint64_t memory_most);

/* Become user UID without groups other than GROUP (NULL: none), capabilities and ways to gain any.
 * Returns -1 and sets errno on failure. */
int cage_drop_rights(uid_t uid, const gid_t *group);

/* Change the root directory to an empty file system that no other process can reach. */
bool cage_leave_files(void);

/* The last part of cage_enter(): allow only the system calls that the worker makes.  Others fail
 * with EPERM and are logged.  -ENOSYS on processors without a list. */
int cage_calls(struct error *err);
