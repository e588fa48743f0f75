/* The fields of the file that describes a cluster. */

#include "describe/file-fields.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strlist.h"
#include "describe/choices.h"
#include "driver/driver.h"
#include "kubeadm/kubeadm-patch.h"
#include "record/options.h"
#include "record/spec.h"

/* Where MEMBER is, wanted and kept: of the cluster, of a node, */
#define AT(member_)                                          \
	.wanted = offsetof(struct cluster_options, member_), \
	.kept = offsetof(struct profile, member_)
#define NODE_AT(member_)                                       \
	.node_wanted = offsetof(struct node_options, member_), \
	.node_kept = offsetof(struct node, member_)
#define CLUSTER(member_) .has_member = true, AT(member_)
#define NODE(member_)    .has_member = true, NODE_AT(member_)
/* and of all nodes, where each can have its own. */
#define EACH(member_)    .has_member = true, AT(member_), NODE_AT(member_)
#define FLAG(member_)    CLUSTER(member_), .given = offsetof(struct cluster_options, member_##_given)

/* clang-format off */
const struct file_field file_fields[] = {
	{ "apiVersion", FILE_WORD, FILE_OF_CLUSTER, NULL, NULL, FILE_API_VERSION,
	  "the version of this format; must be given" },
	{ "kind", FILE_WORD, FILE_OF_CLUSTER, NULL, NULL, FILE_KIND,
	  "what is described; must be given" },
	{ "name", FILE_WORD, FILE_OF_CLUSTER, "profile", PROFILE_DEFAULT_NAME, "dev",
	  "the cluster's name", .check = profile_check_name },
	{ "kubernetesVersion", FILE_VERSION, FILE_OF_CLUSTER, "kubernetes-version", "(the newest known)", "v1.36.3",
	  "Kubernetes to run, for instance v1.36.3, v1.36 or stable", CLUSTER(kubernetes_version) },
	{ "offline", FILE_FLAG, FILE_OF_CLUSTER, "offline", "false", "true",
	  "no way out of the cluster: no NAT, no names from outside", FLAG(offline) },
	{ "cni", FILE_CHOICE, FILE_OF_CLUSTER, "cni", "auto", "none",
	  "network between pods: our routes, or none, to install one of your own", .words = "auto|none", CLUSTER(cni) },

	{ "network", FILE_MAP, FILE_OF_CLUSTER, NULL, NULL, NULL, "addresses, ports and names" },
	{ "network.subnet", FILE_WORD, FILE_OF_CLUSTER, "subnet", "(a free one)", "192.168.60.0/24",
	  "network of the nodes", .chosen_for_you = true, CLUSTER(subnet) },
	{ "network.podSubnet", FILE_WORD, FILE_OF_CLUSTER, "pod-network-cidr", "(a free one)", "10.244.0.0/16",
	  "network of the pods, of which each node gets a /24", .chosen_for_you = true, CLUSTER(pod_subnet) },
	{ "network.serviceSubnet", FILE_WORD, FILE_OF_CLUSTER, "service-cluster-ip-range", "10.96.0.0/12", "10.96.0.0/16",
	  "network of the services", CLUSTER(service_subnet) },
	{ "network.dnsDomain", FILE_WORD, FILE_OF_CLUSTER, "dns-domain", "cluster.local", "cluster.local",
	  "domain of the services' names", CLUSTER(dns_domain) },
	{ "network.apiPort", FILE_NUMBER, FILE_OF_CLUSTER, "apiserver-port", "(a free one)", "6443",
	  "port of 127.0.0.1 at which the API answers", .least = 1, .most = 65535, .chosen_for_you = true, CLUSTER(api_port) },
	{ "network.apiNames", FILE_WORDS, FILE_OF_CLUSTER, "apiserver-names", NULL, "[dev.example]",
	  "further names in the API's certificate", CLUSTER(api_names) },
	{ "network.apiIPs", FILE_WORDS, FILE_OF_CLUSTER, "apiserver-ips", NULL, "[10.1.2.3]",
	  "further addresses in the API's certificate", CLUSTER(api_ips) },
	{ "network.ports", FILE_WORDS, FILE_OF_CLUSTER, "ports", NULL, "[\"8080:30080\"]",
	  "ports of this host, [ADDRESS:]HOST[:NODE][@NAME], that lead to that port of the first node that answers there, or of the node NAME",
	  CLUSTER(ports) },

	{ "network.hostAccess", FILE_WORD, FILE_OF_CLUSTER, "host-access", "(all, or none if offline)", "8080",
	  "what nodes reach of this host besides DNS and the API: all, none, or ports, TCP and UDP, for instance 8080,9090", CLUSTER(host_access) },

	{ "featureGates", FILE_GATES, FILE_OF_CLUSTER, "feature-gates", NULL, "{InPlacePodVerticalScaling: true}",
	  "features of Kubernetes to turn on or off in all its parts", CLUSTER(feature_gates) },
	{ "extraConfig", FILE_EXTRA, FILE_OF_CLUSTER, "extra-config", NULL, "{apiserver: {v: 4}, kubelet: {maxPods: 50}}",
	  "arguments or fields of the configuration of apiserver, controller-manager, scheduler, etcd, kubelet, proxy and kubeadm",
	  CLUSTER(extra_config) },
	{ "kubeadmPatches", FILE_PATCHES, FILE_OF_CLUSTER, NULL, NULL,
	  "[{kind: ClusterConfiguration, merge: {apiServer: {extraArgs: {v: 5}}}}]",
	  "changes of what kubeadm is told, by 'merge' (RFC 7386) or 'operations' (RFC 6902)", .check = kubeadm_patch_check, CLUSTER(kubeadm_patches) },
	{ "certExpiration", FILE_SECONDS, FILE_OF_CLUSTER, "cert-expiration", "(a year)", "720h",
	  "how long certificates are good for", CLUSTER(cert_seconds) },
	{ "imageRepository", FILE_WORD, FILE_OF_CLUSTER, "image-repository", "(the usual one)", "registry.local:5000/kubernetes",
	  "where Kubernetes' own images are said to come from", CLUSTER(image_repository) },
	{ "images", FILE_MOUNTS, FILE_OF_CLUSTER, "load-images", NULL, "[app.tar]",
	  "archives of images that every node loads, as 'docker save' writes them; relative ones are beside this file", CLUSTER(images) },

	{ "registries", FILE_MAP, FILE_OF_CLUSTER, NULL, NULL, NULL, "where nodes get images from" },
	{ "registries.insecure", FILE_WORDS, FILE_OF_CLUSTER, "insecure-registry", NULL, "[\"registry.local:5000\"]",
	  "registries that have no proper certificate", CLUSTER(insecure_registries) },
	{ "registries.mirrors", FILE_MIRRORS, FILE_OF_CLUSTER, "registry-mirror", NULL, "{docker.io: \"https://mirror.example\"}",
	  "where to get images of a registry from", CLUSTER(registry_mirrors) },

	{ "kubeconfig", FILE_MAP, FILE_OF_CLUSTER, NULL, NULL, NULL, "how kubectl is told of the cluster" },
	{ "kubeconfig.keepContext", FILE_FLAG, FILE_OF_CLUSTER, "keep-context", "false", "true",
	  "leave kubectl's current context as it is", FLAG(keep_context) },
	{ "kubeconfig.embedCerts", FILE_FLAG, FILE_OF_CLUSTER, "embed-certs", "false", "true",
	  "put certificates into the kubeconfig, not paths to them", FLAG(embed_certs) },

	{ "noScheduleControlPlanes", FILE_FLAG, FILE_OF_CLUSTER, "no-schedule-control-planes", "false", "true",
	  "keep pods off control planes", FLAG(no_schedule_control_planes) },
	{ "defaults", FILE_MAP, FILE_OF_CLUSTER, NULL, NULL, NULL, "what every node has unless it has its own" },
	{ "nodes", FILE_NODES, FILE_OF_CLUSTER, "nodes", "(one control plane)", NULL,
	  "the nodes; a node has what 'defaults' has, and besides or instead what it says itself" },

	{ "role", FILE_CHOICE, FILE_OF_NODE, NULL, NULL, "worker",
	  "what the node is; must be given", .words = "control-plane|worker" },
	{ "noSchedule", FILE_FLAG, FILE_OF_NODE, NULL, "false", "true",
	  "keep pods off the node, which is a control plane", .has_member = true,
	  .node_wanted = offsetof(struct node_options, no_schedule) },
	{ "name", FILE_WORD, FILE_OF_NODE, NULL, "(the first free node-N)", "database",
	  "what the node is called", .check = spec_check_node_name, NODE(name) },
	{ "count", FILE_NUMBER, FILE_OF_NODE, NULL, "1", "2",
	  "how many such nodes there are", .least = 1, .most = 250 },
	{ "staticIP", FILE_WORD, FILE_OF_NODE, "static-ip", "(the next free one)", "192.168.60.10",
	  "the node's address", .chosen_for_you = true, .check = spec_check_address, NODE(address) },
	{ "kubernetesVersion", FILE_VERSION, FILE_OF_NODE, "kubernetes-version", "(the cluster's)", "v1.35.4",
	  "Kubernetes of the node, if it is to be an older one", EACH(kubernetes_version) },
	{ "cpus", FILE_NUMBER, FILE_OF_DEFAULTS | FILE_OF_NODE, "cpus", "(the host's)", "2",
	  "CPUs of the node", .least = 1, .most = INT_MAX, .may_be_all = true, .effect = FILE_HELD_TO, EACH(cpus) },
	{ "memory", FILE_SIZE, FILE_OF_DEFAULTS | FILE_OF_NODE, "memory", "(the host's)", "2g",
	  "memory of the node", .may_be_all = true, .effect = FILE_HELD_TO, EACH(memory_bytes) },
	{ "diskSize", FILE_SIZE, FILE_OF_DEFAULTS | FILE_OF_NODE, "disk-size", "(none, but a part of the host's)", "8g",
	  "size of a disk for the node's /var", .effect = FILE_GROWING, .check_size = choices_check_disk, EACH(disk_bytes) },
	{ "labels", FILE_PAIRS, FILE_OF_DEFAULTS | FILE_OF_NODE, "label", NULL, "{tier: db}",
	  "labels of the node; null takes one of the defaults away", .effect = FILE_AT_ONCE, EACH(labels) },
	{ "taints", FILE_WORDS, FILE_OF_DEFAULTS | FILE_OF_NODE, "taint", NULL, "[\"dedicated=db:NoSchedule\"]",
	  "taints of the node, KEY[=VALUE]:EFFECT; KEY- takes one of the defaults away", .effect = FILE_AT_ONCE, EACH(taints) },
	{ "mounts", FILE_MOUNTS, FILE_OF_CLUSTER | FILE_OF_DEFAULTS | FILE_OF_NODE, "mount", NULL, "[\"/usr/share/doc:/doc:ro\"]",
	  "directories or files of this host that the node has, too, HOST:NODE[:ro], with the rights of their owner unless read-only; relative ones are beside this file", .effect = FILE_ON_RESTART, EACH(mounts) },
	{ "env", FILE_PAIRS, FILE_OF_DEFAULTS | FILE_OF_NODE, "env", NULL, "{HTTP_PROXY: \"http://proxy.example:3128\"}",
	  "variables for containerd and the kubelet of the node", .effect = FILE_ON_RESTART, EACH(env) },
	{ "maxPods", FILE_NUMBER, FILE_OF_DEFAULTS | FILE_OF_NODE, "max-pods", "110", "50",
	  "how many pods the node takes", .least = 1, .most = INT_MAX, EACH(max_pods) },
	{ "kubeletBinary", FILE_PATH, FILE_OF_DEFAULTS | FILE_OF_NODE, "kubelet-binary", "(Kubernetes' own)", "/usr/local/bin/kubelet",
	  "a kubelet of your own build", .effect = FILE_ON_RESTART, EACH(kubelet_binary) },
	{ "baseImage", FILE_PATH, FILE_OF_DEFAULTS | FILE_OF_NODE, "base-image", "(the host's own files)", "/srv/debian",
	  "a folder or tar of which the node has its /usr", EACH(base_image) },
	{ "driver", FILE_WORD, FILE_OF_DEFAULTS | FILE_OF_NODE, "driver", "(the default one)", NODE_DRIVER_DEFAULT,
	  "what makes the node", EACH(driver) },
	{ "extraConfig", FILE_EXTRA, FILE_OF_NODE, "extra-config", NULL, "{kubelet: {v: 4}}",
	  "arguments of the node's kubelet", .check = spec_check_kubelet_argument, NODE(extra_config) },
	{ "featureGates", FILE_GATES, FILE_OF_NODE, "feature-gates", NULL, "{InPlacePodVerticalScaling: true}",
	  "features of the node's kubelet to turn on or off", NODE(feature_gates) },
	{ "kubeadmPatches", FILE_PATCHES, FILE_OF_NODE, NULL, NULL,
	  "[{kind: JoinConfiguration, merge: {nodeRegistration: {imagePullPolicy: Never}}}]",
	  "changes of what kubeadm is told on this node", .check = kubeadm_patch_check, NODE(kubeadm_patches) },
	{ NULL },
};
/* clang-format on */

