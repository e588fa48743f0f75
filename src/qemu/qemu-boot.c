/* Making and booting VMs. */

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/path.h"
#include "cgroup/cgroup.h"
#include "cgroup/scope.h"
#include "driver/agent-path.h"
#include "driver/native-link.h"
#include "driver/tree.h"
#include "host/cage.h"
#include "host/link.h"
#include "qemu/qemu.h"
#include "vm/base.h"
#include "vm/keeper.h"
#include "vm/machine.h"
#include "vm/session.h"
#include "vm/tap.h"

#define READY_MS 90000 /* until the agent answers, on a busy host */
#define BOOTS    3     /* how often a guest that hangs is started anew */

#define SIZE "size" /* that of its disk */
#define BASE "base" /* the directory of the base that its disk needs */

static bool has_disk(const struct node_spec *spec)
{
	cleanup_free char *disk = qemu_path(spec, "disk.qcow2");

	return file_exists(disk);
}

/* What a VM cannot have.  A kubelet of its own it gets otherwise. */
static int check_spec(const struct node_spec *spec, struct error *err)
{
	const char *what = NULL;

	for (size_t i = 0; i < spec->mount_count; i++)
		if (strcmp(spec->mounts[i].node, NODE_KUBELET) != 0)
			what = "have directories or files of this host mounted";

	if (!what)
		return 0;
	(void)error_because(err, &reason_usage, -ENOTSUP, "node '%s' is a VM and cannot %s",
			    spec->name, what);
	return error_hint(err, -ENOTSUP, "nodes with --driver=native can");
}

/* What the disk of the node is to build upon. */
static struct vm_source source_of(const struct node_spec *spec)
{
	return (struct vm_source){ .payload = spec->payload,
				   .kernel = spec->kernel,
				   .root = spec->base_image };
}

/* Emulated, an API server takes minutes to start, and requests to etcd time out. */
static int refuse_slow(const struct node_spec *spec, const char *why, struct error *err)
{
	(void)error_because(err, &reason_host_unsupported, -ENOTSUP,
			    "node '%s' cannot be a control plane, since it would be emulated, too "
			    "slowly for etcd: %s",
			    spec->name, why);
	return error_hint(err, -ENOTSUP,
			  "VMs can be workers here: 'manykube start', then 'manykube node add "
			  "--driver=qemu'; --force tries it all the same");
}

int qemu_prepare(const struct node_spec *spec, struct observer *observer, struct error *err)
{
	cleanup_with(vm_base_release) struct vm_base base = VM_BASE_INIT;
	const struct vm_source source = source_of(spec);
	const char *why;
	gid_t group;
	int r = check_spec(spec, err);

	if (r < 0)
		return r;
	if (spec->dir && !qemu_runs(spec) && !machine_has_kvm(&group, &why)) {
		cleanup_free char *text = xasprintf("node '%s' is emulated, which is many times "
						    "slower than KVM: %s",
						    spec->name, why);

		if (spec->demanding)
			return refuse_slow(spec, why, err);
		observe_note(observer, text);
	}
	if (spec->dir && has_disk(spec))
		return 0;
	return vm_base_ensure(&source, spec->offline, observer, &base, err);
}

/* Record which base the disk of the node needs, before there is a disk. */
static int record_base(const struct node_spec *spec, const struct vm_base *base, struct error *err)
{
	cleanup_free char *path = qemu_path(spec, BASE);
	cleanup_free char *dir = xstrndup(base->disk,
					  (size_t)(path_last_name(base->disk) - base->disk));

	return file_replace(path, dir, strlen(dir), 0644, err);
}

