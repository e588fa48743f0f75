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
	struct cluster_options wanted;
	const char *kubernetes_version;
	const char *wait;
	bool download_only;
	bool dry_run;
	bool delete_on_failure;
} arg = {
	.wait = "apiserver,node_ready",
	.wanted.wait_seconds = 360,
};

static const struct opt options[] = {
	OPT_POSITIVE(
		'n', "nodes", &arg.wanted.nodes,
		"how many nodes the cluster has; on an existing cluster the missing ones are added"),
	OPT_STRING(0, "kubernetes-version", &arg.kubernetes_version, "VERSION",
		   "Kubernetes to run, for instance v1.36.3, v1.36 or stable"),
	OPT_POSITIVE(0, "cpus", &arg.wanted.cpus,
		     "CPUs of each node; all of the host's unless given"),
	OPT_SIZE('m', "memory", &arg.wanted.memory_bytes,
		 "memory of each node, for instance 2g; the host's unless given"),
	OPT_LIST(0, "label", &arg.wanted.labels, "KEY=VALUE", "a label of every node"),
	OPT_LIST(0, "taint", &arg.wanted.taints, "KEY=VALUE:EFFECT", "a taint of every node"),
	OPT_LIST(0, "mount", &arg.wanted.mounts, "HOST:NODE[:ro]",
		 "a folder or file of this host that every node has, too"),
	OPT_LIST(0, "ports", &arg.wanted.ports, "[ADDRESS:]HOST[:NODE]",
		 "a port of this host that leads to that port of the first node that answers there"),
	OPT_STRING(0, "subnet", &arg.wanted.subnet, "SUBNET",
		   "network of the nodes, for instance 192.168.60.0/24; a free one unless given"),
	OPT_STRING(0, "pod-network-cidr", &arg.wanted.pod_subnet, "SUBNET",
		   "network of the pods, of which each node gets a /24; a free one unless given"),
	OPT_STRING(0, "service-cluster-ip-range", &arg.wanted.service_subnet, "SUBNET",
		   "network of the services; 10.96.0.0/12 unless given"),
	OPT_STRING(0, "dns-domain", &arg.wanted.dns_domain, "NAME",
		   "domain of the services' names; cluster.local unless given"),
	OPT_CHOICE(0, "cni", &arg.wanted.cni, "auto|none",
		   "network between pods: our routes, or none, to install one of your own"),
	OPT_FLAG(0, "offline", &arg.wanted.offline,
		 "no way out of the cluster: no NAT, no names from outside"),
	OPT_POSITIVE(0, "apiserver-port", &arg.wanted.api_port,
		     "port of 127.0.0.1 at which the API answers; a free one unless given"),
	OPT_WORDS(0, "apiserver-names", &arg.wanted.api_names, "NAME",
		  "a further name in the API's certificate"),
	OPT_WORDS(0, "apiserver-ips", &arg.wanted.api_ips, "ADDRESS",
		  "a further address in the API's certificate"),
	OPT_SECONDS(0, "cert-expiration", &arg.wanted.cert_seconds,
		    "how long certificates are good for; a year unless given"),
	OPT_LIST(0, "extra-config", &arg.wanted.extra_config, "COMPONENT.KEY=VALUE",
		 "an argument or field of the configuration of apiserver, controller-manager, "
		 "scheduler, etcd, kubelet, proxy or kubeadm"),
	OPT_WORDS(0, "feature-gates", &arg.wanted.feature_gates, "NAME=true|false",
		  "a feature of Kubernetes to turn on or off in all its parts"),
	OPT_WORDS(0, "insecure-registry", &arg.wanted.insecure_registries, "HOST[:PORT]",
		  "a registry that has no proper certificate"),
	OPT_LIST(0, "registry-mirror", &arg.wanted.registry_mirrors, "[REGISTRY=]URL",
		 "where to get images of a registry (docker.io unless named) from"),
	OPT_STRING(0, "image-repository", &arg.wanted.image_repository, "REPOSITORY",
		   "where Kubernetes' own images are said to come from"),
	OPT_STRING(0, "binary-mirror", &arg.wanted.binary_mirror, "URL",
		   "where to download Kubernetes from instead of the official places"),
	OPT_FLAG(0, "keep-context", &arg.wanted.keep_context,
		 "leave kubectl's current context as it is"),
	OPT_FLAG(0, "embed-certs", &arg.wanted.embed_certs,
		 "put certificates into the kubeconfig, not paths to them"),
	OPT_STRING(0, "wait", &arg.wait, "WHAT",
		   "what to wait for: apiserver, node_ready, system_pods, default_sa, all or none"),
	OPT_SECONDS(0, "wait-timeout", &arg.wanted.wait_seconds, "how long the start may take"),
	OPT_FLAG(0, "download-only", &arg.download_only,
		 "only get what nodes will run; afterwards 'start' needs no network"),
	OPT_FLAG(0, "dry-run", &arg.dry_run, "say what would be done, and make nothing"),
	OPT_FLAG(0, "delete-on-failure", &arg.delete_on_failure,
		 "remove a new cluster again if its start fails"),
	OPT_FLAG(0, "force", &arg.wanted.force, "go on although this host lacks something"),
	OPT_END,
};

