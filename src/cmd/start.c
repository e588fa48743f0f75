/* `start`: make a cluster, bring it up again, or mend it. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/progress.h"
#include "cluster/cluster.h"
#include "cmd/command.h"
#include "host/probe.h"
#include "payload/payload.h"

static struct {
	unsigned nodes;
	const char *kubernetes_version;
	unsigned cpus;
	uint64_t memory_bytes;
	const char *subnet;
	const char *cni;
	bool offline;
	bool offline_given;
	const char *wait;
	unsigned wait_seconds;
	bool download_only;
	bool force;
} arg = {
	.wait = "apiserver,node_ready",
	.wait_seconds = 360,
};

static int parse_wait(const char *text, unsigned *ret, struct error *err)
{
	static const struct {
		const char *word;
		unsigned what;
	} words[] = {
		{ "apiserver", WAIT_API },
		{ "node_ready", WAIT_API | WAIT_NODES },
		{ "kubelet", WAIT_API | WAIT_NODES },
		{ "system_pods", WAIT_API | WAIT_NODES | WAIT_SYSTEM_PODS },
		{ "apps_running", WAIT_API | WAIT_NODES | WAIT_SYSTEM_PODS },
		{ "default_sa", WAIT_API | WAIT_DEFAULT_SA },
		{ "all", WAIT_API | WAIT_NODES | WAIT_SYSTEM_PODS | WAIT_DEFAULT_SA },
		{ "true", WAIT_API | WAIT_NODES | WAIT_SYSTEM_PODS | WAIT_DEFAULT_SA },
		{ "none", 0 },
		{ "false", 0 },
	};
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;
	const char *part;
	unsigned what = 0;

	strlist_split(&parts, text, ',');
	strlist_for_each(part, &parts) {
		size_t i = 0;

		while (i < ARRAY_SIZE(words) && strcmp(words[i].word, part) != 0)
			i++;
		if (i == ARRAY_SIZE(words))
			return error_because(err, &reason_usage, -EINVAL,
					     "there is no '%s' to wait for; use apiserver, "
					     "node_ready, system_pods, default_sa, all or none",
					     part);
		what |= words[i].what;
	}
	*ret = what;
	return 0;
}

static int check_wait(const char *text, struct error *err)
{
	unsigned what;

	return parse_wait(text, &what, err);
}

static const struct opt options[] = {
	OPT_POSITIVE(
		'n', "nodes", &arg.nodes,
		"how many nodes the cluster has; on an existing cluster the missing ones are added",
		.when_made = true),
	OPT_STRING(0, "kubernetes-version", &arg.kubernetes_version, "VERSION",
		   "Kubernetes to run, for instance v1.36.3, v1.36 or stable", .when_made = true),
	OPT_POSITIVE(0, "cpus", &arg.cpus, "CPUs of each node; all of the host's unless given",
		     .when_made = true),
	OPT_SIZE('m', "memory", &arg.memory_bytes,
		 "memory of each node, for instance 2g; the host's unless given",
		 .when_made = true),
	OPT_STRING(0, "subnet", &arg.subnet, "SUBNET",
		   "network of the nodes, for instance 192.168.60.0/24; a free one unless given",
		   .when_made = true),
	OPT_CHOICE(0, "cni", &arg.cni, "auto|none",
		   "network between pods: our routes, or none, to install one of your own",
		   .when_made = true),
	OPT_FLAG(0, "offline", &arg.offline,
		 "no way out of the cluster: no NAT, no names from outside",
		 .given = &arg.offline_given, .when_made = true),
	OPT_STRING(0, "wait", &arg.wait, "WHAT",
		   "what to wait for: apiserver, node_ready, system_pods, default_sa, all or none",
		   .check = check_wait),
	OPT_SECONDS(0, "wait-timeout", &arg.wait_seconds, "how long the start may take"),
	OPT_FLAG(0, "download-only", &arg.download_only,
		 "only get what nodes will run; afterwards 'start' needs no network", .once = true),
	OPT_FLAG(0, "force", &arg.force, "go on although this host lacks something", .once = true),
	OPT_END,
};

/* Below it, a control plane is killed for lack of memory while it starts. */
#define MIN_MEMORY_BYTES (UINT64_C(1) << 30)