const char *file_field_key(const struct file_field *field)
{
	const char *dot = strrchr(field->name, '.');

	return dot ? dot + 1 : field->name;
}

bool file_field_is_in(const struct file_field *field, enum file_place place, const char *in)
{
	size_t len = strlen(in);
	const char *key = file_field_key(field);

	if (!(field->places & place))
		return false;
	return len == 0 ? key == field->name
			: strncmp(field->name, in, len) == 0 && key == field->name + len + 1;
}

void file_copy_member(const struct file_field *field, const void *from, void *to)
{
	const struct strlist *list = from;

	if (field->type >= FILE_WORDS) {
		strlist_release(to);
		if (list->count)
			strlist_add_all(to, list->items);
	} else if (field->type == FILE_FLAG) {
		*(bool *)to = *(const bool *)from;
	} else if (field->type == FILE_SIZE) {
		*(uint64_t *)to = *(const uint64_t *)from;
	} else if (field->type == FILE_NUMBER || field->type == FILE_SECONDS) {
		*(unsigned *)to = *(const unsigned *)from;
	} else {
		*(const char **)to = *(const char *const *)from;
	}
}

void file_own_member(const struct file_field *field, const void *from, void *to)
{
	const char *word;

	if (field->type == FILE_FLAG || field->type >= FILE_NUMBER) {
		file_copy_member(field, from, to);
		return;
	}
	word = *(const char *const *)from;
	free(*(char **)to);
	*(char **)to = word ? xstrdup(word) : NULL;
}

