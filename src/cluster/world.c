/* The real world: this host, a real front door, a real API. */

#include "record/world.h"

#include <string.h>
#include <unistd.h>

#include "api/curl.h"
#include "balancer/balancer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/process.h"
#include "base/user.h"
#include "data/inet.h"
#include "host/probe.h"
#include "kubeadm/certificates.h"
#include "kubeconfig/context.h"
#include "kubeconfig/kubeconfig.h"
#include "look/status.h"
#include "network/front-door.h"
#include "network/network.h"
#include "node/import-images.h"
#include "node/node-files.h"
#include "record/ports.h"
#include "record/spec.h"

#define REQUEST_TIMEOUT_MS 10000
/* What is asked only once is given longer: a busy host's API may need it while it is made. */
#define ANSWER_TIMEOUT_MS  30000
#define RIGHTS_MS          5000
#define RENEW_MS           60000
#define RIGHTS_POLL_MS     100
#define FRONT_DOOR_MS      2000
#define FRONT_DOOR_POLL_MS 5

static int get_payload(const char *version, const struct payload_source *source,
		       struct observer *observer, struct payload *ret, struct error *err)
{
	const struct curl *curl;
	/* Needed for the API later: better missed now than when half of a cluster is made. */
	int r = curl_load(&curl, err);

	return r < 0 ? r : payload_ensure(version, source, observer, ret, err);
}

/* Relay names to the host's servers, which may listen on loopback only: the front door is on the
 * host. */
static void add_dns(const struct profile *profile, struct balancer_config *config)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	config->dns_listen = xasprintf("%s:53", profile->gateway);
	if (!profile->offline && file_read("/etc/resolv.conf", 65536, &text, NULL) == 0)
		network_parse_resolv(text.text, &config->dns_upstream);
}

/* Who is answered, and counts as one where connections are shared out. */
static void add_origins(const struct profile *profile, struct balancer_config *config)
{
	const struct node *node;

	strlist_add(&config->networks, profile->subnet);
	strlist_add(&config->networks, profile->pod_subnet);
	profile_for_each_node(node, profile)
		balancer_config_add_origin(config, node->address, node->pod_cidr);
}

/* What comes to the host's ports goes to the first node that takes it, the primary before others:
 * any node takes what is for a service, only one has a pod's host port. */
static int add_forwards(const struct profile *profile, struct balancer_config *config,
			struct error *err)
{
	const struct node *node;
	const char *word;

	strlist_for_each(word, &profile->ports) {
		struct balancer_forward *forward;
		cleanup_free char *address = NULL;
		struct port_spec port;
		int r = spec_parse_port(word, &port, err);

		if (r < 0)
			return r;
		address = inet_print_address(port.address);
		forward = balancer_config_add_forward(config);
		forward->listen = xasprintf("%s:%u", address, port.host_port);
		for (int primary = 1; primary >= 0; primary--)
			profile_for_each_node(node, profile)
				if (node->primary == primary &&
				    (!port.node || strcmp(port.node, node->name) == 0))
					strlist_addf(&forward->to, "%s:%u", node->address,
						     port.node_port);
	}
	return 0;
}

static int open_front_door(const struct profile *profile, const struct strlist *without,
			   struct error *err)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	const struct node *node;
	int r;

	strlist_addf(&config.listen, "%s:%d", profile->gateway, FRONT_DOOR_PORT);
	strlist_addf(&config.listen, "127.0.0.1:%u", profile->api_port);
	profile_for_each_node(node, profile) {
		cleanup_free char *address = NULL;

		/* The first one must be reachable while it is still being made. */
		if (!node->control_plane || (node->phase != NODE_JOINED && !node->primary) ||
		    (without && strlist_has(without, node->name)))
			continue;
		address = xasprintf("%s:%d", node->address, API_SERVER_PORT);
		balancer_config_add_backend(&config, node->name, address);
	}
	add_dns(profile, &config);
	add_origins(profile, &config);
	config.bridge = xstrdup(profile->bridge);
	config.rules = network_rules(profile);
	network_host_ports(profile, &config.host_ports);
	r = add_forwards(profile, &config, err);
	if (r < 0)
		return r;
	r = balancer_configure(profile->folder, &config, err);
	if (r == 0)
		r = cluster_run_front_door(profile, err);
	return r < 0 ? error_prefix(err, r, "cannot open the front door") : 0;
}

static int front_door_up(const struct profile *profile, struct error *err)
{
	return open_front_door(profile, NULL, err);
}

static bool leads_to_any(const struct profile *profile, const struct strlist *names)
{
	const char *name;

	strlist_for_each(name, names)
		if (balancer_leads_to(profile->folder, name))
			return true;
	return false;
}

static int front_door_without(const struct profile *profile, const struct strlist *names,
			      struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + FRONT_DOOR_MS;
	int r = open_front_door(profile, names, err);

	while (r == 0 && leads_to_any(profile, names)) {
		if (clock_now_ms() >= deadline_ms)
			return error_set(err, -ETIMEDOUT, "the front door does not change");
		clock_rest_ms(FRONT_DOOR_POLL_MS);
	}
	return r;
}

