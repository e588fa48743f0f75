/* The pod network of a cluster. */

#include "cni/pod-network.h"

#include "base/cleanup.h"
#include "cni/flannel.h"
#include "cni/pods.h"
#include "node/node-files.h"
#include "record/cni.h"

int pod_network_get(const struct profile *profile, const struct payload_source *source,
		    struct observer *observer, struct cni_manifests *ret, struct error *err)
{
	enum cni_kind kind = cni_kind(profile->cni);
	int r = cni_check_family(profile->cni, profile->ip_family, err);

	if (r < 0)
		return r;
	if (kind == CNI_FLANNEL) {
		r = flannel_check_host(err);
		return r < 0 ? r : flannel_ensure(source, observer, err);
	}
	if (kind != CNI_MANIFESTS || cni_manifests_are_stored(profile))
		return 0;
	return cni_manifests_read(profile->cni, profile->offline, ret, err);
}

int pod_network_keep(const struct profile *profile, const struct cni_manifests *manifests,
		     struct error *err)
{
	return manifests->texts.count ? cni_manifests_store(profile, manifests, err) : 0;
}

int pod_network_install(const struct profile *profile, struct error *err)
{
	switch (cni_kind(profile->cni)) {
	case CNI_FLANNEL:
		return flannel_install(profile, err);
	case CNI_MANIFESTS:
		return cni_manifests_apply(profile, err);
	default:
		return 0;
	}
}

int pod_network_uninstall_others(const struct profile *profile, struct error *err)
{
	bool had_flannel = profile->network_from && cni_kind(profile->network_from) == CNI_FLANNEL;
	int r = cni_manifests_remove(profile, err);

	if (r == 0 && had_flannel && cni_kind(profile->cni) != CNI_FLANNEL)
		r = flannel_uninstall(profile, err);
	return r;
}

void pod_network_before_start(const struct profile *profile, const struct node *node)
{
	/* flannel writes it when it has begun. */
	if (cni_kind(profile->cni) == CNI_FLANNEL)
		node_unlink(profile, node, NODE_CNI_FLANNEL);
}

int pod_network_after_start(const struct profile *profile, const struct node *node,
			    struct error *err)
{
	switch (cni_kind(profile->cni)) {
	case CNI_BRIDGE:
		return pods_set_bridge(profile, node, err);
	case CNI_FLANNEL:
		return flannel_give_image(profile, node, err);
	default:
		return 0;
	}
}
