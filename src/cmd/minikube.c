/* The words of minikube that do not exist here, and what to use instead. */

#include "cmd/minikube.h"
#include "record/setting-check.h"

#include <stddef.h>

#define LOAD_IMAGES                                                                        \
	"an archive as 'docker save' writes it gets onto every node with 'manykube start " \
	"--load-images=FILE'; 'manykube ssh NODE -- ctr -n k8s.io images ls' lists what it has"

#define BUILD_ELSEWHERE                                                                      \
	"nodes run containerd, which builds nothing: build with a Docker or Podman of this " \
	"host, save the image to a file, and load it with 'manykube start --load-images=FILE'"

/* clang-format off */
const struct absent_command minikube_commands[] = {
	{ "manykube addons",
	  "there are none to choose: DNS, networking and storage are part of every cluster; install others with "
	  "'manykube kubectl apply -f MANIFEST'" },
	{ "manykube build", BUILD_ELSEWHERE },
	{ "manykube cache", LOAD_IMAGES },
	{ "manykube config defaults", "'manykube start --help' shows the defaults of all options" },
	{ "manykube dashboard",
	  "there is none; 'manykube status' and 'manykube kubectl get all -A' show what runs" },
	{ "manykube docker-env", BUILD_ELSEWHERE },
	{ "manykube export",
	  "'manykube logs --file=BUNDLE.tar.gz' writes all logs, 'manykube update-context' the kubeconfig" },
	{ "manykube generate-docs", "the documentation is 'man manykube'; every command has a --help, too" },
	{ "manykube image", LOAD_IMAGES },
	{ "manykube license", "there is no such command; the license is the file LICENSE of the sources" },
	{ "manykube load", LOAD_IMAGES },
	{ "manykube mount",
	  "--mount=HOST:NODE of 'manykube start', when the cluster is made, or of 'manykube node add'; "
	  "'manykube cp' copies files to nodes that are there" },
	{ "manykube node ip", "'manykube ip NODE' prints the address" },
	{ "manykube node logs", "'manykube logs NODE' shows them" },
	{ "manykube node ssh", "'manykube ssh NODE' opens the shell" },
	{ "manykube node status", "'manykube status -n NODE' shows it" },
	{ "manykube podman-env", BUILD_ELSEWHERE },
	{ "manykube registry",
	  "there is none; --registry-mirror and --insecure-registry of 'manykube start' let nodes use one of yours" },
	{ "manykube service",
	  "a node port answers at the address of every node: 'manykube ip' prints one, 'manykube kubectl get services' "
	  "the port; --ports=8080:NODEPORT of 'manykube start' publishes it at localhost:8080" },
	{ "manykube ssh-host", "there are no host keys: 'manykube ssh' enters nodes without an SSH server" },
	{ "manykube ssh-key", "there is no key: 'manykube ssh' enters nodes without an SSH server" },
	{ "manykube tunnel",
	  "services of type LoadBalancer get no address; make it a NodePort and publish that with --ports=8080:NODEPORT of "
	  "'manykube start', or use 'manykube kubectl port-forward'" },
	{ "manykube update-check", "there is none: manykube asks nobody for updates; 'manykube version' prints this version" },
	{ "manykube worker add", "'manykube worker create' registers a worker, 'manykube node add' also starts it" },
	{ "manykube worker docker-env", BUILD_ELSEWHERE },
	{ "manykube worker pause", "'manykube node pause NODE' freezes a node" },
	{ "manykube worker set", "'manykube node set NODE' changes a node" },
	{ "manykube worker unpause", "'manykube node unpause NODE' lets a node go on" },
	{ NULL, NULL },
};

#define MORE_WORDS "-v shows the time of each step, -vv each action, 'manykube logs' the rest"

/* klog's, mostly. */
const struct opt minikube_global_options[] = {
	OPT_ABSENT('b', "bootstrapper", "NAME", "nodes are always set up by kubeadm", .harmless = "kubeadm"),
	OPT_ABSENT(0, "rootless", NULL,
		   "there is no substitute: only root may make nodes; a node's own root is nobody on this host",
		   .harmless = "false"),
	OPT_NEEDLESS(0, "add_dir_header", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "alsologtostderr", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "log_backtrace_at", "PLACE", MORE_WORDS),
	OPT_NEEDLESS(0, "log_dir", "DIRECTORY", "logs are with the cluster; 'manykube logs' shows them"),
	OPT_NEEDLESS(0, "log_file", "FILE", "logs are with the cluster; 'manykube logs' shows them"),
	OPT_NEEDLESS(0, "log_file_max_size", "N", "logs are with the cluster; 'manykube logs' shows them"),
	OPT_NEEDLESS(0, "logtostderr", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "one_output", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "skip_headers", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "skip_log_headers", NULL, MORE_WORDS),
	OPT_NEEDLESS(0, "stderrthreshold", "LEVEL", MORE_WORDS),
	OPT_NEEDLESS(0, "v", "LEVEL", MORE_WORDS),
	OPT_NEEDLESS(0, "vmodule", "PATTERN", MORE_WORDS),
	OPT_END,
};

