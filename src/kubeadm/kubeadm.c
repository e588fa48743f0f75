/* kubeadm's configuration. */

#include "kubeadm/kubeadm.h"

#include <ctype.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "kubeadm/failover.h"
#include "kubeadm/families.h"
#include "kubeadm/kubeadm-patch.h"
#include "record/labels.h"
#include "record/ports.h"
#include "record/spec.h"

/* The minor version of Kubernetes whose kubelets have KubeletEnsureSecretPulledImages by default.
 */
#define PULLS_VERIFIED_SINCE 35

#define KUBEADM_API "kubeadm.k8s.io/v1beta4"
#define CRI_SOCKET  "unix:///run/containerd/containerd.sock"

/* Arguments of the controller-manager and the scheduler for leader election. */
#define LEADER_ELECTION                                                           \
	"leader-elect-lease-duration", "6s", "leader-elect-renew-deadline", "4s", \
		"leader-elect-retry-period", "1s"

/* TEXT as a JSON value: true, 5, "text", or JSON as it is written. */
static json_t *value_of(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);

	return value ? value : json_string(text);
}

/* Set the field at the dotted PATH in OBJECT, creating missing objects. */
static void set_path(json_t *object, const char *path, json_t *value)
{
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;

	strlist_split(&parts, path, '.');
	for (size_t i = 0; i + 1 < parts.count; i++) {
		json_t *next = json_object_get(object, parts.items[i]);

		if (!json_is_object(next)) {
			next = json_object();
			(void)json_object_set_new(object, parts.items[i], next);
		}
		object = next;
	}
	(void)json_object_set_new(object, parts.items[parts.count - 1], value);
}

/* "bind-address" becomes "bindAddress". */
static char *camel_case(const char *key)
{
	struct strbuf out = STRBUF_INIT;

	for (const char *p = key; *p; p++) {
		char letter = *p;

		if (letter == '-' && p[1])
			letter = (char)toupper((unsigned char)*++p);
		strbuf_addf(&out, "%c", letter);
	}
	return strbuf_take(&out);
}

static bool has_argument(const json_t *arguments, const char *name)
{
	for (size_t i = 0; i < json_array_size(arguments); i++) {
		const json_t *argument = json_array_get(arguments, i);

		if (strcmp(json_string_value(json_object_get(argument, "name")), name) == 0)
			return true;
	}
	return false;
}

static void add_argument(json_t *arguments, const char *name, const char *value)
{
	(void)json_array_append_new(arguments,
				    json_pack("{s:s, s:s}", "name", name, "value", value));
}

/* The arguments of COMPONENT: the user's, then those of USUAL (name, value, … NULL) that the user
 * has not given. */
static json_t *arguments_of(const struct profile *profile, const char *component,
			    const char *const *usual)
{
	json_t *arguments = json_array();
	cleanup_free char *gates = strlist_join(&profile->feature_gates, ",");
	bool has_gates = strcmp(component, "etcd") != 0 && strcmp(component, "kubelet") != 0;
	const char *word;

	strlist_for_each(word, &profile->extra_config) {
		cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;

		if (spec_parse_extra(word, &extra, NULL) == 0 &&
		    strcmp(extra.component, component) == 0 &&
		    !(strcmp(component, "kubelet") == 0 && spec_is_field(extra.key)))
			add_argument(arguments, extra.key, extra.value);
	}
	for (; usual && usual[0]; usual += 2)
		if (!has_argument(arguments, usual[0]))
			add_argument(arguments, usual[0], usual[1]);
	for (usual = failover_arguments(profile, component); usual[0]; usual += 2)
		if (!has_argument(arguments, usual[0]))
			add_argument(arguments, usual[0], usual[1]);
	if (has_gates && *gates && !has_argument(arguments, "feature-gates"))
		add_argument(arguments, "feature-gates", gates);
	return arguments;
}

static void add_gates(json_t *config, const struct profile *profile)
{
	const char *word;

	strlist_for_each(word, &profile->feature_gates) {
		cleanup_with(spec_release_pair) struct pair_spec gate = PAIR_SPEC_INIT;
		cleanup_free char *path = NULL;

		if (spec_parse_gate(word, &gate, NULL) < 0)
			continue;
		path = xasprintf("featureGates.%s", gate.key);
		set_path(config, path, json_boolean(strcmp(gate.value, "true") == 0));
	}
}

