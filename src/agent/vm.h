/* The agent as the first process of a VM: in the initramfs, then in the root file system. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

/* As /init of the initramfs: mount the root file system, and /init in it as the agent, and execute
 * that there.  So the agent is never that of the disk.  Powers the VM off if this is impossible. */
_Noreturn void vm_enter_root(void);

/* As PID 1 in the root file system: mount, load modules, set up the network, and start the
 * channel's process; returns once the host has written the node's files. */
void vm_begin(const char *state_file);

/* Record that the child PID ended; the channel's process is started again. */
void vm_ended(pid_t pid);

/* Let the root file system have the whole disk: the image was only as large as its contents, and a
 * disk may have grown since.  Returns an errno. */
int vm_grow_disk(void);

/* Write everything to the disk and power off. */
_Noreturn void vm_power_off(void);
