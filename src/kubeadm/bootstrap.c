/* Running kubeadm on nodes. */

#include "kubeadm/bootstrap.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "data/pki.h"
#include "kubeadm/kubeadm.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "node/trouble.h"
#include "record/world.h"

/*
 * The phases that bootstrap_init() leaves to the other parts; kubeadm need not wait for anything.
 */
#define INIT_SKIPS                                                                          \
	"--skip-phases=preflight,control-plane/controller-manager,control-plane/scheduler," \
	"wait-control-plane,upload-config,upload-certs,mark-control-plane,bootstrap-token," \
	"kubelet-finalize,addon,show-join-command"

/* The phases that are done before bootstrap_publish(). */
#define PUBLISH_SKIPS                                                                \
	"--skip-phases=preflight,certs,kubeconfig,etcd,control-plane,kubelet-start," \
	"wait-control-plane,addon,show-join-command"

/*
 * Phases skipped when a control plane joins: kubeadm checks the health of all etcd members, and
 * sleeps for 5 s if one has just been added.  It does so again after it has added the new member,
 * and then waits for components that manykube waits for itself.
 */
#define JOIN_CONTROL_PLANE_SKIPS                                                        \
	"--skip-phases=preflight,check-etcd,kubelet-wait-bootstrap,control-plane-join," \
	"wait-control-plane"
#define MEMBER_POLL_MS  100
#define TROUBLE_POLL_MS 500
#define LABEL_POLL_MS   100

#define CONFIG_IN_NODE    "/etc/manykube/kubeadm.yaml"
#define DISCOVERY_IN_NODE "/etc/manykube/discovery.conf"

static int put_secret(const struct profile *profile, const struct node *node, const char *path,
		      const char *text, struct error *err)
{
	return node_put(profile, node, path, text, 0600, err);
}

/* Run kubeadm with ARGV on NODE with the file INPUT (may be NULL) as standard input, and its output
 * in the profile's logs. */
static int spawn_kubeadm(const struct profile *profile, struct node *node, char *const *argv,
			 const char *input, struct bootstrap *ret, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(bootstrap_release) struct bootstrap bootstrap = BOOTSTRAP_INIT;
	cleanup_fd int fd = input ? open(input, O_RDONLY | O_CLOEXEC) : -1;
	struct process_options options = { .no_stdin = !input, .stdin_fd = fd };
	int r = cluster_node_open(profile, node, &at, err);

	if (r < 0)
		return r;
	if (input && fd < 0)
		return error_sys(err, "cannot open '%s'", input);
	bootstrap.profile = profile;
	bootstrap.node = node;
	bootstrap.log = xasprintf("%s/logs/kubeadm-%s.log", profile->dir, node->name);
	options.output = bootstrap.log;
	r = at.driver->spawn(&at.spec, argv, &options, &bootstrap.process, err);
	if (r < 0)
		return r;
	*ret = bootstrap;
	bootstrap = BOOTSTRAP_INIT;
	return 0;
}

static int run_kubeadm(const struct profile *profile, struct node *node, char *const *argv,
		       struct bootstrap *ret, struct error *err)
{
	return spawn_kubeadm(profile, node, argv, NULL, ret, err);
}

/* The last line of kubeadm's log that names the failure. */
static char *last_words(const char *log)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *best = NULL;
	const char *line;

	if (file_read(log, 16 << 20, &text, NULL) < 0)
		return xstrdup("no output");
	strlist_split(&lines, text.text, '\n');
	strlist_for_each(line, &lines)
		if (strncmp(line, "error", 5) == 0 || strstr(line, "rror execution phase") || !best)
			best = line;
	if (!best && lines.count > 0)
		best = lines.items[lines.count - 1];
	return xstrndup(best ? best : "no output", 300);
}

