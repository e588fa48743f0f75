/* Using a VM through its keeper; see vm/keeper.h.  DIR is the VM's directory. */
#pragma once

#include "base/error.h"
#include "base/process.h"
#include "base/strbuf.h"

/* Start ARGV in the guest, as its root; errors and OPTIONS are those of a driver's spawn(). */
int session_spawn(const char *dir, char *const *argv, const struct process_options *options,
		  struct process *ret_process, struct error *err);

/* What session_call() passes to the program and gets from it. */
struct session_data {
	const char *input;
	size_t input_len;
	struct strbuf *output; /* NULL: dropped */
	size_t output_most;    /* -EFBIG if it is more */
};

/* Run ARGV in the guest and wait for it until DEADLINE_MS.  Returns its exit status. */
int session_call(const char *dir, char *const *argv, const struct session_data *data,
		 int64_t deadline_ms, struct error *err);

/* Have the keeper do WORD; see FRAME_CONTROL in vm/keeper.h. */
int session_control(const char *dir, const char *word, int64_t deadline_ms, struct error *err);

/* Tell the agent to start services, or to shut down. */
int session_go(const char *dir, struct error *err);
int session_shut_down(const char *dir, struct error *err);
