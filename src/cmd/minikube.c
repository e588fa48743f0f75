/* minikube's commands and options that do not exist here, and their substitutes. */

#include "cmd/minikube.h"
#include "record/setting-check.h"

#include <stddef.h>

#define BUILD_ELSEWHERE                                                                                      \
	"'manykube docker-env NODE' lets your docker client build in a node, 'manykube docker-all -- build " \
	"-t NAME .' in all of them"

/* clang-format off */
#define LISTS "'manykube node list' lists the nodes of a cluster, 'manykube profile list' the clusters"
#define DELETES "the command delete, without a name, deletes the active cluster, or the one that -p names"

const struct absent_command minikube_commands[] = {
	{ "manykube addons",
	  "DNS, networking and storage are part of every cluster; 'manykube registry enable' runs a registry; "
	  "install anything else with 'manykube kubectl apply -f MANIFEST'" },
	{ "manykube build", "'manykube image build' builds an image for all nodes" },
	{ "manykube cache", "'manykube image load' loads images on all nodes" },
	{ "manykube cluster", LISTS "; 'manykube start -p NAME' creates one" },
	{ "manykube clusters", LISTS },
	{ "manykube config defaults", "'manykube start --help' shows the defaults of all options" },
	{ "manykube dashboard",
	  "there is no dashboard; use 'manykube status' and 'manykube kubectl get all -A'" },
	{ "manykube delete cluster", DELETES },
	{ "manykube delete clusters", DELETES },
	{ "manykube delete node", "the command node delete NAME deletes a node" },
	{ "manykube export",
	  "'manykube logs --file=BUNDLE.tar.gz' writes all logs, 'manykube update-context' the kubeconfig" },
	{ "manykube generate-docs", "see 'man manykube', or use --help with any command" },
	{ "manykube get", LISTS "; 'manykube update-context' writes the kubeconfig" },
	{ "manykube image prune",
	  "what no image needs any more is removed by itself; 'manykube image ls' lists images, and the command "
	  "image rm removes them" },
	{ "manykube kubeconfig", "'manykube update-context' writes the cluster's entries into your kubeconfig" },
	{ "manykube license", "the license is in the file LICENSE of the sources" },
	{ "manykube licenses", "the license is in the file LICENSE of the sources" },
	{ "manykube list", LISTS },
	{ "manykube load", "'manykube image load' loads images on all nodes" },
	{ "manykube ls", LISTS },
	{ "manykube mount",
	  "use --mount=HOST:NODE of 'manykube start' when the cluster is created, or of "
	  "'manykube node add'; 'manykube cp' copies files to existing nodes" },
	{ "manykube node ip", "'manykube ip NODE' prints the address" },
	{ "manykube node logs", "'manykube logs NODE' shows them" },
	{ "manykube node ssh", "'manykube ssh NODE' opens the shell" },
	{ "manykube node status", "'manykube status -n NODE' shows it" },
	{ "manykube podman-env", BUILD_ELSEWHERE },
	{ "manykube profile create", "'manykube start -p NAME' creates the cluster NAME" },
	{ "manykube profile delete", DELETES },
	{ "manykube profile remove", DELETES },
	{ "manykube profile rm", DELETES },
	{ "manykube profile set", "'manykube profile NAME' makes the cluster NAME the active one" },
	{ "manykube profile use", "'manykube profile NAME' makes the cluster NAME the active one" },
	{ "manykube registry create", "'manykube registry enable' runs a registry for the cluster" },
	{ "manykube ssh-host", "there are no host keys: 'manykube ssh' enters nodes without an SSH server" },
	{ "manykube ssh-key", "there is no key: 'manykube ssh' enters nodes without an SSH server" },
	{ "manykube update-check", "manykube does not check for updates; 'manykube version' "
				   "prints this version" },
	{ "manykube worker add", "'manykube worker create' registers a worker, 'manykube node add' also starts it" },
	{ "manykube worker pause", "'manykube node pause NODE' freezes a node" },
	{ "manykube worker set", "'manykube node set NODE' changes a node" },
	{ "manykube worker unpause", "'manykube node unpause NODE' resumes a node" },
	{ NULL, NULL },
};

#define MORE_WORDS "-v shows the time of each step, -vv each action, 'manykube logs' the rest"

