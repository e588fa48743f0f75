/* The real environment of the cluster logic: this host, a real front door, a real API. */

#include "record/world.h"

#include <net/if.h>
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
#include "fail/delay.h"
#include "fail/timer.h"
#include "host/firewall.h"
#include "kubeadm/certificates.h"
#include "kubeadm/watch-identity.h"
#include "kubeconfig/context.h"
#include "kubeconfig/kubeconfig.h"
#include "look/status.h"
#include "network/front-door-config.h"
#include "network/front-door.h"
#include "network/network.h"
#include "network/watch-config.h"
#include "node/cluster-node.h"
#include "node/import-images.h"
#include "node/node-files.h"
#include "probe/probe.h"
#include "record/ports.h"

#define REQUEST_TIMEOUT_MS 10000
/*
 * Longer for requests that are made only once: the API of a busy host may need it while it starts.
 */
#define ANSWER_TIMEOUT_MS  30000
#define RIGHTS_MS          5000
#define RENEW_MS           60000
#define RIGHTS_POLL_MS     100
#define FRONT_DOOR_MS      2000
#define FRONT_DOOR_POLL_MS 5

/* For a request after the deadline: an API that answers at all needs less. */
#define LATE_MS 2000

static const int64_t *wanted_by_ms;

const int64_t *world_until(const int64_t *deadline_ms)
{
	const int64_t *before = wanted_by_ms;

	wanted_by_ms = deadline_ms;
	return before;
}

void world_restore(const int64_t **before)
{
	wanted_by_ms = *before;
}

/* The timeout of a request now that otherwise is MOST_MS. */
static unsigned limit_ms(unsigned most_ms)
{
	int left_ms = wanted_by_ms ? MAX(clock_left_ms(*wanted_by_ms), LATE_MS) : INT_MAX;

	return MIN(most_ms, (unsigned)left_ms);
}

static int get_payload(const char *version, const struct payload_source *source,
		       struct observer *observer, struct payload *ret, struct error *err)
{
	const struct curl *curl;
	/*
	 * Needed later for the API: fail now if it is missing, not when half of the cluster exists.
	 */
	int r = curl_load(&curl, err);

	return r < 0 ? r : payload_ensure(version, source, observer, ret, err);
}

/* Write the configuration of the process that watches the API. */
static int configure_watch(const struct profile *profile, struct error *err)
{
	cleanup_with(watch_config_release) struct watch_config config = WATCH_CONFIG_INIT;
	int r = network_watch_config(profile, &config, err);

	return r < 0 ? r : watch_configure(profile->dir, &config, err);
}

static int open_front_door(const struct profile *profile, const struct strlist *without,
			   struct error *err)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	cleanup_with(strbuf_release) struct strbuf resolv = STRBUF_INIT;
	int r;

	(void)file_read("/etc/resolv.conf", 65536, &resolv, NULL);
	r = front_door_config(profile, without, resolv.text, &config, err);
	if (r < 0)
		return r;
	r = configure_watch(profile, err);
	if (r == 0)
		r = balancer_configure(profile->dir, &config, err);
	if (r == 0)
		r = cluster_run_front_door(profile, err);
	return r < 0 ? error_prefix(err, r, "cannot open the front door") : 0;
}

static int front_door_up(const struct profile *profile, struct error *err)
{
	return open_front_door(profile, NULL, err);
}

static bool front_door_hangs(const struct profile *profile)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = balancer_hangs(profile->dir, &why);

	if (r < 0)
		log_debug("cannot tell whether the front door hangs: %s", why.text);
	return r > 0;
}

static bool leads_to_any(const struct profile *profile, const struct strlist *names)
{
	const char *name;

	strlist_for_each(name, names)
		if (balancer_leads_to(profile->dir, name))
			return true;
	return false;
}

static int front_door_without(const struct profile *profile, const struct strlist *names,
			      struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + FRONT_DOOR_MS;
	int r = open_front_door(profile, names, err);

	while (r == 0 && leads_to_any(profile, names)) {
		if (!clock_poll(deadline_ms, FRONT_DOOR_POLL_MS))
			return error_set(err, -ETIMEDOUT, "the front door does not change");
	}
	return r;
}

static int front_door_down(const struct profile *profile, struct error *err)
{
	return balancer_stop(profile->dir, err);
}

/* One client for the cluster that this process works on, so that connections are reused. */
static struct kube *client;
static char *client_dir;

static int get_client(const struct profile *profile, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/kubeconfig", profile->dir);
	int r;

	if (client && strcmp(client_dir, profile->dir) == 0)
		return 0;
	if (client)
		kube_free(take_ptr(client));
	free(take_ptr(client_dir));
	r = kube_open(path, &client, err);
	if (r == 0)
		client_dir = xstrdup(profile->dir);
	return r;
}

/* The administrator may do everything, but a control plane that has just come up may not know that
 * yet. */
static int request_kube(const struct profile *profile, enum kube_verb verb, const char *path,
			const json_t *body, json_t **ret_answer, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + RIGHTS_MS;
	int r = get_client(profile, err);

	if (r < 0)
		return r;
	while ((r = kube_request(client, verb, path, body, limit_ms(ANSWER_TIMEOUT_MS), ret_answer,
				 err)) == -EPERM &&
	       clock_poll(deadline_ms, RIGHTS_POLL_MS))
		if (err)
			error_clear(err);
	return r;
}

static bool api_is_ready(const struct profile *profile, const struct node *node)
{
	return strcmp(cluster_status_api(profile, node, limit_ms(REQUEST_TIMEOUT_MS)), "Running") ==
	       0;
}

