/* The parts of an upgrade that kubeadm does on one node. */

#include "kubeadm/upgrade-node.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "kubeadm/addons.h"
#include "kubeadm/bootstrap.h"
#include "kubeadm/kubeadm.h"
#include "kubeadm/stored-config.h"
#include "node/node-files.h"

/* Files in the node's /etc that upgrade-node.sh reads and writes. */
#define CONFIG   "manykube/upgrade.yaml"
#define BELOW    "etc/kubernetes"
#define NEW_ONES "upgraded"

/* The directory of static pod patches in NODE's kubeadm configuration, "" if there is none; for the
 * caller to free. */
static char *patch_directory(const struct profile *profile, const struct node *node)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	json_auto_t *first = NULL;
	const char *dir;

	/* The first document is the one about the node. */
	if (node_read(profile, node, "manykube/kubeadm.yaml", &text, NULL) == 0)
		first = json_loadb(text.text, text.len, JSON_DISABLE_EOF_CHECK, NULL);
	dir = json_string_value(json_object_get(json_object_get(first, "patches"), "directory"));
	return xasprintf("%s%s", dir ? "--patches=" : "", dir ? dir : "");
}

/* Write the configuration that kubeadm has stored in the cluster, including changes by users, with
 * VERSION. */
static int write_config(const struct profile *profile, const struct node *node, const char *version,
			struct error *err)
{
	cleanup_free char *text = NULL;
	json_auto_t *config = NULL;
	int r = stored_config_read(profile, &config, err);

	if (r < 0)
		return r;
	(void)json_object_set_new(config, "kubernetesVersion", json_string(version));
	text = kubeadm_local_config(node, config);
	return node_put(profile, node, CONFIG, text, 0600, err);
}

int upgrade_prepare_node(const struct profile *profile, struct node *node,
			 const struct payload *payload, int64_t deadline_ms, struct error *err)
{
	static char script[] =
#include "upgrade-node.sh.inc"
		;
	cleanup_with(bootstrap_release) struct bootstrap work = BOOTSTRAP_INIT;
	cleanup_free char *kubeadm = xasprintf("%s/bin/kubeadm", payload->dir);
	cleanup_free char *patches = patch_directory(profile, node);
	char *role = node->primary ? "primary" : node->control_plane ? "control-plane" : "worker";
	int r = node->control_plane ? write_config(profile, node, payload->version, err) : 0;

	if (r == 0)
		r = bootstrap_run(
			profile, node,
			ARGV("sh", "-ec", script, "upgrade", payload->version, role, patches),
			kubeadm, &work, err);
	return r < 0 ? r : bootstrap_finish(&work, deadline_ms, err);
}

int upgrade_replace_manifests(const struct profile *profile, const struct node *node,
			      struct error *err)
{
	static const char *const names[] = { "etcd.yaml", "kube-apiserver.yaml",
					     "kube-controller-manager.yaml",
					     "kube-scheduler.yaml" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
		cleanup_free char *from = xasprintf("/" BELOW "/" NEW_ONES "/%s", names[i]);
		cleanup_free char *to = xasprintf("/" BELOW "/manifests/%s", names[i]);

		r = node_rename(profile, node, from, to, err);
		if (r < 0)
			return error_prefix(err, r, "cannot replace '%s' of node '%s'", names[i],
					    node->name);
	}
	node_unlink(profile, node, "/" BELOW "/" NEW_ONES);
	return r;
}

bool upgrade_has_manifests(const struct profile *profile, const struct node *node,
			   const char *version)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *image = xasprintf("/kube-apiserver:%s\n", version);

	return node_read(profile, node, "kubernetes/manifests/kube-apiserver.yaml", &text, NULL) ==
		       0 &&
	       strstr(text.text, image);
}

int upgrade_rest(const struct profile *profile, struct node *node, const char *version,
		 int64_t deadline_ms, struct error *err)
{
	cleanup_with(bootstrap_release) struct bootstrap work = BOOTSTRAP_INIT;
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_free char *patches = patch_directory(profile, node);
	int r = stored_config_has_addons(profile, err);

	if (r < 0)
		return r;
	strlist_add_all(&argv, ARGV("kubeadm", "upgrade", "apply"));
	strlist_add(&argv, version);
	strlist_add_all(&argv, ARGV("--yes", "--v=1",
				    "--skip-phases=preflight,control-plane,kubelet-config"));
	if (*patches)
		strlist_add(&argv, patches);
	r = bootstrap_run(profile, node, argv.items, NULL, &work, err);
	if (r == 0)
		r = bootstrap_finish(&work, deadline_ms, err);
	if (r == 0)
		r = addons_install(profile, ADDON_AFTER_KUBEADM, err);
	if (r == 0)
		r = addons_install(profile, ADDON_WITH_API, err);
	if (r == 0)
		r = addons_install(profile, ADDON_AT_START, err);
	return r;
}