/* Interpret the exit status STATUS of kubeadm. */
static int finish_kubeadm(const struct bootstrap *bootstrap, int status, struct error *err)
{
	cleanup_free char *words = NULL;

	if (status == 0)
		return 0;
	if (status == -ETIMEDOUT) {
		(void)error_because(err, &reason_wait_timeout, -ETIMEDOUT,
				    "kubeadm on node '%s' did not finish in time",
				    bootstrap->node->name);
		return error_hint(
			err, -ETIMEDOUT,
			"read '%s' and 'manykube logs %s', then run 'manykube start' again",
			bootstrap->log, bootstrap->node->name);
	}
	if (status < 0)
		return status;
	words = last_words(bootstrap->log);
	(void)error_because(err, &reason_control_plane, -EIO, "kubeadm failed on node '%s': %s",
			    bootstrap->node->name, words);
	return error_hint(err, -EIO,
			  "read '%s' and 'manykube logs', then run 'manykube start' again",
			  bootstrap->log);
}

/* First, the node's images get the names that they have in the repository that the user chose. */
int bootstrap_run(const struct profile *profile, struct node *node, char *const *argv,
		  const char *input, struct bootstrap *ret, struct error *err)
{
	static const char script[] =
#include "rename-images.sh.inc"
		;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	if (!profile->image_repository)
		return spawn_kubeadm(profile, node, argv, input, ret, err);
	strlist_add(&all, "sh");
	strlist_add(&all, "-ec");
	strlist_add(&all, script);
	strlist_add(&all, "sh");
	strlist_add(&all, profile->image_repository);
	strlist_add_all(&all, argv);
	return spawn_kubeadm(profile, node, all.items, input, ret, err);
}

int bootstrap_init(const struct profile *profile, struct node *node, const char *token,
		   struct bootstrap *ret, struct error *err)
{
	cleanup_free char *config = kubeadm_init_config(profile, node, token);
	int r = put_secret(profile, node, "manykube/kubeadm.yaml", config, err);

	if (r < 0)
		return r;
	return bootstrap_run(profile, node,
			     ARGV("kubeadm", "init", "--config", CONFIG_IN_NODE, INIT_SKIPS,
				  "--skip-token-print", "--v=1"),
			     NULL, ret, err);
}

int bootstrap_publish(const struct profile *profile, struct node *node, struct bootstrap *ret,
		      struct error *err)
{
	return run_kubeadm(profile, node,
			   ARGV("kubeadm", "init", "--config", CONFIG_IN_NODE, PUBLISH_SKIPS,
				"--skip-token-print", "--v=1"),
			   ret, err);
}

int bootstrap_controllers(const struct profile *profile, struct node *node, struct bootstrap *ret,
			  struct error *err)
{
	/* All components, because one process handles both; the API server's manifest does not
	 * change. */
	return run_kubeadm(profile, node,
			   ARGV("kubeadm", "init", "phase", "control-plane", "all", "--config",
				CONFIG_IN_NODE, "--v=1"),
			   ret, err);
}

int bootstrap_addons(const struct profile *profile, struct node *node, struct bootstrap *ret,
		     struct error *err)
{
	return run_kubeadm(profile, node,
			   ARGV("kubeadm", "init", "phase", "addon", "all", "--config",
				CONFIG_IN_NODE, "--v=1"),
			   ret, err);
}

/* Read a file in the pki directory of the primary. */
static int read_pki(const struct profile *profile, const char *name, struct strbuf *ret,
		    struct error *err)
{
	cleanup_free char *relative = xasprintf("kubernetes/pki/%s", name);
	const struct node *primary = profile_primary(profile);

	if (!primary)
		return error_set(err, -ENOENT, "the cluster has no primary control plane");
	return node_read(profile, primary, relative, ret, err);
}

static int write_discovery(const struct profile *profile, const struct node *node,
			   const char *token, const char *ca_base64, struct error *err)
{
	cleanup_free char *text = kubeadm_discovery(ca_base64, token);

	return put_secret(profile, node, "manykube/discovery.conf", text, err);
}

int bootstrap_sign_kubelet(const struct profile *profile, const struct node *node,
			   struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf key = STRBUF_INIT;
	cleanup_free char *name = xasprintf("system:node:%s", node->name);
	cleanup_free char *pem = NULL;
	int r = read_pki(profile, "ca.crt", &ca, err);

	if (r == 0)
		r = read_pki(profile, "ca.key", &key, err);
	if (r == 0)
		r = pki_sign_client(ca.text, key.text, name, "system:nodes", 365, &pem, err);
	if (r == 0)
		r = node_make_directory(profile, node, "/var/lib/kubelet/pki", 0700, err);
	return r < 0 ? r : node_put(profile, node, BOOTSTRAP_KUBELET_PEM, pem, 0600, err);
}