static int read_base(const struct node_spec *spec, struct vm_base *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf dir = STRBUF_INIT;
	cleanup_free char *path = qemu_path(spec, BASE);
	int r = file_read(path, 4096, &dir, err);

	if (r < 0)
		return r;
	*ret = (struct vm_base){ .kernel = xasprintf("%skernel", dir.text),
				 .initrd = xasprintf("%sinitrd", dir.text),
				 .disk = xasprintf("%sdisk", dir.text) };
	if (file_exists(ret->disk))
		return 0;
	(void)error_because(err, &reason_node_failed, -ENOENT,
			    "the disk image '%s', on which that of node '%s' builds, was removed",
			    ret->disk, spec->name);
	return error_hint(err, -ENOENT,
			  "restore it from a copy of the cache, or replace the node by another");
}

uint64_t qemu_disk_size(const struct node_spec *spec)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = qemu_path(spec, SIZE);
	unsigned long long bytes;

	if (file_read(path, 64, &text, NULL) < 0 ||
	    parse_number(text.text, 0, INT64_MAX, &bytes, NULL) < 0)
		return 0;
	return bytes;
}

static int record_size(const struct node_spec *spec, uint64_t bytes, struct error *err)
{
	cleanup_free char *path = qemu_path(spec, SIZE);
	cleanup_free char *text = xasprintf("%llu", (unsigned long long)bytes);

	return file_put(path, text, strlen(text), 0644, err);
}

/* Let the disk of the VM, which runs, grow to what it should have.  It never shrinks. */
static int grow_disk(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *word = xasprintf("size %llu", (unsigned long long)spec->disk_bytes);
	int r;

	if (spec->disk_bytes <= qemu_disk_size(spec))
		return 0;
	r = session_control(spec->dir, word, clock_now_ms() + READY_MS, err);
	if (r == 0)
		r = qemu_do(spec, ARGV("grow"), NULL, NULL, 0, READY_MS, err);
	if (r == 0)
		r = record_size(spec, spec->disk_bytes, err);
	return r;
}

int qemu_create(const struct node_spec *spec, struct error *err)
{
	cleanup_with(vm_base_release) struct vm_base base = VM_BASE_INIT;
	const struct vm_source source = source_of(spec);
	uint64_t size = spec->disk_bytes ? spec->disk_bytes : MACHINE_DISK_DEFAULT;
	int r;

	/* A guest that hangs is started anew. */
	if (qemu_runs(spec) && !qemu_is_lost(spec))
		return 0;
	r = check_spec(spec, err);
	if (r == 0)
		r = qemu_kill(spec, err);
	if (r == 0 && !has_disk(spec))
		r = qemu_files_forget(spec, err);
	if (r == 0)
		r = node_tree_make(spec->dir, err);
	if (r < 0 || has_disk(spec))
		return r;
	r = vm_base_find(&source, &base, err);
	if (r == 0)
		r = record_base(spec, &base, err);
	if (r == 0)
		r = record_size(spec, size, err);
	if (r == 0)
		r = qemu_programs_record(spec, err);
	if (r == 0)
		r = machine_make_disk(spec->dir, &base, size, err);
	return r == -ENOSPC ? error_reason(err, r, &reason_storage) : r;
}

static int record_pids(const struct node_spec *spec, pid_t keeper, pid_t qemu, struct error *err)
{
	cleanup_free char *path = qemu_path(spec, QEMU_PIDS);
	cleanup_free char *text = xasprintf(
		"%d %llu %d %llu\n", (int)keeper, (unsigned long long)process_start_time(keeper),
		(int)qemu, (unsigned long long)process_start_time(qemu));

	return file_put(path, text, strlen(text), 0644, err);
}

static unsigned cpus_of(const struct node_spec *spec)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (spec->cpus)
		return spec->cpus;
	return online > 0 && online < (long)MACHINE_CPUS_DEFAULT ? (unsigned)online
								 : MACHINE_CPUS_DEFAULT;
}

static uint64_t memory_of(const struct node_spec *spec)
{
	return spec->memory_bytes ? MAX(spec->memory_bytes, MACHINE_MEMORY_LEAST)
				  : MACHINE_MEMORY_DEFAULT;
}