/* Set the fields of COMPONENT's configuration file CONFIG that the user has given. */
static void add_fields(json_t *config, const struct profile *profile, const char *component)
{
	const char *word;

	strlist_for_each(word, &profile->extra_config) {
		cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;
		cleanup_free char *path = NULL;

		if (spec_parse_extra(word, &extra, NULL) < 0 ||
		    strcmp(extra.component, component) != 0)
			continue;
		if ((strcmp(component, "kubelet") == 0 && !spec_is_field(extra.key)) ||
		    strcmp(extra.key, "ignore-preflight-errors") == 0)
			continue;
		path = camel_case(extra.key);
		set_path(config, path, value_of(extra.value));
	}
}

/* Whether only an administrator may set labels of this domain.  A kubelet that is given such a
 * label does not start. */
static bool is_reserved(const char *key)
{
	const char *slash = strchr(key, '/');
	cleanup_free char *domain = xstrndup(key, slash ? (size_t)(slash - key) : 0);
	size_t len = strlen(domain);
	static const char *const reserved[] = { "kubernetes.io", "k8s.io" };

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		size_t tail = strlen(reserved[i]);

		if (len >= tail && strcmp(domain + len - tail, reserved[i]) == 0 &&
		    (len == tail || domain[len - tail - 1] == '.'))
			return true;
	}
	return false;
}

json_t *kubeadm_reserved_labels(const struct node *node)
{
	json_t *labels = json_object();
	const char *word;

	strlist_for_each(word, &node->labels) {
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;

		if (spec_parse_label(word, &label, NULL) == 0 && is_reserved(label.key) &&
		    !labels_is_kubelets(label.key))
			(void)json_object_set_new(labels, label.key, json_string(label.value));
	}
	return labels;
}

/*
 * The labels with which the kubelet registers its node, so that pods can be placed by them at once.
 */
static char *own_labels(const struct node *node)
{
	cleanup_with(strlist_release) struct strlist labels = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, &node->labels) {
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;

		if (spec_parse_label(word, &label, NULL) == 0 && !is_reserved(label.key))
			strlist_addf(&labels, "%s=%s", label.key, label.value);
	}
	return strlist_join(&labels, ",");
}

static json_t *taints_of(const struct node *node)
{
	json_t *taints = json_array();
	const char *word;

	strlist_for_each(word, &node->taints) {
		cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;

		if (spec_parse_taint(word, &taint, NULL) == 0)
			(void)json_array_append_new(taints, json_pack("{s:s, s:s, s:s}", "key",
								      taint.label.key, "value",
								      taint.label.value, "effect",
								      taint.effect));
	}
	return taints;
}

/* The value of kubeadm's flag of that name, which many scripts use. */
static json_t *ignored_preflight_errors(const struct profile *profile)
{
	json_t *list = json_array();
	const char *word;

	strlist_for_each(word, &profile->extra_config) {
		cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;
		cleanup_with(strlist_release) struct strlist errors = STRLIST_INIT;
		const char *item;

		if (spec_parse_extra(word, &extra, NULL) < 0 ||
		    strcmp(extra.component, "kubeadm") != 0 ||
		    strcmp(extra.key, "ignore-preflight-errors") != 0)
			continue;
		strlist_split(&errors, extra.value, ',');
		strlist_for_each(item, &errors)
			(void)json_array_append_new(list, json_string(item));
	}
	return list;
}

/* Whether the user has configured eviction thresholds for kubelets. */
static bool has_eviction_settings(const struct profile *profile)
{
	const char *word;

	strlist_for_each(word, &profile->extra_config)
		if (strncmp(word, "kubelet.eviction", strlen("kubelet.eviction")) == 0)
			return true;
	return false;
}

