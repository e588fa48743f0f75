/* Which versions of Kubernetes may be combined in one cluster. */

#include "record/skew.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "payload/gomod.h"
#include "payload/payload.h"

/* By how many minor versions a kubelet may be older than the API server. */
#define KUBELET_SKEW 3

/* 36 for v1.36.3. */
static unsigned long long minor_of(const char *version)
{
	const char *minor = strchr(version, '.');
	cleanup_free char *digits = minor ? xstrndup(minor + 1, strcspn(minor + 1, ".")) : NULL;
	unsigned long long number = 0;

	if (digits)
		(void)parse_number(digits, 0, UINT32_MAX, &number, NULL);
	return number;
}

int skew_check(const char *cluster, const char *version, bool control_plane, struct error *err)
{
	int newer = gomod_compare_versions(version, cluster);
	const char *rule;

	if (newer == 0)
		return 0;
	if (control_plane)
		rule = "a control plane node must have the cluster's version";
	else if (newer > 0 || minor_of(cluster) > minor_of(version) + KUBELET_SKEW)
		rule = "a kubelet may be up to three minor versions older than the API server, "
		       "never newer";
	else
		return 0;
	(void)error_because(err, &reason_version_unsupported, -EINVAL,
			    "a node with Kubernetes %s cannot be part of a cluster with %s: %s",
			    version, cluster, rule);
	return error_hint(err, -EINVAL, "omit --kubernetes-version to get a node with %s", cluster);
}

/* The newest release of the minor version that follows VERSION, or NULL. */
static const char *next_minor_release(const char *version)
{
	for (const char *const *known = payload_versions(); *known; known++)
		if (minor_of(*known) == minor_of(version) + 1)
			return *known;
	return NULL;
}

int skew_check_upgrade(const char *from, const char *to, struct error *err)
{
	const char *next = next_minor_release(from);

	if (gomod_compare_versions(to, from) < 0) {
		(void)error_because(
			err, &reason_version_unsupported, -EINVAL,
			"a cluster with Kubernetes %s cannot be changed to %s: Kubernetes "
			"cannot be downgraded",
			from, to);
		return error_hint(
			err, -EINVAL,
			"'manykube start -p NAME --kubernetes-version=%s' creates another "
			"cluster",
			to);
	}
	if (minor_of(to) <= minor_of(from) + 1)
		return 0;
	(void)error_because(
		err, &reason_version_unsupported, -EINVAL,
		"a cluster with Kubernetes %s cannot be upgraded to %s: no minor version "
		"may be skipped",
		from, to);
	return next ? error_hint(err, -EINVAL,
				 "run 'manykube upgrade --kubernetes-version=%s' first", next)
		    : -EINVAL;
}
