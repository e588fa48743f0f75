/* What `start` can be told. */

#include "cmd/start-options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cmd/command.h"
#include "cmd/node-change.h"
#include "payload/payload.h"
#include "record/options.h"
#include "record/spec.h"

struct start_arguments start_arguments = {
	.output = "text",
	.wait = "apiserver,node_ready",
	.wanted.wait_seconds = 360,
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

static int check_version(const char *text, struct error *err)
{
	const char *version;

	return payload_resolve_version(text, &version, err);
}

/* minikube has --mount without a value, beside --mount-string. */
static int check_mount(const char *text, struct error *err)
{
	if (text[0] != '-')
		return 0;
	return error_set(err, -EINVAL, "'%s' is not of the form HOST:NODE", text);
}

const struct opt start_options[] = {
	OPT_STRING('f', "file", &start_arguments.file, "FILE",
		   "a file that describes the cluster, its nodes and all their settings; - is what "
		   "comes in",
		   .once = true, .complete = COMPLETE_FILE),
	OPT_POSITIVE(
		'n', "nodes", &start_arguments.wanted.nodes,
		"how many nodes the cluster has; on an existing cluster the missing ones are added",
		.when_made = true),
	OPT_POSITIVE(0, "control-planes", &start_arguments.wanted.control_planes,
		     "how many of the nodes are control planes; likewise", .when_made = true),
	OPT_FLAG(0, "ha", &start_arguments.ha, "three control planes, of which one may fail",
		 .when_made = true),
	OPT_FLAG(0, "no-schedule-control-planes",
		 &start_arguments.wanted.no_schedule_control_planes,
		 "keep pods off control planes that are made from now on", .when_made = true,
		 .given = &start_arguments.wanted.given.no_schedule_control_planes),
	OPT_STRING(0, "kubernetes-version", &start_arguments.kubernetes_version, "VERSION",
		   "Kubernetes to run, for instance v1.36.3, v1.35 or stable; 'manykube version' "
		   "lists what there is",
		   .when_made = true, .check = check_version, .complete = COMPLETE_VERSION),
	OPT_POSITIVE(0, "cpus", &start_arguments.wanted.cpus,
		     "CPUs of each node; all of the host's, max or no-limit, unless given",
		     .when_made = true, .may_be_all = true),
	OPT_SIZE('m', "memory", &start_arguments.wanted.memory_bytes,
		 "memory of each node, for instance 2g; the host's, max or no-limit, unless given",
		 .when_made = true, .may_be_all = true),
	OPT_SIZE(
		0, "disk-size", &start_arguments.wanted.disk_bytes,
		"size of a disk for each node's /var, for instance 20g; it is on the host's disk unless "
		"given",
		.when_made = true),
	OPT_STRING(0, "base-image", &start_arguments.wanted.base_image, "PATH",
		   "a folder or tar with the root file system that nodes have their /usr from; the "
		   "host's unless given",
		   .when_made = true, .complete = COMPLETE_FILE),
	OPT_STRING('c', "container-runtime", &node_runtime, "NAME",
		   "what runs containers; there is only containerd", .check = spec_check_runtime,
		   .instead = "leave it out, or give --container-runtime=containerd"),
	OPT_LIST(0, "label", &start_arguments.wanted.labels, "KEY=VALUE", "a label of every node",
		 .when_made = true),
	OPT_LIST(0, "taint", &start_arguments.wanted.taints, "KEY=VALUE:EFFECT",
		 "a taint of every node", .when_made = true),
	OPT_LIST(0, "mount", &start_arguments.wanted.mounts, "HOST:NODE[:ro]",
		 "a directory or file of this host that every node has, too; unless it is "
		 "read-only, node root has the rights of its owner there",
		 .when_made = true, .check = check_mount, .instead = "write --mount=HOST:NODE",
		 .complete = COMPLETE_FILE),
	OPT_LIST(0, "env", &start_arguments.wanted.env, "NAME=VALUE",
		 "a variable for containerd and the kubelet of every node", .when_made = true,
		 .secret = true),
	OPT_POSITIVE(0, "max-pods", &start_arguments.wanted.max_pods,
		     "how many pods a node takes; 110 unless given", .when_made = true),
	OPT_STRING(0, "kubelet-binary", &start_arguments.wanted.kubelet_binary, "FILE",
		   "a kubelet of your own build for every node", .when_made = true,
		   .complete = COMPLETE_FILE),
	OPT_LIST(
		0, "ports", &start_arguments.wanted.ports, "[ADDRESS:]HOST[:NODE][@NAME]",
		"a port of this host that leads to that port of the first node that answers there, or of the node NAME",
		.when_made = true),
	OPT_STRING(0, "subnet", &start_arguments.wanted.subnet, "SUBNET",
		   "network of the nodes, for instance 192.168.60.0/24; a free one unless given",
		   .when_made = true),
	OPT_STRING(0, "pod-network-cidr", &start_arguments.wanted.pod_subnet, "SUBNET",
		   "network of the pods, of which each node gets a /24; a free one unless given",
		   .when_made = true),
	OPT_STRING(0, "service-cluster-ip-range", &start_arguments.wanted.service_subnet, "SUBNET",
		   "network of the services; 10.96.0.0/12 unless given", .when_made = true),
	OPT_STRING(0, "dns-domain", &start_arguments.wanted.dns_domain, "NAME",
		   "domain of the services' names; cluster.local unless given", .when_made = true),
	OPT_CHOICE(
		0, "cni", &start_arguments.wanted.cni, "auto|none",
		"network between pods: our routes, or none, to install one of your own",
		.when_made = true,
		.instead =
			"auto routes between pods of all nodes, as bridge and kindnet do; to have "
			"another CNI, give --cni=none and install it with 'manykube kubectl apply -f "
			"MANIFEST'"),
	OPT_FLAG(0, "offline", &start_arguments.wanted.offline,
		 "no way out of the cluster: no NAT, no names from outside; and nothing is "
		 "downloaded or built for it",
		 .when_made = true, .given = &start_arguments.wanted.given.offline),
	OPT_STRING(
		0, "host-access", &start_arguments.wanted.host_access, "all|none|PORT,...",
		"what nodes reach of this host besides DNS and the API: all, none, or ports, TCP and UDP; "
		"all unless given, none with --offline",
		.when_made = true, .check = spec_check_host_access, .complete = COMPLETE_CHOICE),
	OPT_POSITIVE(0, "apiserver-port", &start_arguments.wanted.api_port,
		     "port of 127.0.0.1 at which the API answers; a free one unless given",
		     .when_made = true),
	OPT_WORDS(0, "apiserver-names", &start_arguments.wanted.api_names, "NAME",
		  "a further name in the API's certificate", .when_made = true),
	OPT_WORDS(0, "apiserver-ips", &start_arguments.wanted.api_ips, "ADDRESS",
		  "a further address in the API's certificate", .when_made = true),
	OPT_SECONDS(
		0, "cert-expiration", &start_arguments.wanted.cert_seconds,
		"how long certificates are good for; a year unless given; every start renews those that "
		"are close to their end",
		.when_made = true),
	OPT_LIST(0, "extra-config", &start_arguments.wanted.extra_config, "COMPONENT.KEY=VALUE",
		 "an argument or field of the configuration of apiserver, controller-manager, "
		 "scheduler, etcd, kubelet, proxy or kubeadm",
		 .when_made = true),
	OPT_WORDS(0, "feature-gates", &start_arguments.wanted.feature_gates, "NAME=true|false",
		  "a feature of Kubernetes to turn on or off in all its parts", .when_made = true),
	OPT_WORDS(0, "insecure-registry", &start_arguments.wanted.insecure_registries,
		  "HOST[:PORT]", "a registry that has no proper certificate"),
	OPT_LIST(0, "registry-mirror", &start_arguments.wanted.registry_mirrors, "[REGISTRY=]URL",
		 "where to get images of a registry (docker.io unless named) from"),
	OPT_LIST(0, "load-images", &start_arguments.wanted.images, "FILE",
		 "an archive of images, as 'docker save' writes it, that every node loads",
		 .once = true, .complete = COMPLETE_FILE),
	OPT_STRING(0, "image-repository", &start_arguments.wanted.image_repository, "REPOSITORY",
		   "where Kubernetes' own images are said to come from", .when_made = true),
	OPT_STRING(0, "binary-mirror", &start_arguments.wanted.binary_mirror, "URL",
		   "where to download Kubernetes from instead of the official places"),
	OPT_FLAG(0, "keep-context", &start_arguments.wanted.keep_context,
		 "leave kubectl's current context as it is",
		 .given = &start_arguments.wanted.given.keep_context),
	OPT_FLAG(0, "embed-certs", &start_arguments.wanted.embed_certs,
		 "put certificates into the kubeconfig, not paths to them",
		 .given = &start_arguments.wanted.given.embed_certs),
	OPT_STRING(
		0, "wait", &start_arguments.wait, "WHAT",
		"what to wait for: apiserver, node_ready, system_pods, default_sa, all or none; with "
		"--cni=none nodes need not be Ready unless this says so",
		.check = check_wait, .given = &start_arguments.wait_given),
	OPT_SECONDS(
		0, "wait-timeout", &start_arguments.wanted.wait_seconds,
		"how long to wait for the cluster; getting Kubernetes, making nodes and loading "
		"images do not count"),
	OPT_FLAG(0, "download-only", &start_arguments.download_only,
		 "only get what nodes will run; afterwards 'start' needs no network", .once = true),
	OPT_FLAG(0, "dry-run", &start_arguments.dry_run, "say what would be done, and make nothing",
		 .once = true),
	OPT_YES,
	OPT_FLAG(0, "delete-on-failure", &start_arguments.delete_on_failure,
		 "remove a new cluster again if its start fails", .once = true),
	OPT_FLAG(0, "force", &start_arguments.wanted.force,
		 "go on although this host lacks something", .once = true),
	OPT_EVENTS(&start_arguments.output),
	OPT_END,
};

int start_arguments_finish(struct start_arguments *arguments, struct error *err)
{
	int r = parse_wait(arguments->wait, &arguments->wanted.wait, err);

	if (!arguments->wait_given)
		arguments->wanted.wait = WAIT_API | WAIT_NODES;
	if (r == 0 && arguments->kubernetes_version)
		r = payload_resolve_version(arguments->kubernetes_version,
					    &arguments->wanted.kubernetes_version, err);
	node_make_absolute(&arguments->wanted.mounts, &arguments->wanted.base_image);
	node_make_list_absolute(&arguments->wanted.images);
	return r;
}
