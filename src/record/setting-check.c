/* Checks of setting values. */

#include "record/setting-check.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "data/inet.h"
#include "driver/driver.h"
#include "driver/mount-owner.h"
#include "payload/payload.h"
#include "record/labels.h"
#include "record/limits.h"
#include "record/ports.h"
#include "record/spec.h"

int setting_check_port(const char *word, struct error *err)
{
	struct port_spec port;

	return spec_parse_port(word, &port, err);
}

bool setting_is_same_port(const char *word, const char *other)
{
	struct port_spec one;
	struct port_spec two;

	return spec_parse_port(word, &one, NULL) == 0 && spec_parse_port(other, &two, NULL) == 0 &&
	       one.address.s_addr == two.address.s_addr && one.host_port == two.host_port;
}

int setting_check_mount(const char *word, struct error *err)
{
	cleanup_with(spec_release_mount) struct node_mount mount = { NULL };
	int r = spec_parse_mount(word, &mount, err);

	if (r == 0 && !file_exists(mount.host))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s': '%s' does not exist on this host", word, mount.host);
	return r < 0 || mount.read_only ? r : mount_owner_check(mount.host, err);
}

int setting_check_label(const char *word, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
	int r = spec_parse_label(word, &label, err);

	return r < 0 ? r : labels_check(word, err);
}

int setting_check_taint(const char *word, struct error *err)
{
	cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;

	return spec_parse_taint(word, &taint, err);
}

int setting_check_gate(const char *word, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec gate = PAIR_SPEC_INIT;

	return spec_parse_gate(word, &gate, err);
}

int setting_check_mirror(const char *word, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;

	return spec_parse_mirror(word, &mirror, err);
}

char *setting_normal_mirror(const char *word)
{
	cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;

	return spec_parse_mirror(word, &mirror, NULL) == 0
		       ? xasprintf("%s=%s", mirror.key, mirror.value)
		       : NULL;
}

char *setting_normal_label(const char *word)
{
	cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;

	return spec_parse_label(word, &label, NULL) == 0
		       ? xasprintf("%s=%s", label.key, label.value)
		       : NULL;
}

char *setting_normal_taint(const char *word)
{
	cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;

	return spec_parse_taint(word, &taint, NULL) == 0
		       ? xasprintf("%s=%s:%s", taint.label.key, taint.label.value, taint.effect)
		       : NULL;
}

char *setting_normal_extra(const char *word)
{
	cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;

	return spec_parse_extra(word, &extra, NULL) == 0
		       ? xasprintf("%s.%s=%s", extra.component, extra.key, extra.value)
		       : NULL;
}

char *setting_normal_port(const char *word)
{
	char address[INET_ADDRSTRLEN];
	struct port_spec port;

	if (spec_parse_port(word, &port, NULL) < 0)
		return NULL;
	(void)inet_ntop(AF_INET, &port.address, address, sizeof(address));
	return xasprintf("%s:%u:%u%s%s", address, port.host_port, port.node_port,
			 port.node ? "@" : "", port.node ? port.node : "");
}

/* Fields of kubeadm that manykube fills in either have options of their own or cannot be set. */
static int check_kubeadm_key(const char *word, const char *key, struct error *err)
{
	static const struct {
		const char *key;
		const char *option;
	} ours[] = {
		{ "pod-network-cidr", "--pod-network-cidr" },
		{ "networking.podSubnet", "--pod-network-cidr" },
		{ "service-cidr", "--service-cluster-ip-range" },
		{ "networking.serviceSubnet", "--service-cluster-ip-range" },
		{ "service-dns-domain", "--dns-domain" },
		{ "networking.dnsDomain", "--dns-domain" },
		{ "image-repository", "--image-repository" },
		{ "imageRepository", "--image-repository" },
		{ "apiserver-cert-extra-sans", "--apiserver-names" },
		{ "kubernetes-version", "--kubernetes-version" },
		{ "kubernetesVersion", "--kubernetes-version" },
		{ "clusterName", "--profile" },
		{ "feature-gates", "--feature-gates" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strcmp(ours[i].key, key) == 0)
			return error_because(err, &reason_usage, -EINVAL, "'%s': use %s instead",
					     word, ours[i].option);
	if (strcmp(key, "controlPlaneEndpoint") == 0 ||
	    (strchr(key, '-') && strcmp(key, "ignore-preflight-errors") != 0))
		return error_because(
			err, &reason_usage, -EINVAL,
			"'%s': kubeadm's '%s' cannot be set; fields of its "
			"ClusterConfiguration can, such as kubeadm.encryptionAlgorithm, "
			"and kubeadm.ignore-preflight-errors",
			word, key);
	return 0;
}

int setting_check_extra(const char *word, struct error *err)
{
	cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;
	int r = spec_parse_extra(word, &extra, err);

	if (r == 0 && strcmp(extra.component, "kubeadm") == 0)
		r = check_kubeadm_key(word, extra.key, err);
	/* The kube-proxy image contains no programs for other modes. */
	if (r == 0 && strcmp(extra.component, "proxy") == 0 && strcmp(extra.key, "mode") == 0 &&
	    strcmp(extra.value, "nftables") != 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s': kube-proxy supports nftables only", word);
	return r;
}

int setting_check_kubelet_extra(const char *word, struct error *err)
{
	int r = spec_check_kubelet_argument(word, err);

	return r < 0 ? r : setting_check_extra(word, err);
}

static int check_subnet(const char *word, unsigned least, unsigned most, struct error *err)
{
	struct subnet subnet;
	int r = inet_parse_subnet(word, &subnet, err);

	if (r < 0)
		return error_reason(err, r, &reason_usage);
	if (subnet.prefix < least || subnet.prefix > most)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is too %s: use a prefix of /%u to /%u", word,
				     subnet.prefix < least ? "large" : "small", least, most);
	return 0;
}

/* It must hold one address of the host and those of some nodes. */
int setting_check_nodes_subnet(const char *word, struct error *err)
{
	return check_subnet(word, 8, 28, err);
}

/* The limits of Kubernetes: /12 of the API server, /27 of kubeadm. */
int setting_check_services_subnet(const char *word, struct error *err)
{
	return check_subnet(word, 12, 27, err);
}

/* Each node gets a /24. */
int setting_check_pods_subnet(const char *word, struct error *err)
{
	return check_subnet(word, 8, 24, err);
}

int setting_check_program(const char *word, struct error *err)
{
	if (*word != '/' || access(word, X_OK) < 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is not the absolute path of an executable on this host",
				     word);
	return 0;
}

int setting_check_repository(const char *word, struct error *err)
{
	cleanup_free char *registry = xstrndup(word, strcspn(word, "/"));

	if (spec_check_registry(registry, NULL) < 0 || strpbrk(word, " \t\n\"\\@"))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is not an image repository, for instance "
				     "registry.local:5000/kubernetes",
				     word);
	return 0;
}