/* klog's, mostly. */
const struct opt minikube_global_options[] = {
	OPT_ABSENT('b', "bootstrapper", "NAME", "nodes are always set up by kubeadm", .harmless = "kubeadm"),
	OPT_ABSENT(0, "rootless", NULL,
		   "there is no substitute: only root may create nodes; a node's root user has no "
		   "rights on this host",
		   .harmless = "false"),
	OPT_NEEDLESS(0, "add_dir_header", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "alsologtostderr", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "log_backtrace_at", "PLACE", MORE_WORDS),
	OPT_NEEDLESS(0, "log_dir", "DIRECTORY", "logs are kept with the cluster; 'manykube logs' "
						"shows them"),
	OPT_NEEDLESS(0, "log_file", "FILE", "logs are kept with the cluster; 'manykube logs' "
					    "shows them"),
	OPT_NEEDLESS(0, "log_file_max_size", "N", "logs are kept with the cluster; 'manykube "
						  "logs' shows them"),
	OPT_NEEDLESS(0, "logtostderr", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "one_output", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "skip_headers", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "skip_log_headers", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "stderrthreshold", "LEVEL", MORE_WORDS),
	OPT_NEEDLESS(0, "v", "LEVEL", MORE_WORDS),
	OPT_NEEDLESS(0, "vmodule", "PATTERN", MORE_WORDS),
	OPT_END,
};

#define DRIVERS "'manykube driver list' names the drivers"
#define NO_VM   "it concerns virtual machines that minikube makes; here --driver=qemu makes them"
#define NO_SSH  "nodes are reached without SSH"
#define BOUND     "--mount uses bind mounts, not 9p"
#define AS_IT_IS "there is no substitute: --mount shows files as they are on this host"

