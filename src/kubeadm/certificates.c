/* Renewal of certificates that expire. */

#include "kubeadm/certificates.h"

#include <string.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "data/pki.h"
#include "kubeadm/bootstrap.h"
#include "kubeadm/kubeadm.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "record/world.h"

#define POLL_MS     100
#define PATIENCE_MS 30000

/*
 * The validity of the certificate in the file PATH of NODE's /etc/kubernetes; false if it has none.
 */
static bool read_file(const struct profile *profile, const struct node *node, const char *path,
		      struct pki_times *ret)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *relative = xasprintf("kubernetes/%s", path);

	return node_read(profile, node, relative, &text, NULL) == 0 &&
	       pki_read_times(text.text, ret, NULL) == 0;
}

/* Likewise for the certificate in a kubeconfig. */
static bool read_config(const struct profile *profile, const struct node *node, const char *path,
			struct pki_times *ret)
{
	cleanup_with(kube_freep) struct kube *kube = NULL;
	cleanup_free char *relative = xasprintf("kubernetes/%s", path);

	return node_open_kube(profile, node, relative, &kube, NULL) == 0 &&
	       pki_read_times(kube_cert(kube), ret, NULL) == 0;
}

/* Likewise for the kubelet's client certificate; the file becomes a link once the kubelet renews
 * it. */
static bool read_kubelet(const struct profile *profile, const struct node *node,
			 struct pki_times *ret)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	return cluster_node_open(profile, node, &at, NULL) == 0 &&
	       at.driver->files->read(&at.spec, BOOTSTRAP_KUBELET_PEM, NODE_READ_LINKS, 1 << 20,
				      &text, NULL) == 0 &&
	       pki_read_times(text.text, ret, NULL) == 0;
}

static bool kubeadm_is_due(const struct profile *profile, const struct node *node, int64_t now)
{
	static const char *const files[] = {
		"pki/apiserver.crt",          "pki/apiserver-etcd-client.crt",
		"pki/etcd/server.crt",        "pki/apiserver-kubelet-client.crt",
		"pki/etcd/peer.crt",          "pki/etcd/healthcheck-client.crt",
		"pki/front-proxy-client.crt",
	};
	static const char *const configs[] = { "admin.conf", "super-admin.conf",
					       "controller-manager.conf", "scheduler.conf" };
	struct pki_times times;

	if (!node->control_plane)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (read_file(profile, node, files[i], &times) && pki_is_ending(&times, now))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(configs); i++)
		if (read_config(profile, node, configs[i], &times) && pki_is_ending(&times, now))
			return true;
	return false;
}

static bool kubelet_is_due(const struct profile *profile, const struct node *node, bool runs,
			   int64_t now)
{
	struct pki_times times;

	return read_kubelet(profile, node, &times) &&
	       (runs ? times.end <= now : pki_is_ending(&times, now));
}

static void warn_of_authorities(const struct profile *profile, const struct node *node, int64_t now)
{
	static const char *const files[] = { "pki/ca.crt", "pki/etcd/ca.crt",
					     "pki/front-proxy-ca.crt" };
	struct pki_times times;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *end = NULL;

		if (!read_file(profile, node, files[i], &times) || !pki_is_ending(&times, now))
			continue;
		end = clock_rfc3339(times.end);
		log_warning(
			"cluster '%s' works until %s: then the authority that signs its "
			"certificates expires, which cannot be renewed; create a new cluster before "
			"that and move your data to it",
			profile->name, end);
		return;
	}
}

unsigned certificates_ending(const struct profile *profile, const struct node *node, bool runs)
{
	int64_t now = clock_wall_seconds();

	if (node->primary)
		warn_of_authorities(profile, node, now);
	/* An interrupted renewal may have left new certificates that are not used yet. */
	if (node_has(profile, node, CERTIFICATES_CONFIG))
		return CERTIFICATES_OF_KUBELET |
		       (node->control_plane ? CERTIFICATES_OF_KUBEADM : 0);
	return (kubeadm_is_due(profile, node, now) ? CERTIFICATES_OF_KUBEADM : 0) |
	       (kubelet_is_due(profile, node, runs, now) ? CERTIFICATES_OF_KUBELET : 0);
}

/* Record that a renewal has begun; on a control plane, the record is kubeadm's configuration. */
static int begin_renewal(const struct profile *profile, const struct node *node, struct error *err)
{
	json_auto_t *cluster = kubeadm_cluster_config(profile, node);
	cleanup_free char *text = kubeadm_local_config(node, cluster);

	return node_put(profile, node, CERTIFICATES_CONFIG, text, 0600, err);
}

int certificates_renew(const struct profile *profile, const struct node *node, unsigned which,
		       const struct payload *payload, struct error *err)
{
	int r = begin_renewal(profile, node, err);

	if (r == 0)
		world->after("begin to renew certificates");
	if (r == 0 && which & CERTIFICATES_OF_KUBELET)
		r = bootstrap_sign_kubelet(profile, node, err);
	if (r < 0 || !(which & CERTIFICATES_OF_KUBEADM))
		return r;
	world->after("sign kubelet");
	r = world->renew(profile, node, payload, err);
	if (r == 0 && node->primary)
		r = world->kubeconfig_add(profile, err);
	return r;
}

void certificates_settle(const struct profile *profile, const struct node *node)
{
	node_unlink(profile, node, CERTIFICATES_CONFIG);
}

/* etcd reads its files for every connection; the other programs have to be restarted. */
static int restart_programs(const struct profile *profile, const struct node *node, unsigned which,
			    int64_t deadline_ms, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	if (which & CERTIFICATES_OF_KUBEADM)
		strlist_add_all(&names, ARGV("kube-apiserver", "kube-controller-manager",
					     "kube-scheduler"));
	if (which & CERTIFICATES_OF_KUBELET)
		strlist_add(&names, "kubelet");
	return cluster_node_restart(profile, node, &names, deadline_ms, err);
}

int certificates_put_to_use(const struct profile *profile, const struct node *node, unsigned which,
			    int64_t deadline_ms, struct error *err)
{
	int64_t patience_ms = MIN(deadline_ms, clock_now_ms() + PATIENCE_MS);
	int r = restart_programs(profile, node, which, deadline_ms, err);

	/* One control plane after another, because the API must stay available.  But the wait is
	 * limited: the API server may depend on the renewal of the next one. */
	while (r >= 0 && node->control_plane && !world->api_is_ready(profile, node) &&
	       clock_poll(patience_ms, POLL_MS))
		;
	return MIN(r, 0);
}