static int front_door_down(const struct profile *profile, struct error *err)
{
	return balancer_stop(profile->folder, err);
}

/* One client for the cluster that this process works on: connections are kept. */
static struct kube *client;
static char *client_folder;

static int get_client(const struct profile *profile, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/kubeconfig", profile->folder);
	int r;

	if (client && strcmp(client_folder, profile->folder) == 0)
		return 0;
	if (client)
		kube_free(take_ptr(client));
	free(take_ptr(client_folder));
	r = kube_open(path, &client, err);
	if (r == 0)
		client_folder = xstrdup(profile->folder);
	return r;
}

/* We may do everything; but a control plane that has just come up has yet to read that. */
static int ask_kube(const struct profile *profile, enum kube_verb verb, const char *path,
		    const json_t *body, json_t **ret_answer, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + RIGHTS_MS;
	int r = get_client(profile, err);

	if (r < 0)
		return r;
	while ((r = kube_request(client, verb, path, body, ANSWER_TIMEOUT_MS, ret_answer, err)) ==
		       -EPERM &&
	       clock_now_ms() < deadline_ms) {
		if (err)
			error_clear(err);
		clock_rest_ms(RIGHTS_POLL_MS);
	}
	return r;
}

static bool api_is_ready(const struct profile *profile, const struct node *node)
{
	return strcmp(cluster_status_api(profile, node, REQUEST_TIMEOUT_MS), "Running") == 0;
}

static int read_pki(const struct profile *profile, const struct node *node, const char *name,
		    struct strbuf *ret, struct error *err)
{
	cleanup_free char *relative = xasprintf("kubernetes/pki/%s", name);

	return node_read(profile, node, relative, ret, err);
}

/* As the API server does, in JSON. */
static int ask_etcd(const struct profile *profile, const struct node *node, const char *path,
		    const json_t *body, json_t **ret_answer, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf cert = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf key = STRBUF_INIT;
	cleanup_with(kube_freep) struct kube *etcd = NULL;
	cleanup_free char *server = xasprintf("https://%s:%d", node->address, ETCD_PORT);
	int r = read_pki(profile, node, "etcd/ca.crt", &ca, err);

	if (r == 0)
		r = read_pki(profile, node, "apiserver-etcd-client.crt", &cert, err);
	if (r == 0)
		r = read_pki(profile, node, "apiserver-etcd-client.key", &key, err);
	if (r == 0)
		r = kube_new(server, ca.text, cert.text, key.text, &etcd, err);
	return r < 0 ? r
		     : kube_request(etcd, KUBE_CREATE, path, body, REQUEST_TIMEOUT_MS, ret_answer,
				    err);
}

static int open_on_primary(const struct profile *profile, const char *name, struct kube **ret_kube)
{
	const struct node *primary = profile_primary(profile);
	cleanup_free char *server = NULL;
	int r;

	if (!primary)
		return -ENOENT;
	server = xasprintf("https://%s:%d", primary->address, API_SERVER_PORT);
	r = node_open_kube(profile, primary, name, ret_kube, NULL);
	if (r == 0)
		kube_set_server(*ret_kube, server);
	return r;
}

/* The same binding that kubeadm makes of the administrators' group. */
static bool give_rights(struct kube *super)
{
	json_auto_t *binding = json_pack(
		"{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:s}]}", "apiVersion",
		"rbac.authorization.k8s.io/v1", "kind", "ClusterRoleBinding", "metadata", "name",
		"kubeadm:cluster-admins", "roleRef", "apiGroup", "rbac.authorization.k8s.io",
		"kind", "ClusterRole", "name", "cluster-admin", "subjects", "apiGroup",
		"rbac.authorization.k8s.io", "kind", "Group", "name", "kubeadm:cluster-admins");
	int r = kube_request(super, KUBE_CREATE,
			     "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding,
			     REQUEST_TIMEOUT_MS, NULL, NULL);

	return r == 0 || r == -EEXIST;
}

/*
 * kubeadm has two administrators: one that needs no role, and one that has to be given its rights
 * by it.  kubeadm does that too, but then sleeps until they are known everywhere.
 */
static bool admin_is_ready(const struct profile *profile)
{
	static struct kube *super;
	static struct kube *admin;
	static bool has_rights;

	if (!super && open_on_primary(profile, "kubernetes/super-admin.conf", &super) < 0)
		return false;
	if (!admin && open_on_primary(profile, "kubernetes/admin.conf", &admin) < 0)
		return false;
	if (!has_rights &&
	    !kube_is_ok(super, "/readyz/poststarthook/rbac/bootstrap-roles", REQUEST_TIMEOUT_MS))
		return false;
	has_rights = has_rights || give_rights(super);
	return has_rights &&
	       kube_is_ok(admin, "/api/v1/namespaces/kube-system", REQUEST_TIMEOUT_MS);
}