/* Arguments of NODE's own kubelet come before those of all kubelets. */
json_t *kubeadm_kubelet_arguments(const struct profile *profile, const struct node *node)
{
	cleanup_free char *addresses = kubeadm_node_addresses(node);
	cleanup_free char *labels = own_labels(node);
	cleanup_free char *gates = strlist_join(&node->feature_gates, ",");
	cleanup_free char *pods = xasprintf("%u", node->max_pods);
	cleanup_free char *taints = strlist_join(&node->taints, ",");
	json_t *own = json_array();
	json_t *all = NULL;
	const char *word;

	add_argument(own, "node-ip", addresses);
	if (*labels)
		add_argument(own, "node-labels", labels);
	if (*gates)
		add_argument(own, "feature-gates", gates);
	/* kubeadm itself sets taints on workers only; on control planes, only if pods may be
	 * scheduled there. */
	if (node->control_plane && !node->primary && *taints)
		add_argument(own, "register-with-taints", taints);
	if (node->max_pods)
		add_argument(own, "max-pods", pods);
	strlist_for_each(word, &node->extra_config) {
		cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;

		if (spec_parse_extra(word, &extra, NULL) == 0)
			add_argument(own, extra.key, extra.value);
	}
	/* A node with its own disk gets the default thresholds of Kubernetes. */
	if (node->disk_bytes && !has_argument(own, "eviction-hard") &&
	    !has_eviction_settings(profile))
		add_argument(own, "eviction-hard",
			     "nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,"
			     "imagefs.inodesFree<5%");
	all = arguments_of(profile, "kubelet", NULL);
	for (size_t i = 0; i < json_array_size(all); i++) {
		json_t *argument = json_array_get(all, i);

		if (!has_argument(own, json_string_value(json_object_get(argument, "name"))))
			(void)json_array_append(own, argument);
	}
	json_decref(all);
	return own;
}

static json_t *registration(const struct profile *profile, const struct node *node)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", node->name, "criSocket",
			 CRI_SOCKET, "imagePullPolicy", "IfNotPresent", "taints", taints_of(node),
			 "ignorePreflightErrors", ignored_preflight_errors(profile),
			 "kubeletExtraArgs", kubeadm_kubelet_arguments(profile, node));
}

/* On a busy machine, the API may need more than kubeadm's default minute to answer, and more than
 * four minutes to come up, after which the kubelet would kill and restart it endlessly. */
static json_t *timeouts(void)
{
	return json_pack("{s:s, s:s}", "kubernetesAPICall", "5m0s",
			 "controlPlaneComponentHealthCheck", "20m0s");
}

/* The names in the API's certificate: the front door is reached by its name, the bridge's address
 * and loopback. */
static json_t *certificate_names(const struct profile *profile)
{
	json_t *names = json_pack("[s, s, s, s]", "localhost", "127.0.0.1", FRONT_DOOR_NAME,
				  profile->gateway);
	const char *name;

	strlist_for_each(name, &profile->api_names)
		(void)json_array_append_new(names, json_string(name));
	strlist_for_each(name, &profile->api_ips)
		(void)json_array_append_new(names, json_string(name));
	return names;
}

