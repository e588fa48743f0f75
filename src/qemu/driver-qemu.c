/*
 * Nodes that are virtual machines: QEMU with KVM or, where that does not work, emulation.
 *
 * How a node starts:
 *
 *  1. QEMU and its keeper are started in the node's control group, with the node's limits; see
 *     vm/machine.c and vm/keeper.h.
 *  2. The agent, PID 1 of the guest, mounts, sets up the network and answers the keeper.
 *  3. Programs that it has not, and files that were written while it did not run, are sent to it;
 * see qemu/qemu-programs.c and qemu/qemu-files.c.
 *  4. The agent is told to start the services.
 *
 * The guest is hostile: all that the host gets from it are bytes from the channel, the console and
 * the monitor.  No file system that it wrote is ever mounted.
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "cgroup/cgroup.h"
#include "cgroup/scope.h"
#include "driver/agent-path.h"
#include "driver/agent-state.h"
#include "driver/native-link.h"
#include "driver/tree.h"
#include "host/link.h"
#include "qemu/qemu.h"
#include "vm/base.h"
#include "vm/keeper.h"
#include "vm/machine.h"
#include "vm/session.h"

#define STOP_POLL_MS 20
#define SLACK_MS     3000 /* for the way to the guest and back */
#define CONTROL_MS   10000
#define ROUTE_MS     30000

char *qemu_group(const struct node_spec *spec)
{
	cleanup_free char *cluster = scope_group(spec->cluster);

	return xasprintf("%s/%s", cluster, spec->name);
}

char *qemu_path(const struct node_spec *spec, const char *name)
{
	return xasprintf("%s/%s", spec->dir, name);
}

/* Read the recorded pids and start times of the keeper and QEMU. */
static bool read_pids(const struct node_spec *spec, pid_t *ret_pids, uint64_t *ret_times)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = qemu_path(spec, QEMU_PIDS);
	unsigned long long numbers[4];

	if (file_read(path, 256, &text, NULL) < 0 ||
	    sscanf(text.text, "%llu %llu %llu %llu", &numbers[0], &numbers[1], &numbers[2],
		   &numbers[3]) != 4)
		return false;
	for (int i = 0; i < 2; i++) {
		ret_pids[i] = (pid_t)numbers[2 * i];
		ret_times[i] = numbers[2 * i + 1];
	}
	return true;
}

bool qemu_runs(const struct node_spec *spec)
{
	uint64_t times[2];
	pid_t pids[2];

	return read_pids(spec, pids, times) && process_is(pids[0], times[0]) &&
	       process_is(pids[1], times[1]);
}

static int not_running(const struct node_spec *spec, struct error *err)
{
	return error_because(err, &reason_node_not_running, -ESRCH, "node '%s' does not run",
			     spec->name);
}

/* What the keeper wrote last: the state of the VM, and its trouble or NULL. */
static const char *read_state(const struct node_spec *spec, enum vm_state *ret_state,
			      bool *ret_fatal)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;

	*ret_state = VM_ENDED;
	*ret_fatal = false;
	if (node_tree_read_state(spec->dir, &text, NULL) < 0)
		return NULL;
	strlist_split(&lines, text.text, '\n');
	if (lines.count > 0 && strncmp(lines.items[0], "vm ", 3) == 0)
		for (int i = 0; vm_states[i]; i++)
			if (strcmp(lines.items[0] + 3, vm_states[i]) == 0)
				*ret_state = i;
	line = lines.count > 1 ? lines.items[1] : "";
	return strncmp(line, "trouble ", 8) == 0 ? keeper_trouble(line + 8, ret_fatal) : NULL;
}

bool qemu_is_lost(const struct node_spec *spec)
{
	enum vm_state state;
	bool fatal;
	const char *trouble = read_state(spec, &state, &fatal);

	return trouble && fatal;
}

static enum vm_state state_of(const struct node_spec *spec)
{
	enum vm_state state;
	bool fatal;

	(void)read_state(spec, &state, &fatal);
	return state;
}

static bool has_program(const char *name)
{
	cleanup_free char *path = process_find(name);

	return path != NULL;
}

