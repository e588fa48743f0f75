/* Parts of the QEMU driver: nodes that are VMs. */
#pragma once

#include "driver/driver.h"

/* Whether the node's QEMU and keeper run. */
bool qemu_runs(const struct node_spec *spec);

/* Its control group, and NAME in its directory on the host; the caller frees them. */
char *qemu_group(const struct node_spec *spec) must_check;
char *qemu_path(const struct node_spec *spec, const char *name) must_check;

/* Files there: the pids and start times of the keeper and QEMU; and what exists from the boot until
 * the services are started. */
#define QEMU_PIDS "pid"
#define QEMU_HELD "held"

/* The size of its disk in bytes; 0 if unknown. */
uint64_t qemu_disk_size(const struct node_spec *spec);

/* See prepare() and create() of struct node_driver. */
int qemu_prepare(const struct node_spec *spec, struct observer *observer, struct error *err);
int qemu_create(const struct node_spec *spec, struct error *err);

/* Whether its kernel panicked or hangs. */
bool qemu_is_lost(const struct node_spec *spec);

/* Kill QEMU and its keeper, if they run, and remove what they leave. */
int qemu_kill(const struct node_spec *spec, struct error *err);

/* Boot the VM unless it runs, without its services, and bring its files up to date. */
int qemu_boot(const struct node_spec *spec, struct error *err);

/* Run the agent's verb WORDS in the node within TIMEOUT_MS; returns 0 or a negative errno, which
 * the guest may have made up, or -EBUSY if the node is paused. */
int qemu_do(const struct node_spec *spec, char *const *words, const struct strbuf *input,
	    struct strbuf *output, size_t output_most, int timeout_ms, struct error *err);

/* Start a program; see spawn() of struct node_driver. */
int qemu_spawn(const struct node_spec *spec, char *const *argv,
	       const struct process_options *options, struct process *ret_process,
	       struct error *err);

/* Record that the VM, whose disk is about to be made, has the programs of its payload. */
int qemu_programs_record(const struct node_spec *spec, struct error *err);

/* Send the programs that the VM, which runs, is to have and has not. */
int qemu_programs_send(const struct node_spec *spec, struct error *err);

/*
 * The files of a VM, which are on its disk, and which the host never reads.  While it does not run,
 * the host has a tree with what it wrote itself and copies of some other files.  Changes are made
 * there, and are listed in the file "pending" until the VM has them.
 */
extern const struct node_files qemu_files;

/* Make the changes that the VM does not have yet in the VM, which runs. */
int qemu_files_send(const struct node_spec *spec, struct error *err);

/* Copy the files that are read while the VM does not run, before it stops. */
void qemu_files_save(const struct node_spec *spec);

/* Note that the VM has run: from now on, it has files that the host does not know. */
int qemu_files_begin(const struct node_spec *spec, struct error *err);

/* Forget all files, since the disk is gone. */
int qemu_files_forget(const struct node_spec *spec, struct error *err);
