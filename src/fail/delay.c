/* Delays of packets to nodes. */

#include "fail/delay.h"

#include <net/if.h>
#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "node/cluster-node.h"
#include "record/world.h"

/* The handle that our queues have, so that a queue of somebody else is never removed. */
#define HANDLE "6d6b:"

#define NO_NETEM                                                                             \
	"this host cannot delay packets: its kernel has no 'netem' (sch_netem); --loss and " \
	"--rate work without"

static int leave_network(arg_unused const void *arg)
{
	return unshare(CLONE_NEWNET);
}

/* Run `tc` with ARGV, silently; its exit status, or a negative errno. */
static int run_tc(char *const *argv, int (*enter)(const void *), struct error *err)
{
	const struct process_options options = { .no_stdin = true,
						 .output = "/dev/null",
						 .enter = enter };

	return process_run(argv, &options, err);
}

int delay_probe(struct error *err)
{
	cleanup_free char *tc = process_find("tc");
	int r;

	if (!tc)
		return error_because(err, &reason_host_missing_tool, -ENOTSUP,
				     "--delay needs the program 'tc', of the package iproute2");
	r = run_tc(ARGV(tc, (char[]){ "qdisc" }, (char[]){ "add" }, (char[]){ "dev" },
			(char[]){ "lo" }, (char[]){ "root" }, (char[]){ "netem" },
			(char[]){ "delay" }, (char[]){ "1ms" }),
		   leave_network, err);
	return r <= 0 ? r : error_because(err, &reason_host_unsupported, -ENOTSUP, NO_NETEM);
}

/* Whether LINK has a queue of ours. */
static bool has_queue(const char *tc, const char *link)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *program = xstrdup(tc);
	cleanup_free char *name = xstrdup(link);

	return process_capture(ARGV(program, (char[]){ "qdisc" }, (char[]){ "show" },
				    (char[]){ "dev" }, name),
			       NULL, &out, NULL) == 0 &&
	       strstr(out.text, " " HANDLE " root ");
}

int delay_set(const char *link, unsigned delay_ms, unsigned jitter_ms, struct error *err)
{
	cleanup_free char *tc = process_find("tc");
	cleanup_free char *name = xstrdup(link);
	cleanup_free char *delay = xasprintf("%ums", delay_ms);
	cleanup_free char *jitter = xasprintf("%ums", jitter_ms);
	int r;

	if (if_nametoindex(link) == 0 || !tc || (!delay_ms && !has_queue(tc, link)))
		return 0;
	if (delay_ms)
		r = run_tc(ARGV(tc, (char[]){ "qdisc" }, (char[]){ "replace" }, (char[]){ "dev" },
				name, (char[]){ "root" }, (char[]){ "handle" }, (char[]){ HANDLE },
				(char[]){ "netem" }, (char[]){ "delay" }, delay, jitter),
			   NULL, err);
	else
		r = run_tc(ARGV(tc, (char[]){ "qdisc" }, (char[]){ "del" }, (char[]){ "dev" }, name,
				(char[]){ "root" }),
			   NULL, err);
	return r <= 0 ? r
		      : error_because(err, &reason_network, -EIO,
				      "cannot change the queue of '%s': tc ended with status %d",
				      link, r);
}

/* The longest delay of the node NAME in the record, and its jitter. */
static void find_delay(const struct profile *profile, const char *name, unsigned *ret_delay_ms,
		       unsigned *ret_jitter_ms)
{
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	const struct failure *failure;

	*ret_delay_ms = *ret_jitter_ms = 0;
	failures_read(profile, &all);
	failures_for_each(failure, &all) {
		if (failure->delay_ms <= *ret_delay_ms || !strlist_has(&failure->nodes, name))
			continue;
		*ret_delay_ms = failure->delay_ms;
		*ret_jitter_ms = failure->jitter_ms;
	}
}

int delay_apply(const struct profile *profile, const struct strlist *names, struct error *err)
{
	const char *name;
	int r = 0;

	strlist_for_each(name, names) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
		const struct node *node = profile_find_node(profile, name);
		cleanup_free char *link = NULL;
		unsigned jitter_ms;
		unsigned delay_ms;

		if (r < 0 || !node)
			continue;
		r = cluster_node_open(profile, node, &at, err);
		if (r < 0)
			return r;
		link = xasprintf("%s.%u", at.spec.bridge, at.spec.slot);
		find_delay(profile, name, &delay_ms, &jitter_ms);
		r = world->delay(link, delay_ms, jitter_ms, err);
	}
	return r;
}