char *file_field_type_words(const struct file_field *field)
{
	static const char *const words[] = {
		[FILE_MAP] = "a mapping",
		[FILE_NODES] = "a list of mappings",
		[FILE_WORD] = "a word",
		[FILE_PATH] = "a path of this host",
		[FILE_VERSION] = "a version",
		[FILE_FLAG] = "true or false",
		[FILE_SIZE] = "a size, for instance 2g",
		[FILE_SECONDS] = "a duration, for instance 6m",
		[FILE_WORDS] = "a list of words",
		[FILE_MOUNTS] = "a list of words",
		[FILE_PAIRS] = "a mapping of words",
		[FILE_GATES] = "a mapping of names to true or false",
		[FILE_EXTRA] = "a mapping of components to mappings",
		[FILE_MIRRORS] = "a mapping of registries to URLs",
		[FILE_PATCHES] = "a list of mappings",
	};
	cleanup_with(strlist_release) struct strlist choices = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	if (field->type == FILE_NUMBER && field->most == INT_MAX)
		return xasprintf("a number from %u on%s", field->least,
				 field->may_be_all ? ", or max" : "");
	if (field->type == FILE_NUMBER)
		return xasprintf("a number from %u to %u", field->least, field->most);
	if (field->type != FILE_CHOICE)
		return xasprintf("%s%s", words[field->type], field->may_be_all ? ", or max" : "");
	strlist_split(&choices, field->words, '|');
	joined = strlist_join(&choices, " or ");
	return xstrdup(joined);
}

char *file_field_path(const struct file_field *field, enum file_place place)
{
	return xasprintf("%s%s",
			 place == FILE_OF_NODE       ? "nodes[]."
			 : place == FILE_OF_DEFAULTS ? "defaults."
						     : "",
			 field->name);
}

char *file_field_usual(const struct file_field *field)
{
	const char *usual = field->usual ? field->usual : "";
	bool is_words = *usual == '(';

	return xstrndup(usual + is_words, strlen(usual) - (is_words ? 2 : 0));
}

char *file_field_summary(const struct file_field *field)
{
	cleanup_free char *type = file_field_type_words(field);
	cleanup_free char *usual = file_field_usual(field);

	return xasprintf("%s (%s%s%s%s)", field->help, type, *usual ? "; " : "", usual,
			 *usual ? " unless given" : "");
}
