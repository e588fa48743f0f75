/*
 * The payload: the Kubernetes that nodes run, for one version, in the cache.
 *
 * A payload is a directory CACHE/VERSION, which is complete or absent.  It is made in
 * CACHE/VERSION.part and renamed at the end.  After an interruption, the next attempt continues
 * with that directory.
 *
 *	bin/       kubeadm kubelet kubectl containerd containerd-shim-runc-v2 ctr runc etcdctl
 *	cni/       ptp host-local portmap loopback, and bridge for the user's own networks
 *	images/    one OCI archive per image
 *	store/     containerd's root with all images imported and unpacked for overlayfs, as
 *	           the CRI plugin expects them.  Files may be hard-linked into nodes, except
 *	           databases (*.db), which are written in place and must be copied.
 *	payload.json   versions, image names, the origin of each component
 */
#pragma once

#include "base/error.h"
#include "base/observer.h"
#include "base/strlist.h"

/*
 * The owner of the large files in store/: an id that no node has.  Nodes hard-link these files and
 * can read but not write them, so that no node can change what the others run.
 */
#define PAYLOAD_SHARED_UID 0xfffe0000u

struct payload {
	char *version; /* v1.36.3 */
	char *dir;
	char *pause_image; /* registry.k8s.io/pause:3.10.2 */
	char *etcd_version;
	char *coredns_version;
};

#define PAYLOAD_INIT ((struct payload){ NULL })

/* How to get a payload that is not in the cache. */
struct payload_source {
	/*
	 * A base URL to download from instead of the official sites, or NULL.  Its paths are the
	 * official URLs without https://, including the published checksum files:
	 * MIRROR/dl.k8s.io/release/v1.36.3/bin/linux/amd64/kubelet and kubelet.sha256,
	 * MIRROR/github.com/etcd-io/etcd/releases/download/v3.6.8/… and SHA256SUMS.
	 */
	const char *binary_mirror;
	bool no_download; /* never download, build from source */
	bool no_build;    /* never build from source */
	bool offline;     /* use only the cache */
};

/* The supported versions, newest first, ended by NULL. */
const char *const *payload_versions(void);

/*
 * Resolve a version given by the user (v1.36.3, 1.36.3, v1.36, stable, latest) to a supported one;
 * otherwise -EINVAL with reason_version_unsupported, and the error lists the supported versions.
 */
int payload_resolve_version(const char *text, const char **ret_version, struct error *err);

/* Open the payload of VERSION in the cache; -ENOENT if it is missing.  Users other than root
 * may also use one in their home, where an earlier version kept it. */
int payload_open(const char *version, struct payload *ret, struct error *err);

/*
 * Like payload_open(), but make a missing payload: download it and verify checksums, or build it
 * from source if there is nothing to download.  A wrong checksum is never followed by a build:
 * -EBADMSG. MANYKUBE_PAYLOAD_FROM=source or =download allows only one way.  -EINVAL with
 * reason_version_unsupported if VERSION is neither in the cache nor in payload_versions(); -ENOENT
 * with reason_download if it is missing and SOURCE is offline.  If another process makes the
 * payload, this one notifies OBSERVER and waits.
 */
int payload_ensure(const char *version, const struct payload_source *source,
		   struct observer *observer, struct payload *ret, struct error *err);

/* The names of PAYLOAD's images, and the paths of their archives in the same order. */
int payload_images(const struct payload *payload, struct strlist *ret_names,
		   struct strlist *ret_archives, struct error *err);

/* The names of PAYLOAD's images, and their IDs, "sha256:HEX", in the same order. */
int payload_image_ids(const struct payload *payload, struct strlist *ret_names,
		      struct strlist *ret_ids, struct error *err);

/* Open the program NAME of PAYLOAD, in bin/ or in an image; -ENOENT if it is in neither. */
int payload_open_program(const struct payload *payload, const char *name, int *ret_fd,
			 struct error *err);

void payload_release(struct payload *payload);