const struct opt minikube_start_options[] = {
	OPT_ABSENT(0, "vm-driver", "NAME", "write --driver=NAME; " DRIVERS,
		   .harmless = "auto|native|none"),
	OPT_ABSENT(0, "vm", NULL, "write --driver=qemu", .harmless = "false"),

	/* The cluster. */
	OPT_ABSENT(0, "addons", "NAME",
		   "DNS, networking and storage are part of every cluster; install anything else "
		   "with 'manykube kubectl apply -f MANIFEST'",
		   .harmless = "default-storageclass|storage-provisioner"),
	OPT_NEEDLESS(0, "install-addons", NULL, "there are no addons to choose"),
	OPT_NEEDLESS(0, "auto-pause-interval", "DURATION", "clusters are never paused "
							   "automatically; use 'manykube pause'"),
	OPT_ABSENT(0, "no-kubernetes", NULL, "there is no substitute: nodes always run Kubernetes",
		   .harmless = "false"),
	OPT_ABSENT(0, "namespace", "NAME",
		   "set it afterwards: 'manykube kubectl config set-context --current "
		   "--namespace=NAME'",
		   .harmless = "default"),
	OPT_NEEDLESS(0, "disable-coredns-log", NULL, "DNS queries are not logged"),
	OPT_NEEDLESS(0, "disable-metrics", NULL, "the kubelet always serves its metrics; install "
						 "a program to collect them"),
	OPT_NEEDLESS(0, "disable-optimizations", NULL, "the cluster is set up by kubeadm"),
	OPT_ABSENT(0, "cri-socket", "PATH", "there is no substitute: nodes run containerd, on its "
					    "own socket",
		   .harmless = "/run/containerd/containerd.sock|unix:///run/containerd/containerd.sock"),
	OPT_NEEDLESS(0, "force-systemd", NULL,
		     "containerd and the kubelet always use the same cgroup driver"),
	OPT_ABSENT(0, "extra-disks", "N", "there is no substitute: --disk-size gives a node one disk, for its /var",
		   .harmless = "0"),
	OPT_ABSENT(0, "gpus", "WHICH", "there is no substitute: nodes have no GPUs", .harmless = "none"),
	/* Those of kind and k3d. */
	OPT_ABSENT(0, "agents", "N", "write --nodes=N, which counts the control planes, too"),
	OPT_ABSENT(0, "servers", "N", "write --control-planes=N"),
	OPT_ABSENT(0, "config", "FILE", "write --file=FILE; files of kind are accepted, too"),
	OPT_ABSENT(0, "image", "NAME", "nodes need no image: --kubernetes-version chooses what they run"),
	/* Sources. */
	OPT_NEEDLESS(0, "preload", NULL, "everything comes from the cache on this host"),
	OPT_NEEDLESS(0, "preload-source", "WHERE", "everything comes from the cache on this host"),
	OPT_NEEDLESS(0, "cache-images", NULL, "everything comes from the cache on this host"),
	OPT_ABSENT(0, "image-mirror-country", "CODE",
		   "name the mirror: --registry-mirror=URL for images, --binary-mirror=URL for Kubernetes"),
	OPT_NEEDLESS(0, "iso-url", "URL", NO_VM "; --base-image chooses the root file system of nodes, and --kernel the kernel of VMs"),

	/* Networks. */
	OPT_ABSENT(0, "apiserver-name", "NAME", "--apiserver-names=NAME puts a name into the API's certificate",
		   .harmless = "minikubeCA"),
	OPT_ABSENT(0, "dns-servers", "ADDRESS", "there is no substitute: nodes use the resolver "
						"of this host"),
	OPT_NEEDLESS(0, "enable-default-cni", NULL, "there is a pod network unless --cni=none is "
						    "given"),
	OPT_ABSENT(0, "listen-address", "ADDRESS",
		   "--ports=ADDRESS:HOST:NODE publishes a port at an address; the API answers at 127.0.0.1 only",
		   .harmless = "127.0.0.1"),
	OPT_ABSENT(0, "network", "NAME", "every cluster has its own network; --subnet chooses "
					 "its addresses"),
	OPT_ABSENT(0, "cni-plugin", "NAME", "--cni chooses the pod network, and --cni=none leaves it to you"),
	OPT_ABSENT(0, "network-plugin", "NAME", "--cni chooses the pod network", .harmless = "cni"),
	OPT_ABSENT(0, "static-ip", "ADDRESS",
		   "--subnet chooses the subnet, and 'manykube node add --static-ip=ADDRESS', or "
		   "staticIP in a file for 'manykube start -f', the address of a node; nodes "
		   "keep their addresses"),

	/* Files. */
	OPT_ABSENT(0, "mount-string", "HOST:NODE", "use --mount=HOST:NODE"),
	OPT_NEEDLESS(0, "mount-9p-version", "VERSION", BOUND),
	OPT_NEEDLESS(0, "mount-ip", "ADDRESS", BOUND),
	OPT_NEEDLESS(0, "mount-msize", "N", BOUND),
	OPT_NEEDLESS(0, "mount-port", "PORT", BOUND),
	OPT_NEEDLESS(0, "mount-type", "TYPE", BOUND),
	OPT_ABSENT(0, "mount-gid", "ID", AS_IT_IS, .harmless = "docker"),
	OPT_ABSENT(0, "mount-options", "OPTIONS", "--mount=HOST:NODE:ro makes it read-only; there are no other options"),
	OPT_ABSENT(0, "mount-uid", "ID", AS_IT_IS, .harmless = "docker"),
	OPT_ABSENT(0, "nfs-share", "DIRECTORY", "use --mount=HOST:NODE"),
	OPT_NEEDLESS(0, "nfs-shares-root", "DIRECTORY", "use --mount=HOST:NODE"),
	OPT_NEEDLESS(0, "disable-driver-mounts", NULL, "home directories are not mounted unless "
						       "--mount is given"),

	/* Behaviour. */
	OPT_NEEDLESS(0, "interactive", NULL, "'start' asks only whether to build Kubernetes, which --yes answers"),
	OPT_NEEDLESS(0, "native-ssh", NULL, "'manykube ssh' enters nodes without an SSH server"),
	OPT_NEEDLESS(0, "auto-update-drivers", NULL, "all drivers are part of manykube"),
	OPT_NEEDLESS(0, "trace", "WHERE", "-v shows the time of each step, -o json every event"),

	/* Options of other drivers; minikube, too, ignores options of drivers that are not used. */
	OPT_NEEDLESS(0, "kvm-gpu", NULL, NO_VM),
	OPT_NEEDLESS(0, "kvm-hidden", NULL, NO_VM),
	OPT_NEEDLESS(0, "kvm-network", "NAME", NO_VM),
	OPT_ABSENT(0, "kvm-numa-count", "N", "there is no substitute: nodes have the NUMA "
					     "topology of this host",
		   .harmless = "1"),
	OPT_NEEDLESS(0, "kvm-qemu-uri", "URI", NO_VM),
	OPT_NEEDLESS(0, "dns-proxy", NULL, NO_VM),
	OPT_NEEDLESS(0, "host-dns-resolver", NULL, NO_VM),
	OPT_NEEDLESS(0, "host-only-cidr", "SUBNET", NO_VM "; --subnet chooses their addresses"),
	OPT_NEEDLESS(0, "host-only-nic-type", "TYPE", NO_VM),
	OPT_NEEDLESS(0, "nat-nic-type", "TYPE", NO_VM),
	OPT_NEEDLESS(0, "no-vtx-check", NULL, NO_VM),
	OPT_NEEDLESS(0, "hyperkit-vpnkit-sock", "PATH", NO_VM),
	OPT_NEEDLESS(0, "hyperkit-vsock-ports", "PORT", NO_VM),
	OPT_NEEDLESS(0, "uuid", "UUID", NO_VM),
	OPT_NEEDLESS(0, "hyperv-external-adapter", "NAME", NO_VM),
	OPT_NEEDLESS(0, "hyperv-use-external-switch", NULL, NO_VM),
	OPT_NEEDLESS(0, "hyperv-virtual-switch", "NAME", NO_VM),
	OPT_NEEDLESS(0, "qemu-firmware-path", "PATH", NO_VM),
	OPT_NEEDLESS(0, "socket-vmnet-client-path", "PATH", NO_VM),
	OPT_NEEDLESS(0, "socket-vmnet-path", "PATH", NO_VM),
	OPT_NEEDLESS(0, "vmnet-offloading", NULL, NO_VM),
	OPT_NEEDLESS(0, "rosetta", NULL, NO_VM),
	OPT_NEEDLESS(0, "mdns", NULL, "nodes resolve each other's names, and pods the names of "
				      "services"),
	OPT_ABSENT(0, "ssh-ip-address", "ADDRESS", "there is no substitute: all nodes are on this host"),
	OPT_NEEDLESS(0, "ssh-key", "FILE", NO_SSH),
	OPT_NEEDLESS(0, "ssh-port", "PORT", NO_SSH),
	OPT_NEEDLESS(0, "ssh-user", "NAME", NO_SSH),
	OPT_END,
};

