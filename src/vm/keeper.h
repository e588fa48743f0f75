/*
 * The keeper of a VM: one process per VM, beside QEMU, that owns its channel, its monitor and its
 * console, and lets any number of commands of this host use them.
 *
 * It has no rights: a uid of its own, an empty root, no network.  It trusts neither the guest nor
 * QEMU.  It ends when QEMU does.
 *
 * Commands connect to the socket KEEPER_SOCKET in the VM's directory, which only root can reach,
 * and exchange frames (agent/frames.h).  A connection is one session: the first frame is
 * FRAME_OPEN, which is passed on to the guest, as are those that follow; FRAME_GO or FRAME_CLOCK or
 * FRAME_SHUTDOWN, passed on and answered by FRAME_EXIT; or FRAME_CONTROL with one of the words
 * "pause", "resume", "quit" or "size BYTES" (of the disk) for QEMU, answered by FRAME_EXIT or
 * FRAME_FAILED once it is done, or "ready", answered once the guest's agent is there.  Closing the
 * connection ends the session.
 *
 * What the keeper knows is in the file KEEPER_STATE, of KEEPER_STATE_BYTES, padded with newlines:
 * a line "vm STATE", where STATE is one of vm_states; perhaps a line "trouble WORDS"; and then what
 * the agent reports of its services, which the guest can forge.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define KEEPER_SOCKET      "keeper.sock"
#define KEEPER_STATE       "state"
#define KEEPER_STATE_BYTES 4096
#define KEEPER_CONSOLE     "console.log"

/* The most bytes of the console that are kept. */
#define KEEPER_CONSOLE_MOST (1u << 20)

enum vm_state {
	VM_BOOTING, /* the agent has not answered yet */
	VM_RUNNING,
	VM_PAUSED,
	VM_STOPPING, /* the agent was told to shut down */
	VM_ENDED,
};

extern const char *const vm_states[];

/* What a keeper can say of a guest; NULL for other words.  FATAL: it has to be started anew. */
const char *keeper_trouble(const char *words, bool *ret_fatal);

/* The descriptors of a keeper, in this order its program's arguments. */
struct keeper_fds {
	int listener;
	int monitor;
	int channel;
	int console;
	int log;   /* the console's file */
	int state; /* KEEPER_STATE */
};

/* Be the keeper of a VM, with rights of UID only, until its QEMU ends. */
int keeper_run(const struct keeper_fds *fds, uid_t uid, struct error *err);
