/* The options of `start`. */

#include "cmd/start-options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cmd/command.h"
#include "cmd/node-change.h"
#include "cmd/setting-options.h"
#include "payload/payload.h"
#include "record/limits.h"
#include "record/options.h"
#include "record/setting-check.h"
#include "record/spec.h"

struct start_arguments start_arguments = {
	.output = "text",
	.wait = "apiserver,node_ready",
	.wanted.wait_seconds = 360,
	.wanted.look_up = getenv,
};

static int parse_wait(const char *text, unsigned *ret, struct error *err)
{
	static const struct {
		const char *word;
		unsigned what;
	} words[] = {
		{ "apiserver", WAIT_API },
		{ "node_ready", WAIT_API | WAIT_READY },
		{ "nodes", WAIT_API | WAIT_READY },
		{ "kubelet", WAIT_API | WAIT_READY },
		{ "system_pods", WAIT_API | WAIT_READY | WAIT_SYSTEM_PODS },
		{ "apps_running", WAIT_API | WAIT_READY | WAIT_SYSTEM_PODS },
		{ "default_sa", WAIT_API | WAIT_DEFAULT_SA },
		{ "all", WAIT_API | WAIT_READY | WAIT_SYSTEM_PODS | WAIT_DEFAULT_SA },
		{ "true", WAIT_API | WAIT_READY | WAIT_SYSTEM_PODS | WAIT_DEFAULT_SA },
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
					     "cannot wait for '%s'; use apiserver, node_ready, "
					     "system_pods, default_sa, all or none",
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

const struct opt start_options[] = {
	OPT_STRING('f', "file", &start_arguments.file, "FILE",
		   "a file that describes the cluster and its nodes; - reads standard input",
		   .once = true, .complete = COMPLETE_FILE),
	OPT_POSITIVE('n', "nodes", &start_arguments.wanted.nodes,
		     "number of nodes; on an existing cluster, missing nodes are added",
		     .when_made = true),
	OPT_POSITIVE(0, "control-planes", &start_arguments.wanted.control_planes,
		     "number of control planes among them; likewise", .when_made = true),
	OPT_FLAG(0, "ha", &start_arguments.ha, "same as --control-planes=3; one of them may fail",
		 .when_made = true),
	OPT_SETTINGS(
		&start_arguments.wanted,
		"no-schedule-control-planes kubernetes-version cpus memory disk-size base-image "
		"driver kernel"),
	OPT_STRING('c', "container-runtime", &node_runtime, "NAME",
		   "container runtime; only containerd is supported", .check = spec_check_runtime,
		   .instead = "omit it, or use --container-runtime=containerd"),
	OPT_SETTINGS(
		&start_arguments.wanted,
		"label taint mount env max-pods kubelet-binary ports subnet pod-network-cidr "
		"service-cluster-ip-range dns-domain cni cni-backend offline host-access apiserver-port "
		"apiserver-names apiserver-ips cert-expiration extra-config feature-gates "
		"insecure-registry registry-mirror load-images image-repository failover"),
	OPT_STRING(0, "binary-mirror", &start_arguments.wanted.binary_mirror, "URL",
		   "download Kubernetes from this mirror", .beyond_user = setting_is_beyond_user),
	OPT_SETTINGS(&start_arguments.wanted, "keep-context embed-certs"),
	OPT_SETTINGS(&start_arguments.wanted, NULL),
	OPT_STRING(0, "wait", &start_arguments.wait, "WHAT",
		   "what to wait for: apiserver, node_ready, system_pods, default_sa, all or none; "
		   "with --cni=none, 'start' waits for node_ready only if it is given here",
		   .check = check_wait, .given = &start_arguments.wait_given),
	OPT_SECONDS(0, "wait-timeout", &start_arguments.wanted.wait_seconds,
		    "how long to wait for the cluster, not counting downloads, creating nodes and "
		    "loading images"),
	OPT_FLAG(0, "download-only", &start_arguments.download_only,
		 "only fetch Kubernetes; 'start' then needs no network", .once = true),
	OPT_FLAG(0, "dry-run", &start_arguments.dry_run, "only print what would be done",
		 .once = true),
	OPT_YES,
	OPT_FLAG(0, "delete-on-failure", &start_arguments.delete_on_failure,
		 "remove a new cluster if its start fails", .once = true),
	OPT_FLAG(0, "force", &start_arguments.wanted.force,
		 "continue although this host fails a check", .once = true),
	OPT_EVENTS(&start_arguments.output),
	OPT_END,
};

int start_arguments_check(struct start_arguments *arguments, struct error *err)
{
	struct cluster_options *wanted = &arguments->wanted;

	if (arguments->ha && !wanted->control_planes)
		wanted->control_planes = 3;
	if (wanted->memory_bytes && wanted->memory_bytes < CONTROL_PLANE_LEAST_BYTES &&
	    !wanted->force) {
		(void)error_because(err, &reason_resources, -ERANGE,
				    "--memory: a node needs at least 1 GiB");
		return error_hint(err, -ERANGE, "use more memory, or --force to try");
	}
	if (wanted->nodes && wanted->nodes < wanted->control_planes) {
		log_warning(
			"--nodes=%u is less than --control-planes=%u: the cluster gets %u nodes",
			wanted->nodes, wanted->control_planes, wanted->control_planes);
		wanted->nodes = wanted->control_planes;
	}
	if (wanted->nodes > NODES_MOST)
		return error_because(err, &reason_usage, -ERANGE,
				     "--nodes: a cluster has at most %d nodes", NODES_MOST);
	if (wanted->cert_seconds && wanted->cert_seconds < CERT_LEAST_SECONDS && !wanted->force) {
		(void)error_because(err, &reason_usage, -ERANGE,
				    "--cert-expiration is less than an hour");
		return error_hint(err, -ERANGE, "use at least 1h, or --force to try");
	}
	return 0;
}

int start_arguments_finish(struct start_arguments *arguments, struct error *err)
{
	int r = parse_wait(arguments->wait, &arguments->wanted.wait, err);

	if (!arguments->wait_given)
		arguments->wanted.wait = WAIT_API | WAIT_NODES;
	if (r == 0 && arguments->wanted.kubernetes_version)
		r = payload_resolve_version(arguments->wanted.kubernetes_version,
					    &arguments->wanted.kubernetes_version, err);
	setting_options_complete(&arguments->wanted.settings);
	return r;
}