const struct opt minikube_stop_options[] = {
	OPT_ABSENT(0, "schedule", "DURATION", "stops cannot be scheduled: run 'manykube stop' "
					      "later, for instance with at(1)"),
	OPT_NEEDLESS(0, "cancel-scheduled", NULL, "stops cannot be scheduled"),
	OPT_END,
};

const struct opt minikube_node_options[] = {
	OPT_ABSENT(0, "delete-on-failure", NULL,
		   "a node that did not start is kept for another attempt",
		   .harmless = "false"),
	OPT_END,
};

#define NO_NEWS "manykube does not check for updates"
#define NO_WARNING "there is no such warning"

const struct opt minikube_settings[] = {
	OPT_ABSENT(0, "driver", "NAME", "give --driver=NAME to start, or to node add; " DRIVERS),
	OPT_ABSENT(0, "EmbedCerts", NULL, "use embed-certs"),
	OPT_ABSENT(0, "MaxAuditEntries", "N", "there is no substitute: the audit keeps the last thousand commands"),
	OPT_ABSENT(0, "ReminderWaitPeriodInHours", "N", NO_NEWS),
	OPT_ABSENT(0, "WantBetaUpdateNotification", NULL, NO_NEWS),
	OPT_ABSENT(0, "WantNoneDriverWarning", NULL, NO_WARNING),
	OPT_ABSENT(0, "WantUpdateNotification", NULL, NO_NEWS),
	OPT_ABSENT(0, "WantVirtualBoxDriverWarning", NULL, NO_WARNING),
	OPT_ABSENT(0, "cache", "IMAGE", "'manykube image load' loads images on all nodes"),
	OPT_END,
};
/* clang-format on */