static int probe(arg_unused bool with_disks, struct error *err)
{
	cleanup_free char *agent = NULL;
	const char *const *const all[] = { machine_programs, vm_base_programs };
	cleanup_with(strlist_release) struct strlist missing = STRLIST_INIT;
	cleanup_free char *names = NULL;
	int r = agent_find(&agent, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (const char *const *name = all[i]; *name; name++)
			if (!has_program(*name))
				strlist_add(&missing, *name);
	if (missing.count > 0) {
		names = strlist_join(&missing, ", ");
		(void)error_because(err, &reason_host_missing_tool, -ENOENT,
				    "VMs need programs that this host lacks: %s", names);
		return error_hint(err, -ENOENT,
				  "apt-get install qemu-system-x86 qemu-utils busybox e2fsprogs "
				  "nftables libc-bin");
	}
	if (access("/dev/net/tun", R_OK | W_OK) < 0)
		return error_reason(err,
				    error_sys(err, "VMs need taps, but cannot open /dev/net/tun"),
				    &reason_host_unsupported);
	return 0;
}

static char *find_caveat(void)
{
	const char *why;
	gid_t group;

	if (machine_has_kvm(&group, &why))
		return NULL;
	return xasprintf("without KVM, VMs are emulated, and many times slower: %s", why);
}

static int check_host(probe_fn fn, void *data)
{
	const char *const *const all[] = { machine_programs, vm_base_programs };
	struct probe_result kvm = { .name = "KVM", .purpose = "makes VMs fast" };
	const char *why;
	gid_t group;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (const char *const *name = all[i]; *name; name++) {
			cleanup_free char *path = process_find(*name);
			cleanup_free char *text = path ? NULL
						       : xasprintf("program '%s' not found", *name);
			struct probe_result result = {
				.name = *name,
				.purpose = "runs VMs, or makes their disk images",
				.state = path ? PROBE_OK : PROBE_WARNING,
				.text = path ? path : text,
				.remedy = path ? NULL : "needed only for --driver=qemu",
			};
			int r = fn(&result, data);

			if (r < 0)
				return r;
		}
	kvm.state = machine_has_kvm(&group, &why) ? PROBE_OK : PROBE_WARNING;
	kvm.text = why ? why : "a virtual CPU runs";
	kvm.remedy = why ? "without it, VMs are emulated, and many times slower" : NULL;
	return fn(&kvm, data);
}

static int start(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *held = qemu_path(spec, QEMU_HELD);
	int r = qemu_runs(spec) ? 0 : qemu_boot(spec, err);

	if (r == 0 && file_exists(held)) {
		r = qemu_programs_send(spec, err);
		if (r == 0)
			r = qemu_files_send(spec, err);
		if (r == 0)
			r = session_go(spec->dir, err);
		if (r == 0 && unlink(held) < 0)
			r = error_sys(err, "cannot remove '%s'", held);
	}
	return r < 0 ? error_reason(err, error_prefix(err, r, "cannot start node '%s'", spec->name),
				    &reason_node_failed)
		     : 0;
}

static int limit(const struct node_spec *spec, struct error *err)
{
	if (!qemu_runs(spec))
		return not_running(spec, err);
	(void)error_because(err, &reason_usage, -ENOTSUP,
			    "node '%s' is a VM, whose CPUs and memory change only when it starts",
			    spec->name);
	return error_hint(err, -ENOTSUP,
			  "run 'manykube node stop %s' first, and start the node after the change",
			  spec->name);
}

static int stop(const struct node_spec *spec, unsigned grace_seconds, struct error *err)
{
	int64_t deadline = clock_now_ms() + (int64_t)grace_seconds * 1000;
	enum vm_state state;
	int r;

	if (qemu_runs(spec) && grace_seconds > 0) {
		state = state_of(spec);
		if (state == VM_PAUSED)
			(void)session_control(spec->dir, "resume", clock_now_ms() + CONTROL_MS,
					      NULL);
		if (state == VM_RUNNING || state == VM_PAUSED)
			qemu_files_save(spec);
		if (state == VM_STOPPING || session_shut_down(spec->dir, NULL) == 0)
			while (qemu_runs(spec) && clock_poll(deadline, STOP_POLL_MS))
				;
	}
	r = qemu_kill(spec, err);
	return r < 0 ? error_prefix(err, r, "cannot stop node '%s'", spec->name) : 0;
}

static int freeze(const struct node_spec *spec, bool frozen, struct error *err)
{
	enum vm_state state;
	int r;

	if (!qemu_runs(spec))
		return frozen ? not_running(spec, err) : 0;
	state = state_of(spec);
	if (frozen == (state == VM_PAUSED))
		return 0;
	r = session_control(spec->dir, frozen ? "pause" : "resume", clock_now_ms() + CONTROL_MS,
			    err);
	if (r == 0)
		return 0;
	error_prefix(err, r, "cannot %s node '%s'", frozen ? "pause" : "unpause", spec->name);
	return error_reason(err, r, &reason_node_failed);
}

static int destroy(const struct node_spec *spec, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	cleanup_free char *link = native_link_name(spec);
	int r = stop(spec, 0, err);

	if (r == 0)
		r = link_open(&host, err);
	if (r == 0)
		r = link_delete(host, link, err);
	return r < 0 ? r : file_remove_tree(spec->dir, err);
}

static int destroy_cluster(const char *cluster, struct error *err)
{
	int r = native_link_remove_all(cluster, err);

	return r < 0 ? r : scope_destroy(cluster, err);
}

static enum node_state query(const struct node_spec *spec)
{
	if (qemu_runs(spec))
		return NODE_RUNNING;
	return file_exists(spec->dir) ? NODE_STOPPED : NODE_ABSENT;
}

static void measure(const struct node_spec *spec, struct node_usage *ret_usage)
{
	cleanup_with(agent_state_release) struct agent_state agent = AGENT_STATE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *group = qemu_group(spec);
	cleanup_free char *disk = qemu_path(spec, "disk.qcow2");
	enum vm_state state;
	bool fatal;
	const char *trouble = read_state(spec, &state, &fatal);
	bool runs = qemu_runs(spec);
	struct stat st;

	if (runs && node_tree_read_state(spec->dir, &text, NULL) == 0)
		agent_state_parse(text.text, &agent);
	*ret_usage = (struct node_usage){
		.memory_bytes = runs ? cgroup_memory_bytes(group) : 0,
		.paused = runs && state == VM_PAUSED,
		.stopping = runs && (state == VM_STOPPING || agent_state_is_stopping(&agent)),
		.trouble = trouble,
	};
	if (stat(disk, &st) == 0) {
		ret_usage->disk_bytes = (uint64_t)st.st_blocks * 512;
		ret_usage->disk_size_bytes = qemu_disk_size(spec);
	}
}

static int need_awake(const struct node_spec *spec, struct error *err)
{
	if (!qemu_runs(spec))
		return not_running(spec, err);
	if (state_of(spec) != VM_PAUSED)
		return 0;
	(void)error_because(err, &reason_node_paused, -EBUSY, "node '%s' is paused", spec->name);
	return error_hint(err, -EBUSY, "'manykube unpause -n %s' resumes it", spec->name);
}

int qemu_do(const struct node_spec *spec, char *const *words, const struct strbuf *input,
	    struct strbuf *output, size_t output_most, int timeout_ms, struct error *err)
{
	const struct session_data data = { .input = input ? input->text : "",
					   .input_len = input ? input->len : 0,
					   .output = output,
					   .output_most = output_most };
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	int r = need_awake(spec, err);

	if (r < 0)
		return r;
	strlist_add_all(&argv, ARGV("/opt/manykube/agent", "do"));
	strlist_add_all(&argv, words);
	r = session_call(spec->dir, argv.items, &data, clock_now_ms() + timeout_ms, err);
	if (r <= 0)
		return r < 0 ? error_prefix(err, r, "node '%s'", spec->name) : 0;
	r = r < 134 ? -r : -EIO;
	return error_set(err, r, "node '%s': cannot %s %s: %s", spec->name, words[0],
			 words[1] ? words[1] : "files", strerror(-r));
}

int qemu_spawn(const struct node_spec *spec, char *const *argv,
	       const struct process_options *options, struct process *ret_process,
	       struct error *err)
{
	int r = need_awake(spec, err);

	return r < 0 ? r : session_spawn(spec->dir, argv, options, ret_process, err);
}

static unsigned signal_program(const struct node_spec *spec, const char *name, int signal)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *number = xasprintf("%d", signal);
	unsigned long long count;

	if (qemu_do(spec, ARGV("signal", (char *)(uintptr_t)name, number), NULL, &out, 64,
		    CONTROL_MS, NULL) < 0)
		return 0;
	strbuf_trim_end(&out);
	return parse_number(out.text, 0, UINT32_MAX, &count, NULL) < 0 ? 0 : (unsigned)count;
}