int setting_check_disk(uint64_t bytes, struct error *err)
{
	if (bytes > DISK_MOST_BYTES)
		return error_because(err, &reason_usage, -ERANGE,
				     "--disk-size: a disk can have at most 15 TiB");
	if (!bytes || bytes >= DISK_LEAST_BYTES)
		return 0;
	(void)error_because(
		err, &reason_resources, -ERANGE,
		"--disk-size: a node needs at least 2 GiB, because Kubernetes alone takes 1.1 GiB");
	return error_hint(err, -ERANGE, "use a larger size; numbers without a unit are MiB");
}

int setting_check_version(const char *word, struct error *err)
{
	const char *version;

	return payload_resolve_version(word, &version, err);
}

int setting_check_mount_form(const char *word, struct error *err)
{
	if (word[0] != '-')
		return 0;
	return error_set(err, -EINVAL, "'%s' is not of the form HOST:NODE", word);
}

int setting_check_driver(const char *name, struct error *err)
{
	/* minikube's name for running Kubernetes without machines of its own. */
	if (strcmp(name, "none") == 0)
		log_warning("--driver=none is ignored: nodes need no driver unless they are to be "
			    "containers or VMs");
	name = node_driver_resolve(name);
	return name ? node_driver_check(name, err) : 0;
}

int setting_check_docker_option(const char *word, struct error *err)
{
	/* Who may use the daemon, and where its images are, is decided by node/docker.c. */
	static const char *const ours[] = {
		"host",
		"H",
		"tls",
		"tlsverify",
		"tlscert",
		"tlscacert",
		"tlskey",
		"containerd",
		"group",
		"api-cors-header",
		"containerd-namespace",
		"containerd-plugins-namespace",
		"feature",
		"storage-driver",
		"config-file",
		"data-root",
		"metrics-addr",
		"network-diagnostic-port",
	};
	size_t len = strcspn(word, "=");

	if (len == 0 || *word == '-')
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is not an option of the Docker daemon without dashes, "
				     "such as debug or dns=192.0.2.53",
				     word);
	for (const char *p = word; *p; p++)
		if (*p <= ' ' || *p == 127)
			return error_because(err, &reason_usage, -EINVAL,
					     "the Docker option '%.*s' has blanks in its value",
					     (int)len, word);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strlen(ours[i]) == len && strncmp(word, ours[i], len) == 0)
			return error_because(err, &reason_usage, -EINVAL,
					     "the Docker option '%s' is set by manykube", ours[i]);
	return 0;
}

bool setting_is_beyond_user(arg_unused const char *value)
{
	return true;
}

bool setting_has_guarded_port(const char *value)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	const char *word;

	strlist_split(&words, value, ',');
	strlist_for_each(word, &words) {
		struct port_spec port;

		if (spec_parse_port(word, &port, NULL) < 0 ||
		    port.host_port < PORT_LEAST_OF_USERS ||
		    ntohl(port.address.s_addr) >> 24 != IN_LOOPBACKNET)
			return true;
	}
	return false;
}

bool setting_is_low_port(const char *value)
{
	unsigned long long port;

	return parse_number(value, 1, 65535, &port, NULL) < 0 || port < PORT_LEAST_OF_USERS;
}

bool setting_is_public_subnet(const char *value)
{
	static const char *const private[] = { "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
					       "100.64.0.0/10" };
	struct subnet subnet;
	struct subnet around;

	if (inet_parse_subnet(value, &subnet, NULL) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(private); i++)
		if (inet_parse_subnet(private[i], &around, NULL) == 0 &&
		    subnet.prefix >= around.prefix && inet_contains(&around, subnet.address))
			return false;
	return true;
}
