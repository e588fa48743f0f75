/*
 * flannel: its program in the cache (CACHE/flannel-v0.26.7/bin/flanneld, see payload/apart.h), the
 * image that is made of it, and its objects in a cluster.
 *
 * flanneld runs as a DaemonSet and connects the nodes' podCIDRs.  When it has begun on a node, its
 * pod writes the configuration of the node's pod network; so a node is Ready when flannel is.  Pods
 * get links as with --cni=auto, so network policies and services work in the same way.
 */
#pragma once

#include "base/observer.h"
#include "payload/payload.h"
#include "record/profile.h"

/* Put flannel's program and image into the cache; -ENOENT with reason_download if they are missing
 * and SOURCE is offline. */
int flannel_ensure(const struct payload_source *source, struct observer *observer,
		   struct error *err);

/* Fail if nodes of PROFILE cannot run flannel on this host. */
int flannel_check_host(struct error *err);

/* Import the image into NODE, which runs, as soon as its containerd answers. */
int flannel_give_image(const struct profile *profile, const struct node *node, struct error *err);

/* Make flannel's objects what PROFILE says, or delete them. */
int flannel_install(const struct profile *profile, struct error *err);
int flannel_uninstall(const struct profile *profile, struct error *err);
