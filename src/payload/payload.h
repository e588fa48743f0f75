/*
 * The payload: the Kubernetes that nodes run, for one version, in the cache.
 *
 * A payload is a directory CACHE/VERSION, complete or absent: it is made beside
 * (CACHE/VERSION.part, kept when interrupted so that the next try goes on from there)
 * and renamed at the end.
 *
 *	bin/       kubeadm kubelet kubectl containerd containerd-shim-runc-v2 ctr runc etcdctl
 *	cni/       ptp host-local portmap loopback, and bridge for networks of the user's own
 *	images/    one OCI archive per image
 *	store/     containerd's root with all images imported and unpacked for overlayfs, as
 *	           the CRI plugin wants them.  May be hard-linked into nodes, but for the
 *	           databases (names ending in .db), which are written in place and must be copied.
 *	payload.json   versions, image names, how each part was got
 */
#pragma once

#include "base/error.h"
#include "base/observer.h"
#include "base/strlist.h"

/*
 * The owner of the large files in store/: an id that no node has.  Nodes hard-link these and can
 * read them, but not write them, so that one can't change what the others run.
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

/* How to get what the cache lacks. */
struct payload_source {
	/*
	 * Where to download from instead of the official places: a base URL that has their
	 * addresses, without https://, as paths, with the published checksum files beside them:
	 * MIRROR/dl.k8s.io/release/v1.36.3/bin/linux/amd64/kubelet and kubelet.sha256,
	 * MIRROR/github.com/etcd-io/etcd/releases/download/v3.6.8/… and SHA256SUMS.
	 */
	const char *binary_mirror;
	bool no_download; /* go straight to building from source */
	bool no_build;    /* never build from source */
	bool offline;     /* only what is in the cache */
};

/* The supported versions, newest first, ended by NULL. */
const char *const *payload_versions(void);

/*
 * Turn what a person wrote (v1.36.3, 1.36.3, v1.36, stable, latest) into a supported
 * version; -EINVAL with reason_version_unsupported and the supported ones named otherwise.
 */
int payload_resolve_version(const char *text, const char **ret_version, struct error *err);

/* Open the payload of VERSION from the cache; -ENOENT if it is not there.  One in the user's home,
 * where an earlier version kept it, is taken over first: see payload/adopt.h. */
int payload_open(const char *version, struct payload *ret, struct error *err);

/*
 * Like payload_open(), getting what is missing: by download with checksums verified, or
 * by building from source where there is nothing to download (never when a checksum is
 * wrong: -EBADMSG).  MANYKUBE_PAYLOAD_FROM=source or =download allows just one way.
 * -EINVAL with reason_version_unsupported if VERSION is neither there nor one of
 * payload_versions(), -ENOENT with reason_download if SOURCE is offline. Two callers at once share
 * one build: the second waits, and OBSERVER says so.
 */
int payload_ensure(const char *version, const struct payload_source *source,
		   struct observer *observer, struct payload *ret, struct error *err);

/* The names of PAYLOAD's images, and the paths of their archives in the same order. */
int payload_images(const struct payload *payload, struct strlist *ret_names,
		   struct strlist *ret_archives, struct error *err);

/* Open the program NAME of PAYLOAD, of bin/ or of an image; -ENOENT if it is in neither. */
int payload_open_program(const struct payload *payload, const char *name, int *ret_fd,
			 struct error *err);

void payload_release(struct payload *payload);