#define NO_DRIVER SETTING_NO_DRIVER
#define NO_VM     "nodes are no virtual machines"
#define BOUND     "--mount binds files of this host; there is no 9p between"
#define AS_IT_IS "there is no substitute: --mount shows files as this host has them"

const struct opt minikube_start_options[] = {
	OPT_ABSENT(0, "vm-driver", "NAME", NO_DRIVER, .harmless = "auto|native|none"),
	OPT_ABSENT(0, "vm", NULL, "there is no substitute: " NO_VM, .harmless = "false"),

	/* What the cluster is. */
	OPT_ABSENT(0, "addons", "NAME",
		   "DNS, networking and storage are part of every cluster; install others with "
		   "'manykube kubectl apply -f MANIFEST'",
		   .harmless = "default-storageclass|storage-provisioner"),
	OPT_NEEDLESS(0, "install-addons", NULL, "there are no addons to choose"),
	OPT_NEEDLESS(0, "auto-pause-interval", "DURATION", "nothing pauses by itself; 'manykube pause' does it"),
	OPT_ABSENT(0, "no-kubernetes", NULL, "there is no substitute: Kubernetes is what nodes are made for",
		   .harmless = "false"),
	OPT_ABSENT(0, "namespace", "NAME",
		   "choose it afterwards: 'manykube kubectl config set-context --current --namespace=NAME'",
		   .harmless = "default"),
	OPT_NEEDLESS(0, "disable-coredns-log", NULL, "DNS queries are not logged"),
	OPT_NEEDLESS(0, "disable-metrics", NULL, "the kubelet always offers its metrics; nobody asks for them unless you install something that does"),
	OPT_NEEDLESS(0, "disable-optimizations", NULL, "the cluster is as kubeadm makes it"),
	OPT_ABSENT(0, "cri-socket", "PATH", "there is no substitute: nodes run containerd, at its own socket",
		   .harmless = "/run/containerd/containerd.sock|unix:///run/containerd/containerd.sock"),
	OPT_NEEDLESS(0, "force-systemd", NULL,
		     "containerd and the kubelet of a node always agree on how to use control groups"),
	OPT_ABSENT(0, "docker-env", "NAME=VALUE", "--env=NAME=VALUE gives a variable to containerd and the kubelet"),
	OPT_ABSENT(0, "docker-opt", "OPTION",
		   "nodes run containerd: --registry-mirror and --insecure-registry configure it; there is no "
		   "substitute for other options"),
	OPT_ABSENT(0, "extra-disks", "N", "there is no substitute: --disk-size gives a node one disk, for its /var",
		   .harmless = "0"),
	OPT_ABSENT(0, "gpus", "WHICH", "there is no substitute: nodes have no GPUs", .harmless = "none"),

	/* Where things come from. */
	OPT_NEEDLESS(0, "preload", NULL, "everything always comes from the cache of this host"),
	OPT_NEEDLESS(0, "preload-source", "WHERE", "everything always comes from the cache of this host"),
	OPT_NEEDLESS(0, "cache-images", NULL, "everything always comes from the cache of this host"),
	OPT_ABSENT(0, "image-mirror-country", "CODE",
		   "name the mirror: --registry-mirror=URL for images, --binary-mirror=URL for Kubernetes"),
	OPT_NEEDLESS(0, "iso-url", "URL", NO_VM "; --base-image chooses the root file system of nodes"),

	/* Networks. */
	OPT_ABSENT(0, "apiserver-name", "NAME", "--apiserver-names=NAME puts a name into the API's certificate",
		   .harmless = "minikubeCA"),
	OPT_ABSENT(0, "dns-servers", "ADDRESS", "there is no substitute: nodes ask the resolver of this host"),
	OPT_NEEDLESS(0, "enable-default-cni", NULL, "pods have a network unless --cni=none is given"),
	OPT_ABSENT(0, "listen-address", "ADDRESS",
		   "--ports=ADDRESS:HOST:NODE publishes a port at an address; the API answers at 127.0.0.1 only",
		   .harmless = "127.0.0.1"),
	OPT_ABSENT(0, "network", "NAME", "every cluster has a network of its own; --subnet chooses its addresses"),
	OPT_ABSENT(0, "network-plugin", "NAME", "--cni chooses the network between pods", .harmless = "cni"),
	OPT_ABSENT(0, "static-ip", "ADDRESS",
		   "--subnet chooses the addresses; 'manykube node add --static-ip=ADDRESS', or staticIP in a file "
		   "of 'manykube start -f', that of a node; nodes keep theirs"),

	/* Files. */
	OPT_ABSENT(0, "mount-string", "HOST:NODE", "write --mount=HOST:NODE"),
	OPT_NEEDLESS(0, "mount-9p-version", "VERSION", BOUND),
	OPT_NEEDLESS(0, "mount-ip", "ADDRESS", BOUND),
	OPT_NEEDLESS(0, "mount-msize", "N", BOUND),
	OPT_NEEDLESS(0, "mount-port", "PORT", BOUND),
	OPT_NEEDLESS(0, "mount-type", "TYPE", BOUND),
	OPT_ABSENT(0, "mount-gid", "ID", AS_IT_IS, .harmless = "docker"),
	OPT_ABSENT(0, "mount-options", "OPTIONS", "--mount=HOST:NODE:ro makes it read-only; there are no other options"),
	OPT_ABSENT(0, "mount-uid", "ID", AS_IT_IS, .harmless = "docker"),
	OPT_ABSENT(0, "nfs-share", "DIRECTORY", "--mount=HOST:NODE shows a directory of this host to nodes"),
	OPT_NEEDLESS(0, "nfs-shares-root", "DIRECTORY", "--mount=HOST:NODE shows a directory of this host to nodes"),
	OPT_NEEDLESS(0, "disable-driver-mounts", NULL, "nodes see nothing of this host's homes unless --mount says so"),

	/* How it is done. */
	OPT_NEEDLESS(0, "interactive", NULL, "start asks nothing that must be answered"),
	OPT_NEEDLESS(0, "native-ssh", NULL, "'manykube ssh' enters nodes without an SSH server"),
	OPT_NEEDLESS(0, "auto-update-drivers", NULL, NO_DRIVER),
	OPT_NEEDLESS(0, "trace", "WHERE", "-v shows the time of each step, -o json every event"),

	/* Of other drivers; minikube, too, ignores those of drivers that are not used. */
	OPT_NEEDLESS(0, "kvm-gpu", NULL, NO_VM),
	OPT_NEEDLESS(0, "kvm-hidden", NULL, NO_VM),
	OPT_NEEDLESS(0, "kvm-network", "NAME", NO_VM),
	OPT_ABSENT(0, "kvm-numa-count", "N", "there is no substitute: nodes have no NUMA topology of their own",
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
	OPT_NEEDLESS(0, "mdns", NULL, "nodes know each other by name, and pods by the names of services"),
	OPT_ABSENT(0, "ssh-ip-address", "ADDRESS", "there is no substitute: all nodes are on this host"),
	OPT_NEEDLESS(0, "ssh-key", "FILE", NO_DRIVER),
	OPT_NEEDLESS(0, "ssh-port", "PORT", NO_DRIVER),
	OPT_NEEDLESS(0, "ssh-user", "NAME", NO_DRIVER),
	OPT_END,
};

const struct opt minikube_stop_options[] = {
	OPT_ABSENT(0, "schedule", "DURATION", "there is no schedule: run 'manykube stop' later, for instance by at(1)"),
	OPT_NEEDLESS(0, "cancel-scheduled", NULL, "nothing is ever scheduled"),
	OPT_END,
};

const struct opt minikube_node_options[] = {
	OPT_ABSENT(0, "delete-on-failure", NULL,
		   "a node that did not come up stays, for another try",
		   .harmless = "false"),
	OPT_END,
};

#define NO_NEWS "manykube asks nobody for updates"

const struct opt minikube_settings[] = {
	OPT_ABSENT(0, "driver", "NAME", NO_DRIVER),
	OPT_ABSENT(0, "EmbedCerts", NULL, "it is called embed-certs"),
	OPT_ABSENT(0, "MaxAuditEntries", "N", "there is no substitute: the audit keeps the last thousand commands"),
	OPT_ABSENT(0, "ReminderWaitPeriodInHours", "N", NO_NEWS),
	OPT_ABSENT(0, "WantBetaUpdateNotification", NULL, NO_NEWS),
	OPT_ABSENT(0, "WantNoneDriverWarning", NULL, NO_DRIVER),
	OPT_ABSENT(0, "WantUpdateNotification", NULL, NO_NEWS),
	OPT_ABSENT(0, "WantVirtualBoxDriverWarning", NULL, NO_DRIVER),
	OPT_ABSENT(0, "cache", "IMAGE", LOAD_IMAGES),
	OPT_END,
};
/* clang-format on */
