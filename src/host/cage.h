/*
 * What the front door's worker gives up before it talks to anybody.
 *
 * It can't come back from any of it: its user, its groups, all capabilities, new privileges by
 * programs that have them, the file system, other processes, most system calls.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/*
 * Workers have ids of their own: above all that people, services, subordinate ids and nodes (from
 * 0x10000000 on) are given, below the owner of shared images (0xfffe0000).  NAME, any text, chooses
 * one of 65536, so that workers of different clusters are most likely not each other's.
 */
#define CAGE_UID_FIRST 0xfffd0000u
uid_t cage_uid(const char *name);

/* A build with sanitizers needs more memory and one more system call. */
#if defined(__SANITIZE_ADDRESS__)
#define CAGE_SANITIZED 1
#elif defined(__has_feature)
#define CAGE_SANITIZED __has_feature(address_sanitizer)
#else
#define CAGE_SANITIZED 0
#endif

/*
 * Confine this process, which has a single thread and no descriptors but those that it may keep,
 * for good; it dies with the process PARENT.  What this host or our own rights do not allow is left
 * out, with a warning in the log.
 */
void cage_enter(uid_t uid, pid_t parent);

/* The last part of it: allow only the system calls that the worker makes.  Others fail with EPERM,
 * and are logged.  -ENOSYS on machines that we have no list for. */
int cage_calls(struct error *err);