static int write_identity(const struct profile *profile, const struct node *node, const char *token,
			  struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_free char *base64 = NULL;
	cleanup_free char *config = NULL;
	int r = read_pki(profile, "ca.crt", &ca, err);

	if (r < 0)
		return r;
	base64 = xcalloc(ca.len / 3 * 4 + 8, 1);
	(void)EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)ca.text, (int)ca.len);
	config = kubeadm_kubelet_config(base64, node->name, BOOTSTRAP_KUBELET_PEM);
	r = write_discovery(profile, node, token, base64, err);
	if (r == 0)
		r = bootstrap_sign_kubelet(profile, node, err);
	if (r == 0)
		r = put_secret(profile, node, "kubernetes/kubelet.conf", config, err);
	return r;
}

/* Copy what all control planes share: the certificate authorities and the key that signs service
 * accounts.  They are copied between the nodes' directories, where no other user can read them. */
static int copy_authorities(const struct profile *profile, const struct node *node,
			    struct error *err)
{
	static const char *const names[] = {
		"ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key",
		"sa.pub", "sa.key", "etcd/ca.crt",        "etcd/ca.key",
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		cleanup_free char *path = xasprintf("kubernetes/pki/%s", names[i]);

		r = read_pki(profile, names[i], &text, err);
		if (r == 0)
			r = put_secret(profile, node, path, text.text, err);
	}
	return r;
}

static char join_member[] =
#include "join-member.sh.inc"
	;

int bootstrap_join(const struct profile *profile, struct node *node, const char *token,
		   struct bootstrap *ret, struct error *err)
{
	cleanup_free char *config = kubeadm_join_config(profile, node, token, DISCOVERY_IN_NODE);
	int r = put_secret(profile, node, "manykube/kubeadm.yaml", config, err);

	if (r == 0)
		r = write_identity(profile, node, token, err);
	if (r == 0 && node->control_plane)
		r = copy_authorities(profile, node, err);
	if (r < 0)
		return r;
	if (node->control_plane)
		return bootstrap_run(profile, node,
				     ARGV("sh", "-c", join_member, "join", "kubeadm", "join",
					  "--config", CONFIG_IN_NODE, JOIN_CONTROL_PLANE_SKIPS,
					  "--v=1"),
				     NULL, ret, err);
	return bootstrap_run(profile, node,
			     ARGV("kubeadm", "join", "--config", CONFIG_IN_NODE,
				  "--skip-phases=preflight", "--v=1"),
			     NULL, ret, err);
}

/* Remove the bootstrap kubeconfig, as kubeadm does when the kubelet no longer needs it. */
static void remove_bootstrap_kubeconfig(const struct profile *profile, const struct node *node)
{
	node_unlink(profile, node, "kubernetes/bootstrap-kubelet.conf");
}

int bootstrap_await_member(const struct profile *profile, struct bootstrap *join,
			   int64_t deadline_ms, struct error *err)
{
	for (;;) {
		cleanup_with(members_release) struct members members = MEMBERS_INIT;
		const struct member *member = NULL;
		int r;

		if (members_read(profile, &members, NULL) == 0)
			member = members_find(&members, join->node);
		if (member && !member->learner) {
			remove_bootstrap_kubeconfig(profile, join->node);
			return 0;
		}
		/* kubeadm has failed if it exits before that. */
		r = process_wait(&join->process, clock_now_ms() + MEMBER_POLL_MS, NULL);
		if (r != -ETIMEDOUT || clock_now_ms() > deadline_ms)
			return finish_kubeadm(join, r, err);
		/* Another attempt would fail as well. */
		if (trouble_check_node(profile, join->node, err) < 0)
			return -ECANCELED;
	}
}

int bootstrap_reset(const struct profile *profile, struct node *node, int64_t deadline_ms,
		    struct error *err)
{
	static char script[] =
#include "reset.sh.inc"
		;
	cleanup_with(bootstrap_release) struct bootstrap reset = BOOTSTRAP_INIT;
	int r = run_kubeadm(profile, node, ARGV("sh", "-c", script, "reset"), &reset, err);

	return r < 0 ? r : bootstrap_finish(&reset, deadline_ms, err);
}

