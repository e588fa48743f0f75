/*
 * A simulated world (record/world.h) for testing the order of the cluster logic's steps.
 *
 * Its objects are files in a directory, so that they survive a crash of the process.  Its driver is
 * called "fake".  A crash can be requested after a given step.
 */
#pragma once

#include "base/strlist.h"

/* Use the world in DIR from now on; exit with FAKE_CRASHED after step CRASH_AT (0: never). */
void fake_world_use(const char *dir, unsigned crash_at);

#define FAKE_CRASHED 99

/* The name of its driver. */
extern const char *const fake_world_driver;

/* All objects in the world, sorted: "network", "front-door", "running:node-1", "frozen:node-1",
 * "member:node-1", "etcd:node-1", "token:abcdef"; "flannel" if it is installed, and "applied:NAME"
 * for an object in the namespace cni-test. */
void fake_world_list(struct strlist *ret);

/*
 * Add the object WHAT:
 *  - "sick:node-1": the node never becomes Ready;
 *  - "hung-kubelet:node-1", "hung-containerd:node-1": not Ready until that program is restarted;
 *  - "hung-etcd:node-1", "hung-kube-apiserver:node-1", "hung-kube-controller:node-1",
 *    "hung-kube-scheduler:node-1": until that program is restarted, which the API needs if it is
 *    one of the first two;
 *  - "dead-kubelet:node-1": the kubelet does not run, which the API does not know yet;
 *  - "no-cni:node-1": not Ready, because it has no network;
 *  - "silent:node-1": it has not reported its status for a minute;
 *  - "stopping:node-1": it is shutting down;
 *  - "no-programs:node-1": it has lost its programs until it is stopped;
 *  - "hung-kernel:node-1": it hangs when it joins, until it is stopped; "bad-kernel:node-1":
 * always;
 *  - "small-disk:node-1": its disk has half the size that it should have;
 *  - "no:netem": this host cannot delay packets;
 *  - "hung:front-door": the API does not answer until the front door was closed;
 *  - "pod:node-1:ReplicaSet:web": a pod with such a controller; "pod:node-1::web": one without;
 *  - "volume:node-1:data": a PersistentVolume on the node, of the claim default/data;
 *  - "budget:web": the pod cannot be evicted.
 */
void fake_world_add(const char *what);

/* Remove the object WHAT. */
void fake_world_remove(const char *what);

/* Limit free memory and disk space to BYTES. */
void fake_world_shrink(uint64_t bytes);

/* The versions of payloads requested since fake_world_use(), in order. */
extern struct strlist fake_world_payloads;

/* The number of requests that allowed downloading or building, and the mirror of the last one. */
extern unsigned fake_world_fetches;
extern char *fake_world_mirror;

/* Make the payload of VERSION unavailable. */
void fake_world_lack(const char *version);

/*
 * The simulated duration of each operation that is not waiting for the cluster: getting a payload,
 * taking the host's lock, making and stopping a node, importing images.
 */
extern unsigned fake_world_slow_seconds;

/* The simulated time for which the API does not answer readiness checks. */
extern unsigned fake_world_api_seconds;

/* How many objects with the rights of the watcher were applied; not while the API comes up. */
extern unsigned fake_world_rights;

/* How often etcd refuses to remove a member, because not all members have
 * been connected for long. */
extern unsigned fake_world_unsettled;

/*
 * The events of nodes, in order and with versions; the caller frees the text: "finish stopping
 * node-1 v1.36.3", "start node-1 v1.36.3" with that of its kubelet, "prepare node-1 v1.36.3",
 * "addons node-1 v1.36.3", "renew node-1 v1.36.3", "restart programs of node-1 v1.36.3", "close
 * door to node-1 ", "lead node-2 node-1" (etcd, instead of the latter), "end API of node-1
 * v1.36.3".
 */
char *fake_world_history(void) must_check;

/* The rules of failures on the cluster's bridge, "" if there are none; the caller frees them. */
char *fake_world_rules(void) must_check;

/* Whether the API server of NODE is suspended and answers nothing. */
bool fake_world_holds(const char *node);

/* The configuration that kubeadm stores in the cluster; the caller frees it. */
char *fake_world_stored_config(void) must_check;

/* How often kubeadm join fails on a control plane after it was added to etcd. */
extern unsigned fake_world_failing_joins;

/* How often kubeadm times out when it installs addons. */
extern unsigned fake_world_late_answers;

/* How often kubeadm init has finished in this world. */
unsigned fake_world_inits(void);
