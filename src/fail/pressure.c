/* Using up a node's own disk and memory, and setting the clock of a VM. */

#include "fail/pressure.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "driver/agent-state.h"

#define BALLAST_FILE "/etc/manykube/ballast"
#define DISK_FILE    "/var/lib/manykube-disk-full"
#define FLAGS        "/var/lib/kubelet/kubeadm-flags.env"
#define FLAGS_ASIDE  FLAGS ".before-failure"
#define FLAGS_MOST   65536

/* As kubeadm/kubeadm.c has them for nodes without a disk of their own.  A kubelet does not count
 * what the kernel of a VM takes as used, which can be some hundred MiB. */
#define EVICTION                                                                            \
	" --eviction-hard=memory.available<512Mi,nodefs.available<0%,nodefs.inodesFree<0%," \
	"imagefs.available<0%,imagefs.inodesFree<0%"

#define PROGRAM_MS     30000
#define BALLAST_MS     20000
#define POLL_MS        200
#define DEFAULT_OFFSET 3600

static const char fill_disk[] =
#include "fill-disk.sh.inc"
	;

static bool runs(const struct cluster_node *at)
{
	return at->driver->query(&at->spec) == NODE_RUNNING;
}

static bool exists(const struct cluster_node *at)
{
	return at->driver->query(&at->spec) != NODE_ABSENT;
}

/* Run ARGV in the node; errors say that it cannot DO_WHAT. */
static int run_inside(const struct cluster_node *at, char *const *argv, const char *do_what,
		      struct error *err)
{
	const struct process_options options = { .no_stdin = true };
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	int r = at->driver->spawn(&at->spec, argv, &options, &process, err);

	if (r == 0)
		r = process_wait(&process, clock_now_ms() + PROGRAM_MS, err);
	if (r <= 0)
		return r;
	return error_because(err, &reason_node_failed, -EIO,
			     "cannot %s of node '%s': %s ended with status %d", do_what,
			     at->spec.name, argv[0], r);
}

int pressure_fill_disk(const struct cluster_node *at, struct error *err)
{
	return run_inside(at,
			  ARGV((char[]){ "sh" }, (char[]){ "-c" }, (char *)(uintptr_t)fill_disk,
			       (char[]){ "sh" }, (char[]){ DISK_FILE }),
			  "fill the disk", err);
}

int pressure_free_disk(const struct cluster_node *at, struct error *err)
{
	return exists(at) ? at->driver->files->remove(&at->spec, DISK_FILE, err) : 0;
}

/* The text of a kubelet's flags with a threshold for memory; NULL if it has one.  The caller frees
 * it. */
static char *add_threshold(const char *flags)
{
	const char *hard = strstr(flags, "--eviction-hard=");
	const char *quote = strrchr(flags, '"');
	size_t end;

	if (strstr(flags, "memory.available") || (!hard && !quote))
		return NULL;
	if (!hard)
		return xasprintf("%.*s%s%s", (int)(quote - flags), flags, EVICTION, quote);
	end = (size_t)(hard - flags) + strcspn(hard, " \"\n");
	return xasprintf("%.*s,memory.available<512Mi%s", (int)end, flags, flags + end);
}

/* Restart the kubelet with other flags; the agent starts it again. */
static void restart_kubelet(const struct cluster_node *at)
{
	if (runs(at))
		(void)at->driver->signal(&at->spec, "kubelet", SIGKILL);
}

static int set_threshold(const struct cluster_node *at, struct error *err)
{
	const struct node_files *files = at->driver->files;
	cleanup_with(strbuf_release) struct strbuf flags = STRBUF_INIT;
	cleanup_free char *changed = NULL;
	int r = files->read(&at->spec, FLAGS, 0, FLAGS_MOST, &flags, err);

	if (r < 0)
		return r;
	changed = add_threshold(flags.text);
	if (!changed)
		return 0;
	r = files->put(&at->spec, FLAGS_ASIDE, flags.text, flags.len, 0600, err);
	if (r == 0)
		r = files->put(&at->spec, FLAGS, changed, strlen(changed), 0644, err);
	if (r == 0)
		restart_kubelet(at);
	return r;
}

static int restore_threshold(const struct cluster_node *at, struct error *err)
{
	int r = at->driver->files->rename(&at->spec, FLAGS_ASIDE, FLAGS, err);

	if (r == 0)
		restart_kubelet(at);
	if (r == -ENOENT && err)
		error_clear(err);
	return r == -ENOENT ? 0 : r;
}

static bool ballast_runs(const struct cluster_node *at)
{
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (at->driver->files->read_state(&at->spec, &text, NULL) < 0)
		return false;
	agent_state_parse(text.text, &state);
	return agent_state_runs(&state, "ballast");
}

int pressure_take_memory(const struct cluster_node *at, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + BALLAST_MS;
	int r = set_threshold(at, err);

	if (r == 0)
		r = at->driver->files->put(&at->spec, BALLAST_FILE, "", 0, 0644, err);
	while (r == 0 && runs(at) && !ballast_runs(at))
		if (!clock_poll(deadline_ms, POLL_MS)) {
			r = error_because(err, &reason_node_failed, -ENOTSUP,
					  "the agent of node '%s' takes no memory; it may be of an "
					  "earlier version",
					  at->spec.name);
		}
	return r;
}

int pressure_give_memory(const struct cluster_node *at, struct error *err)
{
	int r;

	if (!exists(at))
		return 0;
	r = at->driver->files->remove(&at->spec, BALLAST_FILE, err);
	if (r == 0 && runs(at))
		(void)at->driver->signal(&at->spec, "ballast", SIGKILL);
	return r < 0 ? r : restore_threshold(at, err);
}

static int set_time(const struct cluster_node *at, int64_t offset_seconds, struct error *err)
{
	cleanup_free char *time = xasprintf("@%" PRId64, clock_wall_seconds() + offset_seconds);

	return run_inside(at, ARGV((char[]){ "date" }, (char[]){ "-s" }, time), "set the clock",
			  err);
}

int pressure_set_clock(const struct cluster_node *at, int64_t offset_seconds, struct error *err)
{
	return set_time(at, offset_seconds ? offset_seconds : DEFAULT_OFFSET, err);
}

/* A VM that starts has the time of this host. */
int pressure_mend_clock(const struct cluster_node *at, struct error *err)
{
	return runs(at) ? set_time(at, 0, err) : 0;
}