/* A terminal of this host: what the guest sends arrives there as output of our own process. */
static int open_terminal(const struct node_spec *spec, int *ret_ours, int *ret_theirs,
			 struct error *err)
{
	cleanup_fd int ours = -1;
	int unlocked = 0;
	int r = need_awake(spec, err);

	if (r < 0)
		return r;
	ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (ours < 0 || ioctl(ours, TIOCSPTLCK, &unlocked) < 0)
		return error_sys(err, "cannot open a terminal for node '%s'", spec->name);
	*ret_theirs = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_theirs < 0)
		return error_sys(err, "cannot open a terminal for node '%s'", spec->name);
	*ret_ours = take_fd(ours);
	return 0;
}

static int reach(const struct node_spec *spec, struct in_addr address, unsigned port,
		 int timeout_ms, struct error *err)
{
	cleanup_free char *port_text = xasprintf("%u", port);
	cleanup_free char *timeout = xasprintf("%d", timeout_ms);
	char to[INET_ADDRSTRLEN];

	(void)inet_ntop(AF_INET, &address, to, sizeof(to));
	return qemu_do(spec, ARGV("reach", to, port_text, timeout), NULL, NULL, 0,
		       timeout_ms + SLACK_MS, err);
}

static int ask(const struct node_spec *spec, const char *place, const char *words, int timeout_ms,
	       struct error *err)
{
	cleanup_free char *timeout = xasprintf("%d", timeout_ms);

