/* The initramfs of a VM. */
#pragma once

#include "base/error.h"

/* Let *RET_FD be a file without a name: the initramfs in the file BASE, which VMs share, followed
 * by AGENT, the agent's program, as its /init.  So a VM has the agent of the command that starts
 * it. */
int initrd_make(const char *base, const char *agent, int *ret_fd, struct error *err);