/* Everything up to the start of QEMU. */
static int begin(const struct node_spec *spec, const char *group, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	cleanup_with(vm_base_release) struct vm_base base = VM_BASE_INIT;
	cleanup_free char *link = native_link_name(spec);
	cleanup_free char *agent = NULL;
	cleanup_fd int tap = -1;
	uint64_t memory = memory_of(spec);
	struct machine machine = { .dir = spec->dir,
				   .name = spec->name,
				   .group = group,
				   .uid = cage_machine_uid(spec->dir),
				   .base = &base,
				   .cpus = cpus_of(spec),
				   .memory_bytes = memory,
				   .address = spec->address,
				   .prefix = spec->prefix,
				   .gateway = spec->gateway,
				   .default_route = spec->default_route };
	const char *why;
	pid_t keeper;
	pid_t qemu;
	int r = read_base(spec, &base, err);

	if (r == 0)
		r = agent_find(&agent, err);
	if (r == 0)
		r = cgroup_create(group, err);
	if (r == 0)
		r = cgroup_limit(group, machine.cpus, memory + machine_overhead(memory), err);
	if (r == 0)
		r = link_open(&host, err);
	if (r == 0)
		r = tap_add(host, link, spec->bridge, &tap, err);
	if (r < 0)
		return r;
	machine.agent = agent;
	machine.tap = tap;
	machine.kvm = machine_has_kvm(&machine.kvm_group, &why);
	r = machine_start(&machine, &keeper, &qemu, err);
	return r < 0 ? r : record_pids(spec, keeper, qemu, err);
}

int qemu_kill(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *group = qemu_group(spec);
	cleanup_free char *pids = qemu_path(spec, QEMU_PIDS);
	cleanup_free char *socket = qemu_path(spec, KEEPER_SOCKET);
	int r = cgroup_kill(group, err);

	if (r == 0)
		r = cgroup_remove(group, err);
	(void)unlink(pids);
	(void)unlink(socket);
	return r;
}

/* The last line of what QEMU said, if it ended at once. */
static int explain(const struct node_spec *spec, int r, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf said = STRBUF_INIT;
	cleanup_free char *log = qemu_path(spec, "qemu.log");
	const char *line;

	if (qemu_runs(spec) || file_read(log, 1 << 16, &said, NULL) < 0 || said.len == 0)
		return r;
	strbuf_trim_end(&said);
	line = strrchr(said.text, '\n');
	return error_set(err, r, "QEMU ended: %s", line ? line + 1 : said.text);
}

/* Start it, and again if the guest hangs or ends before it answers, as after a panic. */
static int boot(const struct node_spec *spec, const char *group, struct error *err)
{
	cleanup_free char *held = qemu_path(spec, QEMU_HELD);
	int r = file_put(held, "", 0, 0644, err);

	for (int i = 0; r == 0 && i < BOOTS; i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		r = qemu_kill(spec, err);
		if (r == 0)
			r = begin(spec, group, err);
		if (r < 0)
			return r;
		r = session_control(spec->dir, "ready", clock_now_ms() + READY_MS, &why);
		if (r == 0)
			break;
		r = explain(spec, r, &why);
		log_debug("node '%s' does not come up: %s", spec->name, why.text);
		if (i + 1 == BOOTS || (r != -ETIMEDOUT && r != -EPIPE && qemu_runs(spec)))
			return error_move(err, r, &why);
		r = 0;
	}
	return r;
}

int qemu_boot(const struct node_spec *spec, struct error *err)
{
	cleanup_with(scope_release) struct scope scope = SCOPE_INIT;
	cleanup_free char *group = qemu_group(spec);
	int r = check_spec(spec, err);

	if (r == 0)
		r = scope_open(spec->cluster, spec->profile, &scope, err);
	if (r == 0)
		r = boot(spec, group, err);
	if (r == 0)
		r = grow_disk(spec, err);
	if (r == 0)
		r = qemu_files_begin(spec, err);
	return r == 0 ? qemu_files_send(spec, err) : r;
}