static int read_pki(const struct profile *profile, const struct node *node, const char *name,
		    struct strbuf *ret, struct error *err)
{
	cleanup_free char *relative = xasprintf("kubernetes/pki/%s", name);

	return node_read(profile, node, relative, ret, err);
}

/* Uses etcd's JSON gateway, with the certificate of the API server. */
static int request_etcd(const struct profile *profile, const struct node *node, const char *path,
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
		     : kube_request(etcd, KUBE_CREATE, path, body, limit_ms(REQUEST_TIMEOUT_MS),
				    ret_answer, err);
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

/* kubeadm creates two administrators: one that needs no role, and one that gets its rights from the
 * former.  Connections of both are kept, because they are polled. */
static struct kube *super_admin;
static struct kube *plain_admin;

static bool roles_are_made(const struct profile *profile)
{
	return (super_admin ||
		open_on_primary(profile, "kubernetes/super-admin.conf", &super_admin) == 0) &&
	       kube_is_ok(super_admin, "/readyz/poststarthook/rbac/bootstrap-roles",
			  limit_ms(REQUEST_TIMEOUT_MS));
}

/* Create the binding for the administrators' group that kubeadm creates, too; kubeadm then sleeps
 * until all API servers know it. */
static int give_admin_rights(const struct profile *profile)
{
	json_auto_t *binding = json_pack(
		"{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:s}]}", "apiVersion",
		"rbac.authorization.k8s.io/v1", "kind", "ClusterRoleBinding", "metadata", "name",
		"kubeadm:cluster-admins", "roleRef", "apiGroup", "rbac.authorization.k8s.io",
		"kind", "ClusterRole", "name", "cluster-admin", "subjects", "apiGroup",
		"rbac.authorization.k8s.io", "kind", "Group", "name", "kubeadm:cluster-admins");
	int r = 0;

	if (!super_admin)
		r = open_on_primary(profile, "kubernetes/super-admin.conf", &super_admin);
	if (r == 0)
		r = kube_request(super_admin, KUBE_CREATE,
				 "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding,
				 limit_ms(REQUEST_TIMEOUT_MS), NULL, NULL);
	return r == -EEXIST ? 0 : r;
}

static bool admin_is_ready(const struct profile *profile)
{
	return (plain_admin ||
		open_on_primary(profile, "kubernetes/admin.conf", &plain_admin) == 0) &&
	       kube_is_ok(plain_admin, "/api/v1/namespaces/kube-system",
			  limit_ms(REQUEST_TIMEOUT_MS));
}

/* The cluster works without the process that watches its API. */
static void start_watch(const struct profile *profile)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = watch_identity_ensure(profile, &why);

	if (r == 0)
		r = configure_watch(profile, &why);
	if (r < 0)
		log_warning(
			"services of type LoadBalancer get no addresses, and changes of network "
			"policies have no effect: %s",
			why.text);
}

/*
 * Put the administrator's certificate, which kubeadm created on the primary, into both kubeconfigs.
 */
static int kubeconfig_add(const struct profile *profile, struct error *err)
{
	cleanup_free char *own = xasprintf("%s/kubeconfig", profile->dir);
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
	/* The profile's own kubeconfig is generated, so a damaged one can be replaced. */
	if (kubeconfig_check(own, NULL) == -EBADMSG)
		(void)unlink(own);
	r = kubeconfig_merge(own, &entry, err);
	if (r >= 0)
		r = user_may_read(own, err);
	if (r >= 0)
		r = context_put(profile, admin, err);
	if (r >= 0)
		start_watch(profile);
	return r < 0 ? r : 0;
}

/*
 * Runs kubeadm on this host, on the node's files: so it needs neither a running node nor the API,
 * which may be unable to start because of these very certificates.  A pipe in place of a file
 * cannot block it forever.
 */
static int renew_with_kubeadm(const struct profile *profile, const struct node *node,
			      const struct payload *payload, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *kubeadm = xasprintf("%s/bin/kubeadm", payload->dir);
	cleanup_free char *log = xasprintf("%s/logs/kubeadm-%s.log", profile->dir, node->name);
	struct process_options options = { .no_stdin = true, .output = log };
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r == 0)
		r = at.driver->files->spawn(&at.spec, "--rootfs=",
					    ARGV(kubeadm, "certs", "renew", "all",
						 "--config=/etc/" CERTIFICATES_CONFIG),
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

static bool network_is_up(const struct profile *profile)
{
	return if_nametoindex(profile->bridge) != 0;
}

static int cut(const struct profile *profile, const char *rules, struct error *err)
{
	return rules ? firewall_replace_bridge_table(profile->bridge, rules, err)
		     : firewall_delete_bridge_table(profile->bridge, err);
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
	.network_is_up = network_is_up,
	.cut = cut,
	.delay = delay_set,
	.delay_probe = delay_probe,
	.failure_timer = fail_timer_run,
	.front_door_up = front_door_up,
	.front_door_hangs = front_door_hangs,
	.front_door_without = front_door_without,
	.front_door_down = front_door_down,
	.kube = request_kube,
	.api_is_ready = api_is_ready,
	.etcd = request_etcd,
	.roles_are_made = roles_are_made,
	.give_admin_rights = give_admin_rights,
	.admin_is_ready = admin_is_ready,
	.renew = renew_with_kubeadm,
	.import_images = images_import,
	.kubeconfig_add = kubeconfig_add,
	.kubeconfig_remove = context_remove,
	.after = after,
};

const struct world *world = &world_real;
