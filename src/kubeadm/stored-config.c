/* The ClusterConfiguration that kubeadm stores in the cluster. */

#include "kubeadm/stored-config.h"

#include <string.h>

#include "base/cleanup.h"
#include "data/yaml.h"
#include "kubeadm/kubeadm.h"
#include "record/world.h"

#define PATH "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
#define KEY  "ClusterConfiguration"

int stored_config_read(const struct profile *profile, json_t **ret_config, struct error *err)
{
	cleanup_with(yaml_value_release) struct yaml_value value = YAML_VALUE_INIT;
	json_auto_t *answer = NULL;
	const char *text;
	int r = world->kube(profile, KUBE_GET, PATH, NULL, &answer, err);

	if (r < 0)
		return error_prefix(err, r, "cannot read kubeadm's configuration of the cluster");
	text = json_string_value(json_object_get(json_object_get(answer, "data"), KEY));
	if (!text)
		return error_because(err, &reason_control_plane, -ENOENT,
				     "kubeadm has no configuration of cluster '%s'", profile->name);
	r = yaml_read("kubeadm-config", text, strlen(text), &value, err);
	if (r < 0)
		return error_reason(err, r, &reason_control_plane);
	*ret_config = yaml_to_json(&value);
	return 0;
}

static bool is_disabled(const json_t *config, const char *addon)
{
	return json_is_true(json_object_get(json_object_get(config, addon), "disabled"));
}

int stored_config_has_addons(const struct profile *profile, struct error *err)
{
	static const char *const addons[] = { "dns", "proxy" };
	const struct node *primary = profile_primary(profile);
	json_auto_t *wanted = kubeadm_cluster_config(profile, primary);
	json_auto_t *config = NULL;
	json_auto_t *patch = NULL;
	cleanup_free char *text = NULL;
	bool changed = false;
	int r = stored_config_read(profile, &config, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(addons); i++) {
		if (!is_disabled(config, addons[i]) || is_disabled(wanted, addons[i]))
			continue;
		(void)json_object_del(json_object_get(config, addons[i]), "disabled");
		changed = true;
	}
	if (!changed)
		return 0;
	text = yaml_print(config);
	patch = json_pack("{s:{s:s}}", "data", KEY, text);
	return world->kube(profile, KUBE_MERGE, PATH, patch, NULL, err);
}