static json_t *cluster_config(const struct profile *profile)
{
	/*
	 * manykube assigns podCIDRs itself.  Short leases let the cluster continue sooner after a
	 * control plane was killed.  The controller-manager initializes its controllers one after
	 * another with some requests each, which its default of 20 requests per second stretches to
	 * 5 s.  An API server that shuts down keeps serving until all nodes know that it is no
	 * longer an endpoint of the service "kubernetes", and then closes watches, which clients
	 * would otherwise keep for a minute.
	 */
	static const char *const apiserver[] = { "shutdown-delay-duration", "2s",
						 "shutdown-watch-termination-grace-period", "1s",
						 NULL };
	static const char *const controller_manager[] = { "allocate-node-cidrs", "false",
							  "kube-api-qps",        "300",
							  "kube-api-burst",      "600",
							  LEADER_ELECTION,       NULL };
	static const char *const scheduler[] = { LEADER_ELECTION, NULL };
	json_t *config = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:o, s:{s:o, s:o}, s:{s:o}, s:{s:o}}", "apiVersion",
		KUBEADM_API, "kind", "ClusterConfiguration", "clusterName", profile->name,
		"kubernetesVersion", profile->kubernetes_version, "encryptionAlgorithm",
		"ECDSA-P256", "networking", kubeadm_networking(profile), "apiServer", "certSANs",
		certificate_names(profile), "extraArgs",
		arguments_of(profile, "apiserver", apiserver), "controllerManager", "extraArgs",
		arguments_of(profile, "controller-manager", controller_manager), "scheduler",
		"extraArgs", arguments_of(profile, "scheduler", scheduler));
	json_t *etcd = arguments_of(profile, "etcd", NULL);
	cleanup_free char *endpoint = xasprintf("%s:%d", FRONT_DOOR_NAME, FRONT_DOOR_PORT);

	set_path(config, "controlPlaneEndpoint", json_string(endpoint));
	if (json_array_size(etcd) > 0)
		set_path(config, "etcd.local.extraArgs", json_incref(etcd));
	json_decref(etcd);
	if (profile->image_repository)
		set_path(config, "imageRepository", json_string(profile->image_repository));
	if (profile->cert_seconds) {
		cleanup_free char *period = xasprintf("%us", profile->cert_seconds);

		set_path(config, "certificateValidityPeriod", json_string(period));
	}
	add_fields(config, profile, "kubeadm");
	return config;
}

/* Whether kubelets with CONFIG remember who has pulled an image, and demand a pull of others. */
static bool verifies_pulls(const struct profile *profile, const json_t *config)
{
	const json_t *gate = json_object_get(json_object_get(config, "featureGates"),
					     "KubeletEnsureSecretPulledImages");
	unsigned minor = 0;

	if (gate)
		return json_is_true(gate);
	return sscanf(profile->kubernetes_version, "v1.%u.", &minor) == 1 &&
	       minor >= PULLS_VERIFIED_SINCE;
}

/* Unless the node has its own disk, its kubelet sees that of the host, which it must not judge by
 * its thresholds.  In a user namespace, a kubelet cannot change sysctls of the host. */
static json_t *kubelet_config(const struct profile *profile)
{
	json_t *config = json_pack(
		"{s:s, s:s, s:s, s:b, s:b, s:i, s:{s:s, s:s, s:s, s:s}, s:{s:b}}", "apiVersion",
		"kubelet.config.k8s.io/v1beta1", "kind", "KubeletConfiguration", "cgroupDriver",
		"cgroupfs", "failSwapOn", 0, "failCgroupV1", 0, "imageGCHighThresholdPercent", 100,
		"evictionHard", "nodefs.available", "0%", "nodefs.inodesFree", "0%",
		"imagefs.available", "0%", "imagefs.inodesFree", "0%", "featureGates",
		"KubeletInUserNamespace", 1);

	add_gates(config, profile);
	failover_set_kubelet_fields(config, profile);
	/* An image that was loaded has no credentials, whatever was once pulled with the same
	 * contents.  Older kubelets, and those without the feature, refuse the field. */
	if (verifies_pulls(profile, config))
		set_path(config, "imagePullCredentialsVerificationPolicy",
			 json_string("NeverVerify"));
	add_fields(config, profile, "kubelet");
	return config;
}

static json_t *proxy_config(const struct profile *profile)
{
	json_t *config = json_pack("{s:s, s:s, s:s, s:{s:i, s:i, s:s, s:s}}", "apiVersion",
				   "kubeproxy.config.k8s.io/v1alpha1", "kind",
				   "KubeProxyConfiguration", "mode", "nftables", "conntrack",
				   "maxPerCore", 0, "min", 0, "tcpEstablishedTimeout", "0s",
				   "tcpCloseWaitTimeout", "0s");

	add_gates(config, profile);
	add_fields(config, profile, "proxy");
	return config;
}

/* The documents for one node, with its patches applied. */
struct documents {
	const struct profile *profile;
	const struct node *node;
	struct strbuf text;
	int r; /* the result of the first patch that cannot be applied */
	struct error *err;
};