	return qemu_do(spec,
		       ARGV("ask", (char *)(uintptr_t)place, timeout, (char *)(uintptr_t)words),
		       NULL, NULL, 0, timeout_ms + SLACK_MS, err);
}

/* The programs are on the VM's disk. */
static bool lacks_programs(arg_unused const struct node_spec *spec)
{
	return false;
}

static int route(const struct node_spec *spec, struct in_addr pods, unsigned prefix,
		 struct in_addr via, bool remove, struct error *err)
{
	cleanup_free char *bits = xasprintf("%u", prefix);
	char to[INET_ADDRSTRLEN];
	char gateway[INET_ADDRSTRLEN];

	if (!qemu_runs(spec))
		return 0;
	(void)inet_ntop(AF_INET, &pods, to, sizeof(to));
	(void)inet_ntop(AF_INET, &via, gateway, sizeof(gateway));
	return qemu_do(spec, ARGV("route", remove ? "delete" : "add", to, bits, gateway), NULL,
		       NULL, 0, ROUTE_MS, err);
}

const struct node_driver node_driver_qemu = {
	.name = "qemu",
	.memory_default = MACHINE_MEMORY_DEFAULT,
	.memory_least = MACHINE_MEMORY_LEAST,
	.summary = "nodes that are virtual machines with a kernel of their own; needs QEMU",
	.needs_root = true,
	.has_kernel = true,
	.probe = probe,
	.find_caveat = find_caveat,
	.check_host = check_host,
	.prepare = qemu_prepare,
	.create = qemu_create,
	.start = start,
	.limit = limit,
	.stop = stop,
	.freeze = freeze,
	.destroy = destroy,
	.destroy_cluster = destroy_cluster,
	.query = query,
	.files = &qemu_files,
	.measure = measure,
	.signal = signal_program,
	.spawn = qemu_spawn,
	.open_terminal = open_terminal,
	.reach = reach,
	.ask = ask,
	.lacks_programs = lacks_programs,
	.route = route,
};