/* Below it, a control plane is killed for lack of memory while it starts. */
#define MIN_MEMORY_BYTES (UINT64_C(1) << 30)

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
					     "--wait: there is no '%s' to wait for; use apiserver, "
					     "node_ready, system_pods, default_sa, all or none",
					     part);
		what |= words[i].what;
	}
	*ret = what;
	return 0;
}

static int download(const char *version, struct observer *observer, struct error *err)
{
	const struct payload_source source = { .binary_mirror = arg.wanted.binary_mirror };
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	int r = payload_ensure(version, &source, observer, &payload, err);

	if (r < 0)
		return r;
	fprintf(stderr, "Kubernetes %s is in the cache; 'manykube start' needs no network now.\n",
		version);
	return 0;
}

static void say_done(const char *name, const struct cluster_outcome *outcome)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	bool is_default = strcmp(name, PROFILE_DEFAULT_NAME) == 0;
	bool did_something = outcome->started > 0 || outcome->joined > 0;

	if (profile_load(name, &profile, NULL) < 0)
		return;
	fprintf(stderr,
		"%s cluster \"%s\" with %zu %s is %s; kubectl %s.\n"
		"Try: manykube kubectl%s%s -- get nodes\n",
		did_something ? "Done:" : "All is well:", name, profile.node_count,
		profile.node_count == 1 ? "node" : "nodes",
		did_something ? "up" : "running already",
		profile.keep_context ? "knows it by that name" : "is set to use it",
		is_default ? "" : " -p ", is_default ? "" : name);
}

/* Paths of mounts may be written as the person sees them; a profile is read elsewhere, too. */
static void make_mounts_absolute(void)
{
	struct strlist absolute = STRLIST_INIT;
	cleanup_free char *here = getcwd(NULL, 0);
	const char *word;

	strlist_for_each(word, &arg.wanted.mounts) {
		cleanup_free char *host = xstrndup(word, strcspn(word, ":"));
		cleanup_free char *real = *host && *host != '/' && here ? realpath(host, NULL) : NULL;

		strlist_addf(&absolute, "%s%s", real ? real : host, word + strlen(host));
	}
	strlist_release(&arg.wanted.mounts);
	arg.wanted.mounts = absolute;
}

static int check_counts(struct error *err)
{
	const struct cluster_options *wanted = &arg.wanted;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long long memory = (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

	if (wanted->memory_bytes && wanted->memory_bytes < MIN_MEMORY_BYTES && !wanted->force) {
		(void)error_because(err, &reason_resources, -ERANGE,
				    "--memory: a node needs at least 1 GiB");
		return error_hint(err, -ERANGE, "give more, or --force to try");
	}
	if (wanted->nodes > 250)
		return error_because(err, &reason_usage, -ERANGE,
				     "--nodes: a cluster has at most 250");
	if (cpus > 0 && wanted->cpus > (unsigned long)cpus)
		log_warning("--cpus=%u: this host has %ld CPUs, so nodes will show and use %ld",
			    wanted->cpus, cpus, cpus);
	if (memory > 0 && wanted->memory_bytes > (uint64_t)memory)
		log_warning(
			"--memory: more than this host has; nodes will promise it all the same");
	return 0;
}

/* Remove what this very start has made, and nothing older. */
static void undo(const char *name, const struct cluster_outcome *outcome, struct observer *observer)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	if (!outcome->is_new)
		return;
	if (cluster_delete(name, observer, &why) < 0)
		log_warning("cannot remove what was made: %s", why.text);
	else
		log_warning("cluster '%s' was removed again, as --delete-on-failure asks", name);
}

static int run_start(struct command_context *ctx, struct observer *observer, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_outcome outcome;
	int r;

	if (probe_raise_inotify(&why) < 0)
		log_warning("%s; many nodes may run out of them: %s", why.text, why.hint);
	r = cluster_start(ctx->profile_name, &arg.wanted, observer, &outcome, err);
	if (r < 0 && arg.delete_on_failure)
		undo(ctx->profile_name, &outcome, observer);
	return r < 0 ? r : (ctx->outcome = outcome, 0);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);
	int r = check_counts(err);

	if (r == 0)
		r = parse_wait(arg.wait, &arg.wanted.wait, err);
	if (r == 0 && arg.kubernetes_version)
		r = payload_resolve_version(arg.kubernetes_version, &arg.wanted.kubernetes_version,
					    err);
	if (r < 0)
		return r;
	make_mounts_absolute();
	if (arg.dry_run)
		return start_print_plan(ctx->profile_name, &arg.wanted, err);
	if (arg.download_only)
		return download(arg.wanted.kubernetes_version ? arg.wanted.kubernetes_version
							      : payload_versions()[0],
				progress_observer(progress), err);
	r = run_start(ctx, progress_observer(progress), err);
	progress_free(take_ptr(progress));
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