/* The administrator's certificate, as kubeadm made it on the primary, for both kubeconfigs. */
static int kubeconfig_add(const struct profile *profile, struct error *err)
{
	cleanup_free char *own = xasprintf("%s/kubeconfig", profile->folder);
	cleanup_free char *server = context_server(profile);
	cleanup_with(kube_freep) struct kube *admin = NULL;
	const struct node *primary = profile_primary(profile);
	struct kubeconfig_entry entry;
	int r;

	if (!primary)
		return error_because(err, &reason_control_plane, -ENOENT,
				     "the cluster has no primary control plane");
	r = node_open_kube(profile, primary, "kubernetes/admin.conf", &admin, err);
	if (r < 0)
		return r;
	entry = (struct kubeconfig_entry){ profile->name, server, kube_ca(admin), kube_cert(admin),
					   kube_key(admin) };
	/* The profile's own is made of what is here; a damaged one is worth nothing to anybody. */
	if (kubeconfig_check(own, NULL) == -EBADMSG)
		(void)unlink(own);
	r = kubeconfig_merge(own, &entry, err);
	if (r >= 0)
		r = user_may_read(own, err);
	if (r >= 0)
		r = context_put(profile, admin, err);
	return r < 0 ? r : 0;
}

/*
 * On this host, with the node's tree as its root: so it needs neither a node that runs nor an
 * API, which may be unable to come up because of these very certificates.  The files are the
 * node's, so nothing else can be written, and a pipe in the place of one does not keep us waiting
 * for ever.
 */
static int renew(const struct profile *profile, const struct node *node,
		 const struct payload *payload, struct error *err)
{
	cleanup_free char *tree = node_tree(profile, node);
	cleanup_free char *root = xasprintf("--rootfs=%s", tree);
	cleanup_free char *kubeadm = xasprintf("%s/bin/kubeadm", payload->folder);
	cleanup_free char *log = xasprintf("%s/logs/kubeadm-%s.log", profile->folder, node->name);
	struct process_options options = { .no_stdin = true,
					   .dies_with_us = true,
					   .output = log,
					   .folder = tree,
					   .only_folder = true };
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	int r = process_spawn(
		ARGV(kubeadm, root, "certs", "renew", "all", "--config=/etc/" CERTIFICATES_CONFIG),
		&options, &process, err);

	if (r == 0)
		r = process_wait(&process, clock_now_ms() + RENEW_MS, err);
	if (r > 0 || r == -ETIMEDOUT)
		return error_because(err, &reason_control_plane, -EIO,
				     "kubeadm could not renew the certificates of node '%s'; see "
				     "'%s'",
				     node->name, log);
	return r;
}

/* kubectl knows best what drain means.  It keeps what the API tells it in files that the API names,
 * so it can write to nothing but our logs. */
static int drain(const struct profile *profile, const struct node *node, unsigned seconds,
		 struct error *err)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_free char *timeout = xasprintf("--timeout=%us", seconds);
	cleanup_free char *config = xasprintf("--kubeconfig=%s/kubeconfig", profile->folder);
	cleanup_free char *logs = xasprintf("%s/logs", profile->folder);
	cleanup_free char *log = xasprintf("%s/drain-%s.log", logs, node->name);
	cleanup_free char *kubectl = NULL;
	struct process_options options = { .no_stdin = true,
					   .dies_with_us = true,
					   .output = log,
					   .folder = logs,
					   .only_folder = true };
	int r = payload_open(profile->kubernetes_version, &payload, err);

	if (r < 0)
		return r;
	kubectl = xasprintf("%s/bin/kubectl", payload.folder);
	r = process_run(ARGV(kubectl, config, "--cache-dir=/nonexistent", "drain",
			     (char *)(uintptr_t)node->name, "--ignore-daemonsets",
			     "--delete-emptydir-data", "--force", timeout),
			&options, err);
	if (r > 0)
		return error_because(err, &reason_control_plane, -EBUSY,
				     "draining node '%s' did not end within %u s; see '%s'",
				     node->name, seconds, log);
	return r;
}

static void after(arg_unused const char *step)
{
}

const struct world world_real = {
	.payload = get_payload,
	.room = probe_room,
	.network_lock = network_lock,
	.network_plan = network_plan,
	.ports_are_free = network_ports_are_free,
	.network_up = network_up,
	.network_forget = network_forget,
	.network_down = network_down,
	.front_door_up = front_door_up,
	.front_door_without = front_door_without,
	.front_door_down = front_door_down,
	.kube = ask_kube,
	.api_is_ready = api_is_ready,
	.etcd = ask_etcd,
	.admin_is_ready = admin_is_ready,
	.renew = renew,
	.import_images = images_import,
	.drain = drain,
	.kubeconfig_add = kubeconfig_add,
	.kubeconfig_remove = context_remove,
	.after = after,
};

const struct world *world = &world_real;
