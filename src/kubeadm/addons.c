/* The addons. */

#include "kubeadm/addons.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "data/yaml.h"
#include "record/world.h"

#define APPLY_TRIES   5
#define APPLY_REST_MS 500

#define CORE "/api/v1/namespaces/"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/"
#define APPS "/apis/apps/v1/namespaces/"

/* clang-format off */
static const struct addon_object default_account[] = {
	{ CORE "default/serviceaccounts/default",
#include "default-account.yaml.inc"
	},
	{ NULL, NULL },
};

/*
 * The default storage class: volumes are directories on the node that a pod runs on.
 *
 * local-path-provisioner creates them after a pod is scheduled (WaitForFirstConsumer), so a volume
 * is always on the node of its pod.
 */
static const struct addon_object storage[] = {
	{ CORE "local-path-storage",
#include "storage-namespace.yaml.inc"
	},
	{ CORE "local-path-storage/serviceaccounts/local-path-provisioner",
#include "storage-account.yaml.inc"
	},
	{ RBAC "clusterroles/local-path-provisioner",
#include "storage-role.yaml.inc"
	},
	{ RBAC "clusterrolebindings/local-path-provisioner",
#include "storage-binding.yaml.inc"
	},
	{ CORE "local-path-storage/configmaps/local-path-config",
#include "storage-config.yaml.inc"
	},
	{ APPS "local-path-storage/deployments/local-path-provisioner",
#include "storage-provisioner.yaml.inc"
	},
	{ "/apis/storage.k8s.io/v1/storageclasses/standard",
#include "storage-class.yaml.inc"
	},
	{ NULL, NULL },
};

/* What the process that watches the API may do (watch/watcher.h). */
static const struct addon_object watch[] = {
	{ RBAC "clusterroles/manykube:watcher",
#include "watch-role.yaml.inc"
	},
	{ RBAC "clusterrolebindings/manykube:watcher",
#include "watch-binding.yaml.inc"
	},
	{ NULL, NULL },
};

static const struct addon_object dns[] = {
	{ APPS "kube-system/deployments/coredns",
#include "coredns.yaml.inc"
	},
	{ NULL, NULL },
};

static const struct addon_object kube_proxy[] = {
	{ APPS "kube-system/daemonsets/kube-proxy",
#include "kube-proxy.yaml.inc"
	},
	{ NULL, NULL },
};
/* clang-format on */

static const struct addon addons[] = {
	{ "the default service account", ADDON_WITH_API, default_account },
	{ "storage", ADDON_WITH_API, storage },
	{ "the rights of the watcher", ADDON_AT_START, watch },
	{ "DNS", ADDON_AFTER_KUBEADM, dns },
	{ "kube-proxy", ADDON_AFTER_KUBEADM, kube_proxy },
	{ NULL },
};

const struct addon *addons_all(void)
{
	return addons;
}

/* On a slow machine, the first request may time out; server-side apply can be repeated. */
static int apply_object(const struct profile *profile, const char *path, const json_t *body,
			struct error *err)
{
	int r = 0;

	for (unsigned left = APPLY_TRIES; left > 0; left--) {
		r = world->kube(profile, KUBE_APPLY, path, body, NULL, err);
		if ((r != -EAGAIN && r != -ETIMEDOUT) || left == 1)
			break;
		error_clear(err);
		clock_rest_ms(APPLY_REST_MS);
	}
	return r;
}

static int install_addon(const struct profile *profile, const struct addon *addon,
			 struct error *err)
{
	for (const struct addon_object *object = addon->objects; object->path; object++) {
		cleanup_with(yaml_value_release) struct yaml_value yaml = YAML_VALUE_INIT;
		json_auto_t *body = NULL;
		int r = yaml_read(object->path, object->yaml, strlen(object->yaml), &yaml, err);

		if (r < 0)
			return r;
		body = yaml_to_json(&yaml);
		r = apply_object(profile, object->path, body, err);
		if (r < 0)
			return error_prefix(err, r, "cannot set up %s", addon->name);
	}
	return 0;
}

int addons_install(const struct profile *profile, enum addon_stage stage, struct error *err)
{
	int r = 0;

	for (const struct addon *addon = addons; r == 0 && addon->name; addon++)
		if (addon->stage == stage)
			r = install_addon(profile, addon, err);
	return r;
}
