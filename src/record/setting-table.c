/*
 * The table of settings.
 *
 * Its order is that of the file's fields.  Options stand in the order that commands name them in,
 * and those that a command does not name come last.
 */

#include <limits.h>
#include <stddef.h>

#include "driver/driver.h"
#include "record/cni.h"
#include "record/labels.h"
#include "record/limits.h"
#include "record/profile.h"
#include "record/setting-check.h"
#include "record/setting.h"
#include "record/spec.h"

#define OF_CLUSTER SETTING_OF_CLUSTER
#define OF_NODE    SETTING_OF_NODE
#define OF_EACH    (SETTING_OF_DEFAULTS | SETTING_OF_NODE)

/* Where MEMBER is, and what it is called in the record: of the cluster, of a node, */
#define CLUSTER(key_, member_) \
	.has_member = true, .key = key_, .cluster = offsetof(struct cluster_settings, member_)
#define NODE(key_, member_) \
	.has_member = true, .key = key_, .node = offsetof(struct node_settings, member_)
/* and of all nodes, where each can have its own. */
#define EACH(key_, member_) CLUSTER(key_, member_), .node = offsetof(struct node_settings, member_)

/* clang-format off */
const struct setting setting_table[] = {
	{ "apiVersion", SETTING_WORD, OF_CLUSTER, NULL, NULL, FILE_API_VERSION,
	  "version of this format; required" },
	{ "kind", SETTING_WORD, OF_CLUSTER, NULL, NULL, FILE_KIND,
	  "kind of object; required" },
	{ "name", SETTING_WORD, OF_CLUSTER, "profile", PROFILE_DEFAULT_NAME, "dev",
	  "name of the cluster", .check = profile_check_name },
	{ "kubernetesVersion", SETTING_VERSION, OF_CLUSTER, "kubernetes-version", "(the newest)", "v1.36.3",
	  "Kubernetes version, for instance v1.36.3, v1.36 or stable",
	  .start_help = "Kubernetes version, for instance v1.36.3, v1.35 or stable; 'manykube version' lists them",
	  .check_option = setting_check_version, CLUSTER("kubernetesVersion", kubernetes_version) },
	{ "offline", SETTING_FLAG, OF_CLUSTER, "offline", "false", "true",
	  "isolate the cluster: no NAT, no outside DNS",
	  .start_help = "isolate the cluster: no NAT, no outside DNS; download and build nothing",
	  CLUSTER("offline", offline) },
	{ "cni", SETTING_WORD, OF_CLUSTER, "cni", "auto", "none",
	  "pod network: auto gives each pod a link, bridge connects the pods of a node by a bridge, flannel runs as a "
	  "DaemonSet, none lets you install one; or the path or URL of a manifest, or a directory of manifests",
	  .operand = CNI_WORDS, .check = cni_check, .check_option = cni_check, .is_path = cni_is_place, .resolve = cni_name,
	  .beyond_user = cni_is_beyond_user, .moves_pods = true, CLUSTER("cni", cni) },
	{ "cniBackend", SETTING_CHOICE, OF_CLUSTER, "cni-backend", "host-gw", "vxlan",
	  "how flannel connects nodes: host-gw by routes, vxlan by tunnels", .words = "host-gw|vxlan",
	  .moves_pods = true, CLUSTER("cniBackend", cni_backend) },

	{ "network", SETTING_MAP, OF_CLUSTER, NULL, NULL, NULL, "addresses, ports and names" },
	{ "network.ipFamily", SETTING_CHOICE, OF_CLUSTER, "ip-family", "ipv4", "dual",
	  "addresses of nodes, pods and services: ipv4, or dual for IPv4 and IPv6", .words = "ipv4|dual",
	  .instead = "dual gives everything addresses of both families; the control plane itself needs IPv4",
	  CLUSTER("ipFamily", ip_family) },
	{ "network.subnet", SETTING_WORD, OF_CLUSTER, "subnet", "(a free one)", "192.168.60.0/24",
	  "subnet of the nodes", .operand = "SUBNET",
	  .start_help = "subnet of the nodes, for instance 192.168.60.0/24 (default: a free one)",
	  .check = setting_check_nodes_subnet, .chosen_for_you = true, .beyond_user = setting_is_public_subnet, CLUSTER("subnet", subnet) },
	{ "network.podSubnet", SETTING_WORD, OF_CLUSTER, "pod-network-cidr", "(a free one)", "10.244.0.0/16",
	  "subnet of the pods; each node gets a /24 of it", .operand = "SUBNET",
	  .start_help = "subnet of the pods; each node gets a /24 of it (default: a free one)",
	  .check = setting_check_pods_subnet, .chosen_for_you = true, .beyond_user = setting_is_public_subnet, CLUSTER("podSubnet", pod_subnet) },
	{ "network.serviceSubnet", SETTING_WORD, OF_CLUSTER, "service-cluster-ip-range", "10.96.0.0/12", "10.96.0.0/16",
	  "subnet of the services", .operand = "SUBNET",
	  .start_help = "subnet of the services (default: 10.96.0.0/12)",
	  .check = setting_check_services_subnet, CLUSTER("serviceSubnet", service_subnet) },
	{ "network.dnsDomain", SETTING_WORD, OF_CLUSTER, "dns-domain", "cluster.local", "cluster.local",
	  "DNS domain of the services", .operand = "NAME",
	  .start_help = "DNS domain of the services (default: cluster.local)",
	  .check = spec_check_dns_name, CLUSTER("dnsDomain", dns_domain) },
	{ "network.apiPort", SETTING_NUMBER, OF_CLUSTER, "apiserver-port", "(a free one)", "6443",
	  "API port on 127.0.0.1",
	  .start_help = "API port on 127.0.0.1 (default: a free one)",
	  .least = 1, .most = 65535, .chosen_for_you = true, .any_time = true, .beyond_user = setting_is_low_port, CLUSTER("apiPort", api_port) },
	{ "network.apiNames", SETTING_WORDS, OF_CLUSTER, "apiserver-names", NULL, "[dev.example]",
	  "additional names in the API's certificate", .operand = "NAME", .splits = true,
	  .start_help = "an additional name in the API's certificate",
	  .check = spec_check_dns_name, CLUSTER("apiNames", api_names) },
	{ "network.apiIPs", SETTING_WORDS, OF_CLUSTER, "apiserver-ips", NULL, "[10.1.2.3]",
	  "additional addresses in the API's certificate", .operand = "ADDRESS", .splits = true,
	  .start_help = "an additional address in the API's certificate",
	  .check = spec_check_address, CLUSTER("apiIps", api_ips) },
	{ "network.ports", SETTING_WORDS, OF_CLUSTER, "ports", NULL, "[\"8080:30080\"]",
	  "host ports to forward, [ADDRESS:]HOST[:NODE][@NAME], to port NODE of the first node that answers "
	  "there, or of the node NAME",
	  .operand = "[ADDRESS:]HOST[:NODE][@NAME]",
	  .start_help = "forward port HOST of this host to port NODE of the first node that answers there, or "
	                "of the node NAME",
	  .check = setting_check_port, .normal = setting_normal_port, .excludes = setting_is_same_port, .any_time = true, .beyond_user = setting_has_guarded_port, CLUSTER("ports", ports) },

	{ "network.hostAccess", SETTING_WORD, OF_CLUSTER, "host-access", "(all, or none if offline)", "8080",
	  "what nodes can reach on this host besides DNS and the API: all, none, or TCP and UDP ports, for "
	  "instance 8080,9090",
	  .operand = "all|none|PORT,...",
	  .start_help = "what nodes can reach on this host besides DNS and the API: all, none, or TCP and UDP "
	                "ports (default: all, or none with --offline)",
	  .check = spec_check_host_access, .check_option = spec_check_host_access, .any_time = true, CLUSTER("hostAccess", host_access) },

	{ "network.policy", SETTING_CHOICE, OF_CLUSTER, "network-policy", "true", "false",
	  "enforce network policies: true or false", .words = "true|false",
	  .start_help = "enforce network policies", .any_time = true, CLUSTER("networkPolicy", network_policy) },

	{ "featureGates", SETTING_GATES, OF_CLUSTER, "feature-gates", NULL, "{InPlacePodVerticalScaling: true}",
	  "feature gates of all Kubernetes components", .operand = "NAME=true|false", .splits = true,
	  .start_help = "a feature gate of all Kubernetes components",
	  .check = setting_check_gate, CLUSTER("featureGates", feature_gates) },
	{ "extraConfig", SETTING_EXTRA, OF_CLUSTER, "extra-config", NULL, "{apiserver: {v: 4}, kubelet: {maxPods: 50}}",
	  "arguments or configuration fields of apiserver, controller-manager, scheduler, etcd, kubelet, proxy "
	  "and kubeadm",
	  .operand = "COMPONENT.KEY=VALUE",
	  .start_help = "an argument or configuration field of apiserver, controller-manager, scheduler, etcd, "
	                "kubelet, proxy or kubeadm",
	  .check = setting_check_extra, .normal = setting_normal_extra, CLUSTER("extraConfig", extra_config) },
	{ "kubeadmPatches", SETTING_PATCHES, OF_CLUSTER, NULL, NULL,
	  "[{kind: ClusterConfiguration, merge: {apiServer: {extraArgs: {v: 5}}}}]",
	  "patches to kubeadm's configuration: 'merge' (RFC 7386) or 'operations' (RFC 6902)",
	  CLUSTER("kubeadmPatches", kubeadm_patches) },
	{ "certExpiration", SETTING_SECONDS, OF_CLUSTER, "cert-expiration", "(a year)", "720h",
	  "validity of certificates",
	  .start_help = "validity of certificates (default: a year); 'start' renews those that expire soon",
	  CLUSTER("certSeconds", cert_seconds) },
	{ "failover", SETTING_CHOICE, OF_CLUSTER, "failover", "default", "fast",
	  "timeouts until a failed node is noticed and its pods move: default (Kubernetes' own, more than 5 "
	  "minutes) or fast (about 12 seconds)", .words = "default|fast",
	  CLUSTER("failover", failover) },
	{ "imageRepository", SETTING_WORD, OF_CLUSTER, "image-repository", "(registry.k8s.io)", "registry.local:5000/kubernetes",
	  "repository in the names of Kubernetes' own images", .operand = "REPOSITORY",
	  .check = setting_check_repository, CLUSTER("imageRepository", image_repository) },
	{ "images", SETTING_PATHS, OF_CLUSTER, "load-images", NULL, "[app.tar]",
	  "image archives, as written by 'docker save', to load on every node; relative paths start at this "
	  "file's directory",
	  .operand = "FILE", .start_help = "an image archive, as written by 'docker save', to load on every node",
	  .config = SETTING_CONFIG_NONE, .any_time = true, CLUSTER("images", images) },

	{ "registry", SETTING_MAP, OF_CLUSTER, NULL, NULL, NULL, "the cluster's own image registry, see 'manykube registry'" },
	{ "registry.port", SETTING_NUMBER, OF_CLUSTER, NULL, "(no registry)", "5000",
	  "run a registry that this host and the nodes reach at localhost, at this port",
	  .least = 1, .most = 65535, .any_time = true, CLUSTER("registryPort", registry_port) },
	{ "registries", SETTING_MAP, OF_CLUSTER, NULL, NULL, NULL, "image registries" },
	{ "registries.insecure", SETTING_WORDS, OF_CLUSTER, "insecure-registry", NULL, "[\"registry.local:5000\"]",
	  "registries without a valid certificate", .operand = "HOST[:PORT]", .splits = true,
	  .start_help = "a registry without a valid certificate", .config = SETTING_CONFIG_ANY,
	  .check = spec_check_registry, .any_time = true, CLUSTER("insecureRegistries", insecure_registries) },
	{ "registries.mirrors", SETTING_MIRRORS, OF_CLUSTER, "registry-mirror", NULL, "{docker.io: \"https://mirror.example\"}",
	  "mirrors of registries", .operand = "[REGISTRY=]URL",
	  .start_help = "a mirror of a registry (default: of docker.io)", .config = SETTING_CONFIG_ANY,
	  .check = setting_check_mirror, .normal = setting_normal_mirror, .any_time = true, CLUSTER("registryMirrors", registry_mirrors) },

	{ "kubeconfig", SETTING_MAP, OF_CLUSTER, NULL, NULL, NULL, "the cluster's entries in your kubeconfig" },
	{ "kubeconfig.keepContext", SETTING_FLAG, OF_CLUSTER, "keep-context", "false", "true",
	  "keep kubectl's current context", .config = SETTING_CONFIG_ANY, CLUSTER("keepContext", keep_context) },
	{ "kubeconfig.embedCerts", SETTING_FLAG, OF_CLUSTER, "embed-certs", "false", "true",
	  "embed certificates in the kubeconfig instead of paths", .config = SETTING_CONFIG_ANY,
	  CLUSTER("embedCerts", embed_certs) },

	{ "noScheduleControlPlanes", SETTING_FLAG, OF_CLUSTER, "no-schedule-control-planes", "false", "true",
	  "keep pods off control planes", .start_help = "keep pods off new control planes",
	  CLUSTER("noScheduleControlPlanes", no_schedule_control_planes) },
	{ "defaults", SETTING_MAP, OF_CLUSTER, NULL, NULL, NULL, "settings of all nodes; a node can override them" },
	{ "nodes", SETTING_NODES, OF_CLUSTER, "nodes", "(one control plane)", NULL,
	  "the nodes; each inherits 'defaults' and can add to or override them" },

	{ "role", SETTING_CHOICE, OF_NODE, NULL, NULL, "worker",
	  "role of the node; required", .words = "control-plane|worker" },
	{ "noSchedule", SETTING_FLAG, OF_NODE, NULL, "false", "true",
	  "keep pods off this control plane" },
	{ "name", SETTING_WORD, OF_NODE, NULL, "(the first free node-N)", "database",
	  "name of the node", .check = spec_check_node_name, NODE("name", name) },
	{ "count", SETTING_NUMBER, OF_NODE, NULL, "1", "2",
	  "number of such nodes", .least = 1, .most = NODES_MOST },
	{ "staticIP", SETTING_WORD, OF_NODE, "static-ip", "(the next free one)", "192.168.60.10",
	  "address of the node", .operand = "ADDRESS", .node_help = "address of the node (default: the next free one)",
	  .chosen_for_you = true, .check = spec_check_address, NODE("address", address) },
	{ "kubernetesVersion", SETTING_VERSION, OF_NODE, "kubernetes-version", "(the cluster's)", "v1.35.4",
	  "version of the node's kubelet, if older than the cluster",
	  .node_help = "version of the node's kubelet, for instance v1.35 (default: the cluster's)",
	  EACH("kubernetesVersion", kubernetes_version) },
	{ "cpus", SETTING_NUMBER, OF_EACH, "cpus", "(max)", "2", "CPUs of the node",
	  .start_help = "CPUs of each node; max or no-limit: all CPUs of the host (default)",
	  .node_help = "CPUs of the node, or max (default: the cluster's)",
	  .set_help = "CPUs of the node; max: all CPUs of the host",
	  .least = 1, .most = INT_MAX, .may_be_all = true, .effect = SETTING_HELD_TO, EACH("cpus", cpus) },
	{ "memory", SETTING_SIZE, OF_EACH, "memory", "(max)", "2g", "memory of the node", .letter = 'm',
	  .start_help = "memory of each node, for instance 2g; max or no-limit: all memory of the host (default; of a VM: 2g)",
	  .node_help = "memory of the node, for instance 2g, or max (default: the cluster's; of a VM: 2g)",
	  .set_help = "memory of the node, for instance 2g; max: all memory of the host",
	  .may_be_all = true, .effect = SETTING_HELD_TO, EACH("memoryBytes", memory_bytes) },
	{ "diskSize", SETTING_SIZE, OF_EACH, "disk-size", "(none)", "8g",
	  "size of a separate disk for the node's /var",
	  .start_help = "size of a separate disk for each node's /var, for instance 20g (default: none)",
	  .node_help = "size of a separate disk for the node's /var (default: the cluster's)",
	  .set_help = "new size of the node's disk; it grows at the next start of the node",
	  .effect = SETTING_GROWING, .check_size = setting_check_disk, EACH("diskBytes", disk_bytes) },
	{ "labels", SETTING_PAIRS, OF_EACH, "label", NULL, "{tier: db}",
	  "labels of the node; null removes a default", .operand = "KEY=VALUE",
	  .start_help = "a label of every node", .node_help = "a label of the node, in addition to the cluster's",
	  .set_help = "set or remove a label",
	  .check = setting_check_label, .normal = setting_normal_label, .change = labels_change, .effect = SETTING_AT_ONCE, EACH("labels", labels) },
	{ "taints", SETTING_WORDS, OF_EACH, "taint", NULL, "[\"dedicated=db:NoSchedule\"]",
	  "taints of the node, KEY[=VALUE]:EFFECT; KEY- removes a default", .operand = "KEY=VALUE:EFFECT",
	  .start_help = "a taint of every node", .node_help = "a taint of the node, in addition to the cluster's",
	  .set_help = "set or remove a taint",
	  .check = setting_check_taint, .normal = setting_normal_taint, .change = labels_change_taints, .effect = SETTING_AT_ONCE, EACH("taints", taints) },
	{ "mounts", SETTING_PATHS, OF_CLUSTER | OF_EACH, "mount", NULL, "[\"/usr/share/doc:/doc:ro\"]",
	  "host directories or files to mount, HOST:NODE[:ro]; unless read-only, the node's root has their "
	  "owner's rights there; relative paths start at this file's directory",
	  .operand = "HOST:NODE[:ro]",
	  .start_help = "a host directory or file to mount on every node; unless read-only, the node's root "
	                "has its owner's rights there",
	  .node_help = "a host directory or file to mount; unless read-only, the node's root has its owner's "
	               "rights there",
	  .check = setting_check_mount, .check_option = setting_check_mount_form, .instead = "write --mount=HOST:NODE",
	  .effect = SETTING_ON_RESTART, .beyond_user = setting_is_beyond_user, EACH("mounts", mounts) },
	{ "env", SETTING_PAIRS, OF_EACH, "env", NULL, "{HTTP_PROXY: \"http://proxy.example:3128\"}",
	  "environment of the node's containerd and kubelet", .operand = "NAME=VALUE", .secret = true, .by_key = true,
	  .start_help = "an environment variable of containerd and the kubelet on every node",
	  .node_help = "an environment variable of the node's containerd and kubelet",
	  .check = spec_check_variable, .effect = SETTING_ON_RESTART, EACH("env", env) },
	{ "dockerOpt", SETTING_WORDS, OF_EACH, "docker-opt", NULL, "[\"dns=192.0.2.53\"]",
	  "options of the node's Docker daemon, without dashes", .operand = "OPTION",
	  .start_help = "an option of the Docker daemon of every node, without dashes; see 'manykube docker-env'",
	  .node_help = "an option of the node's Docker daemon, without dashes; see 'manykube docker-env'",
	  .set_help = "add or remove an option of the node's Docker daemon",
	  .check = setting_check_docker_option, .effect = SETTING_OF_DOCKER, EACH("dockerOpt", docker_opt) },
	{ "dockerEnv", SETTING_PAIRS, OF_EACH, "docker-env", NULL, "{HTTP_PROXY: \"http://proxy.example:3128\"}",
	  "environment of the node's Docker daemon", .operand = "NAME=VALUE", .secret = true, .by_key = true,
	  .start_help = "an environment variable of the Docker daemon of every node",
	  .node_help = "an environment variable of the node's Docker daemon",
	  .set_help = "set or remove an environment variable of the node's Docker daemon",
	  .check = spec_check_variable, .effect = SETTING_OF_DOCKER, EACH("dockerEnv", docker_env) },
	{ "maxPods", SETTING_NUMBER, OF_EACH, "max-pods", "110", "50", "maximum number of pods",
	  .start_help = "maximum number of pods per node (default: 110)",
	  .least = 1, .most = INT_MAX, EACH("maxPods", max_pods) },
	{ "kubeletBinary", SETTING_PATH, OF_EACH, "kubelet-binary", "(the release's)", "/usr/local/bin/kubelet",
	  "kubelet of your own build", .operand = "FILE",
	  .start_help = "a kubelet of your own build for every node", .node_help = "a kubelet of your own "
	                "build for the node",
	  .check = setting_check_program, .effect = SETTING_ON_RESTART, .beyond_user = setting_is_beyond_user, EACH("kubeletBinary", kubelet_binary) },
	{ "baseImage", SETTING_PATH, OF_EACH, "base-image", "(the host)", "/srv/debian",
	  "directory or tar archive with a root file system; the node uses its /usr", .operand = "PATH",
	  .start_help = "directory or tar archive with a root file system; nodes use its /usr (default: the host's)",
	  .node_help = "directory or tar archive with a root file system; the node uses its /usr (default: the "
	               "cluster's)",
	  .beyond_user = setting_is_beyond_user, EACH("baseImage", base_image) },
	{ "kernel", SETTING_PATH, OF_EACH, "kernel", "(Debian's for virtual machines)", "/boot/vmlinuz-6.12.0",
	  "kernel of VMs: an image, whose modules are in /lib/modules or beside its directory, or a .deb package",
	  .operand = "FILE",
	  .start_help = "kernel of VMs (--driver=qemu): an image, whose modules are in /lib/modules or beside its "
	                "directory, or a .deb package (default: Debian's for virtual machines)",
	  .node_help = "kernel of a VM (--driver=qemu): an image, whose modules are in /lib/modules or beside its "
	               "directory, or a .deb package (default: the cluster's)",
	  .beyond_user = setting_is_beyond_user, EACH("kernel", kernel) },
	{ "driver", SETTING_WORD, OF_EACH, "driver", NODE_DRIVER_DEFAULT, NODE_DRIVER_DEFAULT,
	  "driver that creates the node", .letter = 'd', .operand = "NAME",
	  .start_help = "driver that creates the nodes (default: auto)",
	  .node_help = "driver that creates the node, or auto (default: the cluster's)",
	  .check = node_driver_check, .check_option = setting_check_driver, .resolve = node_driver_resolve, .config = SETTING_CONFIG_NONE,
	  EACH("driver", driver) },
	{ "extraConfig", SETTING_EXTRA, OF_NODE, "extra-config", NULL, "{kubelet: {v: 4}}",
	  "arguments of the node's kubelet", .operand = "kubelet.KEY=VALUE", .node_help = "an argument of the "
	  "node's kubelet",
	  .check = setting_check_kubelet_extra, .normal = setting_normal_extra, NODE("extraConfig", extra_config) },
	{ "featureGates", SETTING_GATES, OF_NODE, "feature-gates", NULL, "{InPlacePodVerticalScaling: true}",
	  "feature gates of the node's kubelet", .operand = "NAME=true|false", .splits = true,
	  .node_help = "a feature gate of the node's kubelet",
	  .check = setting_check_gate, NODE("featureGates", feature_gates) },
	{ "kubeadmPatches", SETTING_PATCHES, OF_NODE, NULL, NULL,
	  "[{kind: JoinConfiguration, merge: {nodeRegistration: {imagePullPolicy: Never}}}]",
	  "patches to kubeadm's configuration on this node", NODE("kubeadmPatches", kubeadm_patches) },
	{ "insecureRegistries", SETTING_WORDS, OF_NODE, "insecure-registry", NULL, "[\"registry.local:5000\"]",
	  "registries without a valid certificate, in addition to those of the cluster", .operand = "HOST[:PORT]", .splits = true,
	  .node_help = "a registry without a valid certificate, in addition to the cluster's",
	  .set_help = "add or remove a registry without a valid certificate, for this node only",
	  .check = spec_check_registry, .effect = SETTING_OF_DOCKER, NODE("insecureRegistries", insecure_registries) },
	{ "registryMirrors", SETTING_MIRRORS, OF_NODE, "registry-mirror", NULL, "{docker.io: \"https://mirror.example\"}",
	  "mirrors of registries, asked before those of the cluster", .operand = "[REGISTRY=]URL",
	  .node_help = "a mirror of a registry (default: of docker.io), asked before the cluster's",
	  .set_help = "add or remove a mirror of a registry (default: of docker.io), for this node only",
	  .check = setting_check_mirror, .normal = setting_normal_mirror, .effect = SETTING_OF_DOCKER, NODE("registryMirrors", registry_mirrors) },
	{ NULL },
};
/* clang-format on */
