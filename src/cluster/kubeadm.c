/* What kubeadm is told. */

#include "cluster/kubeadm.h"

#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"

static void add_registration(struct strbuf *out, const struct node *node)
{
	strbuf_addf(out,
		    "nodeRegistration:\n"
		    "  name: \"%s\"\n"
		    "  criSocket: unix:///run/containerd/containerd.sock\n"
		    "  imagePullPolicy: IfNotPresent\n"
		    "  taints: []\n"
		    "  kubeletExtraArgs:\n"
		    "  - name: node-ip\n"
		    "    value: %s\n",
		    node->name, node->address);
}

/* A busy machine may take longer than kubeadm's minute until its API answers. */
static void add_timeouts(struct strbuf *out)
{
	strbuf_add(out, "timeouts:\n"
			"  kubernetesAPICall: 5m0s\n");
}

static void add_cluster(struct strbuf *out, const struct profile *profile)
{
	strbuf_addf(out,
		    "---\n"
		    "apiVersion: kubeadm.k8s.io/v1beta4\n"
		    "kind: ClusterConfiguration\n"
		    "clusterName: \"%s\"\n"
		    "kubernetesVersion: %s\n"
		    "controlPlaneEndpoint: %s:%d\n"
		    "encryptionAlgorithm: ECDSA-P256\n"
		    "networking:\n"
		    "  podSubnet: %s\n"
		    "  serviceSubnet: %s\n"
		    "  dnsDomain: %s\n",
		    profile->name, profile->kubernetes_version, FRONT_DOOR_NAME, FRONT_DOOR_PORT,
		    profile->pod_subnet, profile->service_subnet, profile->dns_domain);
	/* The front door is reached by its name, by the bridge's address and by loopback. */
	strbuf_addf(out,
		    "apiServer:\n"
		    "  certSANs:\n"
		    "  - localhost\n"
		    "  - 127.0.0.1\n"
		    "  - %s\n"
		    "  - %s\n",
		    FRONT_DOOR_NAME, profile->gateway);
	/*
	 * podCIDRs are ours to give; short leases let a killed control plane go on sooner; and the
	 * controller-manager prepares its controllers one after another with some requests each,
	 * which its usual 20 requests a second stretch to 5 s.
	 */
	strbuf_add(out, "controllerManager:\n"
			"  extraArgs:\n"
			"  - name: allocate-node-cidrs\n"
			"    value: \"false\"\n"
			"  - name: kube-api-qps\n"
			"    value: \"300\"\n"
			"  - name: kube-api-burst\n"
			"    value: \"600\"\n"
			"  - name: leader-elect-lease-duration\n"
			"    value: 6s\n"
			"  - name: leader-elect-renew-deadline\n"
			"    value: 4s\n"
			"  - name: leader-elect-retry-period\n"
			"    value: 1s\n"
			"scheduler:\n"
			"  extraArgs:\n"
			"  - name: leader-elect-lease-duration\n"
			"    value: 6s\n"
			"  - name: leader-elect-renew-deadline\n"
			"    value: 4s\n"
			"  - name: leader-elect-retry-period\n"
			"    value: 1s\n");
}

static void add_components(struct strbuf *out)
{
	/*
	 * The kubelet sees the host's disk, so its own thresholds would judge what is not
	 * its business; inside a user namespace it may not change the host's settings.
	 */
	strbuf_add(out, "---\n"
			"apiVersion: kubelet.config.k8s.io/v1beta1\n"
			"kind: KubeletConfiguration\n"
			"cgroupDriver: cgroupfs\n"
			"failSwapOn: false\n"
			"failCgroupV1: false\n"
			"imageGCHighThresholdPercent: 100\n"
			"evictionHard:\n"
			"  nodefs.available: 0%\n"
			"  nodefs.inodesFree: 0%\n"
			"  imagefs.available: 0%\n"
			"  imagefs.inodesFree: 0%\n"
			"featureGates:\n"
			"  KubeletInUserNamespace: true\n"
			"---\n"
			"apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
			"kind: KubeProxyConfiguration\n"
			"mode: nftables\n"
			"conntrack:\n"
			"  maxPerCore: 0\n"
			"  min: 0\n"
			"  tcpEstablishedTimeout: 0s\n"
			"  tcpCloseWaitTimeout: 0s\n");
}

char *kubeadm_init_config(const struct profile *profile, const struct node *node, const char *token)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out,
		    "apiVersion: kubeadm.k8s.io/v1beta4\n"
		    "kind: InitConfiguration\n"
		    "bootstrapTokens:\n"
		    "- token: %s\n"
		    "  ttl: %dm0s\n"
		    "localAPIEndpoint:\n"
		    "  advertiseAddress: %s\n"
		    "  bindPort: %d\n",
		    token, JOIN_TOKEN_MINUTES, node->address, API_SERVER_PORT);
	add_timeouts(&out);
	add_registration(&out, node);
	add_cluster(&out, profile);
	add_components(&out);
	return strbuf_take(&out);
}

char *kubeadm_join_config(arg_unused const struct profile *profile, const struct node *node,
			  const char *token, const char *discovery_path)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out,
		    "apiVersion: kubeadm.k8s.io/v1beta4\n"
		    "kind: JoinConfiguration\n"
		    "discovery:\n"
		    "  file:\n"
		    "    kubeConfigPath: %s\n"
		    "  tlsBootstrapToken: %s\n",
		    discovery_path, token);
	add_timeouts(&out);
	add_registration(&out, node);
	return strbuf_take(&out);
}

/* A kubeconfig of one user; USER has the lines below `user:`. */
static char *kubeconfig_of(const char *ca_base64, const char *name, const char *user)
{
	return xasprintf("apiVersion: v1\n"
			 "kind: Config\n"
			 "clusters:\n"
			 "- name: cluster\n"
			 "  cluster:\n"
			 "    certificate-authority-data: %s\n"
			 "    server: https://%s:%d\n"
			 "contexts:\n"
			 "- name: default\n"
			 "  context:\n"
			 "    cluster: cluster\n"
			 "    user: %s\n"
			 "current-context: default\n"
			 "users:\n"
			 "- name: %s\n"
			 "  user:\n"
			 "%s",
			 ca_base64, FRONT_DOOR_NAME, FRONT_DOOR_PORT, name, name, user);
}

char *kubeadm_discovery(const char *ca_base64, const char *token)
{
	cleanup_free char *user = xasprintf("    token: %s\n", token);

	return kubeconfig_of(ca_base64, "join", user);
}

char *kubeadm_kubelet_config(const char *ca_base64, const char *node_name, const char *pem_path)
{
	cleanup_free char *name = xasprintf("system:node:%s", node_name);
	cleanup_free char *user = xasprintf("    client-certificate: %s\n    client-key: %s\n",
					    pem_path, pem_path);

	return kubeconfig_of(ca_base64, name, user);
}

char *kubeadm_new_token(void)
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char random[22];
	char *token = xmalloc(24);

	/* Cannot fail for so few bytes once the kernel has booted. */
	while (getrandom(random, sizeof(random), 0) != sizeof(random))
		;
	for (size_t i = 0; i < sizeof(random); i++)
		token[i < 6 ? i : i + 1] = letters[random[i] % (sizeof(letters) - 1)];
	token[6] = '.';
	token[23] = '\0';
	return token;
}