/* Append OBJECT, which is released, as one document. */
static void add_document(struct documents *documents, json_t *object)
{
	char *text;
	int r = kubeadm_patch_apply(&object, documents->profile, documents->node,
				    documents->r < 0 ? NULL : documents->err);

	documents->r = documents->r < 0 ? documents->r : r;
	text = json_dumps(object, JSON_INDENT(2));
	assert(text);
	strbuf_addf(&documents->text, "%s%s\n", documents->text.len ? "---\n" : "", text);
	free(text);
	json_decref(object);
}

static json_t *local_endpoint(const struct node *node)
{
	return json_pack("{s:s, s:i}", "advertiseAddress", node->address, "bindPort",
			 API_SERVER_PORT);
}

static void add_init_config(struct documents *documents, const char *token)
{
	const struct profile *profile = documents->profile;
	cleanup_free char *ttl = xasprintf("%dm0s", JOIN_TOKEN_MINUTES);

	add_document(documents,
		     json_pack("{s:s, s:s, s:[{s:s, s:s}], s:o, s:o, s:o}", "apiVersion",
			       KUBEADM_API, "kind", "InitConfiguration", "bootstrapTokens", "token",
			       token, "ttl", ttl, "localAPIEndpoint",
			       local_endpoint(documents->node), "timeouts", timeouts(),
			       "nodeRegistration", registration(profile, documents->node)));
	add_document(documents, cluster_config(profile));
	add_document(documents, kubelet_config(profile));
	add_document(documents, proxy_config(profile));
}

static void add_join_config(struct documents *documents, const char *token,
			    const char *discovery_path)
{
	json_t *config = json_pack("{s:s, s:s, s:{s:{s:s}, s:s}, s:o, s:o}", "apiVersion",
				   KUBEADM_API, "kind", "JoinConfiguration", "discovery", "file",
				   "kubeConfigPath", discovery_path, "tlsBootstrapToken", token,
				   "timeouts", timeouts(), "nodeRegistration",
				   registration(documents->profile, documents->node));

	if (documents->node->control_plane)
		(void)json_object_set_new(
			config, "controlPlane",
			json_pack("{s:o}", "localAPIEndpoint", local_endpoint(documents->node)));
	add_document(documents, config);
}

json_t *kubeadm_cluster_config(const struct profile *profile, const struct node *node)
{
	json_t *config = cluster_config(profile);

	(void)kubeadm_patch_apply(&config, profile, node, NULL);
	return config;
}

json_t *kubeadm_kubelet_file(const struct profile *profile, const struct node *primary)
{
	json_t *config = kubelet_config(profile);

	(void)kubeadm_patch_apply(&config, profile, primary, NULL);
	return config;
}

char *kubeadm_local_config(const struct node *node, const json_t *cluster_config)
{
	json_auto_t *local = json_pack("{s:s, s:s, s:o, s:{s:s, s:s}}", "apiVersion", KUBEADM_API,
				       "kind", "InitConfiguration", "localAPIEndpoint",
				       local_endpoint(node), "nodeRegistration", "name", node->name,
				       "criSocket", CRI_SOCKET);
	cleanup_free char *first = json_dumps(local, JSON_INDENT(2));
	cleanup_free char *second = json_dumps(cluster_config, JSON_INDENT(2));

	assert(first && second);
	return xasprintf("%s\n---\n%s\n", first, second);
}

char *kubeadm_init_config(const struct profile *profile, const struct node *node, const char *token)
{
	struct documents documents = { .profile = profile, .node = node, .text = STRBUF_INIT };

	add_init_config(&documents, token);
	return strbuf_take(&documents.text);
}

char *kubeadm_join_config(const struct profile *profile, const struct node *node, const char *token,
			  const char *discovery_path)
{
	struct documents documents = { .profile = profile, .node = node, .text = STRBUF_INIT };

	add_join_config(&documents, token, discovery_path);
	return strbuf_take(&documents.text);
}

int kubeadm_check_patches(const struct profile *profile, const struct node *node, struct error *err)
{
	struct documents documents = {
		.profile = profile, .node = node, .text = STRBUF_INIT, .err = err
	};

	if (node->primary)
		add_init_config(&documents, "");
	else
		add_join_config(&documents, "", "");
	strbuf_release(&documents.text);
	return documents.r;
}

/* A kubeconfig with one user; USER has the lines below `user:`. */
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