int bootstrap_disown(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s/status", node->name);
	json_auto_t *patch = json_pack("{s:{s:[{s:s, s:s, s:s, s:s}]}}", "status", "conditions",
				       "type", "Ready", "status", "False", "reason", "Rejoining",
				       "message", "the node is about to join again");
	int r = world->kube(profile, KUBE_MERGE, path, patch, NULL, err);

	if (r != -ENOENT)
		return r;
	error_clear(err);
	return 0;
}

int bootstrap_finish(struct bootstrap *bootstrap, int64_t deadline_ms, struct error *err)
{
	for (;;) {
		int64_t next_ms = clock_now_ms() + TROUBLE_POLL_MS;
		int status = process_wait(&bootstrap->process, MIN(next_ms, deadline_ms), err);

		if (status != -ETIMEDOUT || next_ms > deadline_ms)
			return finish_kubeadm(bootstrap, status, err);
		error_clear(err);
		if (trouble_check_node(bootstrap->profile, bootstrap->node, err) < 0)
			return -EIO;
	}
}

void bootstrap_release(struct bootstrap *bootstrap)
{
	process_release(&bootstrap->process);
	free(bootstrap->log);
	*bootstrap = BOOTSTRAP_INIT;
}

bool bootstrap_was_kept_waiting(const struct error *err)
{
	return err && (strstr(err->text, "context deadline exceeded") ||
		       strstr(err->text, "Client.Timeout exceeded"));
}

static char *token_name(const char *token)
{
	return xasprintf("bootstrap-token-%.6s", token);
}

int bootstrap_add_token(const struct profile *profile, const char *token, struct error *err)
{
	cleanup_free char *name = token_name(token);
	cleanup_free char *id = xstrndup(token, 6);
	cleanup_free char *end = clock_rfc3339(clock_wall_seconds() + JOIN_TOKEN_MINUTES * 60);
	json_auto_t *secret = json_pack(
		"{s:s, s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s, s:s, s:s}}", "apiVersion",
		"v1", "kind", "Secret", "type", "bootstrap.kubernetes.io/token", "metadata", "name",
		name, "namespace", "kube-system", "stringData", "token-id", id, "token-secret",
		token + 7, "expiration", end, "usage-bootstrap-authentication", "true",
		"usage-bootstrap-signing", "true", "auth-extra-groups",
		"system:bootstrappers:kubeadm:default-node-token");

	return world->kube(profile, KUBE_CREATE, "/api/v1/namespaces/kube-system/secrets", secret,
			   NULL, err);
}

int bootstrap_remove_token(const struct profile *profile, const char *token, struct error *err)
{
	cleanup_free char *name = token_name(token);
	cleanup_free char *path = xasprintf("/api/v1/namespaces/kube-system/secrets/%s", name);
	int r = world->kube(profile, KUBE_DELETE, path, NULL, NULL, err);

	if (r == -ENOENT) {
		error_clear(err);
		return 0;
	}
	return r;
}

static int label(const struct profile *profile, const struct node *node, json_t *labels,
		 int64_t deadline_ms, struct error *err)
{
	json_auto_t *patch = json_pack("{s:{s:O}}", "metadata", "labels", labels);
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);
	int r;

	if (json_object_size(labels) == 0)
		return 0;
	/* The kubelet of the control plane may not have registered its node yet. */
	while ((r = world->kube(profile, KUBE_MERGE, path, patch, NULL, err)) == -ENOENT &&
	       clock_poll(deadline_ms, LABEL_POLL_MS))
		error_clear(err);
	return r < 0 ? error_prefix(err, r, "cannot label node '%s'", node->name) : 0;
}

int bootstrap_label(const struct profile *profile, const struct node *node, int64_t deadline_ms,
		    struct error *err)
{
	json_auto_t *labels = kubeadm_reserved_labels(node);

	return label(profile, node, labels, deadline_ms, err);
}

int bootstrap_mark_control_plane(const struct profile *profile, const struct node *node,
				 int64_t deadline_ms, struct error *err)
{
	json_auto_t *labels = json_pack("{s:s, s:s}", "node-role.kubernetes.io/control-plane", "",
					"node.kubernetes.io/exclude-from-external-load-balancers",
					"");

	return label(profile, node, labels, deadline_ms, err);
}