static int download(const char *version, struct observer *observer, struct error *err)
{
	static const struct payload_source anywhere;
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	int r = payload_ensure(version, &anywhere, observer, &payload, err);

	if (r < 0)
		return r;
	fprintf(stderr, "Kubernetes %s is in the cache; 'manykube start' needs no network now.\n",
		version);
	return 0;
}

static void say_done(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	if (profile_load(name, &profile, NULL) < 0)
		return;
	fprintf(stderr,
		"Done: cluster \"%s\" with %zu %s is up; kubectl is set to use it.\n"
		"Try: manykube kubectl%s%s -- get nodes\n",
		name, profile.node_count, profile.node_count == 1 ? "node" : "nodes",
		strcmp(name, PROFILE_DEFAULT_NAME) == 0 ? "" : " -p ",
		strcmp(name, PROFILE_DEFAULT_NAME) == 0 ? "" : name);
}

static int check_counts(struct error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long long memory = (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

	if (arg.memory_bytes && arg.memory_bytes < MIN_MEMORY_BYTES && !arg.force) {
		(void)error_because(err, &reason_resources, -ERANGE,
				    "--memory: a node needs at least 1 GiB");
		return error_hint(err, -ERANGE, "give more, or --force to try");
	}
	if (arg.nodes > 250)
		return error_because(err, &reason_usage, -ERANGE,
				     "--nodes: a cluster has at most 250");
	if (cpus > 0 && arg.cpus > (unsigned long)cpus)
		log_warning("--cpus=%u: this host has %ld CPUs, so nodes will show and use %ld",
			    arg.cpus, cpus, cpus);
	if (memory > 0 && arg.memory_bytes > (uint64_t)memory)
		log_warning(
			"--memory: more than this host has; nodes will promise it all the same");
	return 0;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_options wanted = {
		.nodes = arg.nodes,
		.subnet = arg.subnet,
		.cni = arg.cni,
		.cpus = arg.cpus,
		.memory_bytes = arg.memory_bytes,
		.offline = arg.offline,
		.offline_given = arg.offline_given,
		.force = arg.force,
		.wait_seconds = arg.wait_seconds,
	};
	const char *version = NULL;
	int r = check_counts(err);

	if (r == 0)
		r = parse_wait(arg.wait, &wanted.wait, err);
	if (r == 0)
		r = payload_resolve_version(
			arg.kubernetes_version ? arg.kubernetes_version : "stable", &version, err);
	if (r < 0)
		return r;
	wanted.kubernetes_version = version;
	if (arg.download_only)
		return download(version, progress_observer(progress), err);
	if (probe_raise_inotify(&why) < 0)
		log_warning("%s; many nodes may run out of them: %s", why.text, why.hint);
	r = cluster_start(ctx->profile_name, &wanted, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	if (r == 0 && !ctx->quiet)
		say_done(ctx->profile_name);
	return r;
}

const struct command cmd_start = {
	.name = "start",
	.summary = "make a cluster, or bring it up again as it was",
	.description =
		"Makes a Kubernetes cluster of one control plane and --nodes minus one workers, or "
		"brings up what is down of an existing one: same nodes, same addresses, same data. "
		"It can be interrupted and run again at any moment; it never resets a cluster.",
	.examples = "manykube start --nodes=3\n"
		    "manykube start -p dev --nodes=2 --memory=2g --cpus=1\n"
		    "manykube start --download-only\n",
	.flags = COMMAND_LOCKS_CLUSTER | COMMAND_NEEDS_ROOT,
	.options = options,
	.run = run,
};
