/*
 * A world for the cluster's logic in which nothing is real but the order of things.
 *
 * What exists is files in a directory, so that it outlives a process that is ended in the
 * middle; the driver is called "fake".  A crash is asked for by the number of the step
 * after which the process ends.
 */
#pragma once

#include "base/strlist.h"

/* Use the world in DIR from now on; end the process with FAKE_CRASHED after step CRASH_AT (0:
 * never). */
void fake_world_use(const char *dir, unsigned crash_at);

#define FAKE_CRASHED 99

/* The name of its driver. */
extern const char *const fake_world_driver;

/* All that exists in the world, sorted: "network", "front-door", "running:node-1", "frozen:node-1",
 * "member:node-1", "etcd:node-1", "token:abcdef". */
void fake_world_list(struct strlist *ret);

/*
 * Have WHAT exist: "sick:node-1" is not Ready whatever is done, "hung-kubelet:node-1" and
 * "hung-containerd:node-1" not before that program was restarted; "dead-kubelet:node-1" does not
 * run, which the API does not know yet; "no-cni:node-1" is not Ready not for want of a
 * network; "silent:node-1" has not told its status for a minute; "stopping:node-1" is shutting
 * down.  With "hung:front-door" the API does not answer until that was closed.
 * "pod:node-1:ReplicaSet:web" is a pod with such a controller, "pod:node-1::web" one without;
 * "budget:web" keeps it from being evicted.
 */
void fake_world_add(const char *what);

/* From now on only BYTES of memory and disk are free. */
void fake_world_shrink(uint64_t bytes);

/* The versions of which the payload was asked for since fake_world_use(), in order. */
extern struct strlist fake_world_payloads;

/* How many of them could have been downloaded or built, and from where the last one. */
extern unsigned fake_world_fetches;
extern char *fake_world_mirror;

/* From now on the payload of VERSION can't be had. */
void fake_world_lack(const char *version);

/*
 * How long, by the clock, each thing takes that is not waiting for the cluster: getting a payload,
 * taking the host's lock, making and stopping a node, importing images.  Nothing really waits.
 */
extern unsigned fake_world_slow_seconds;

/* How long, by the clock, the API does not answer when it is asked whether it is ready. */
extern unsigned fake_world_api_seconds;

/* How often etcd will not yet let a member go, since not all have been in touch for long. */
extern unsigned fake_world_unsettled;

/*
 * What has happened to nodes, in order and with versions, for the caller to free: "finish stopping
 * node-1 v1.36.3", "start node-1 v1.36.3" with that of its kubelet, "prepare node-1 v1.36.3",
 * "addons node-1 v1.36.3", "renew node-1 v1.36.3", "restart programs of node-1 v1.36.3", "close
 * door to node-1 ", "lead node-2 node-1" (etcd, instead of the latter), "end API of node-1
 * v1.36.3".
 */
char *fake_world_history(void) must_check;

/* Whether the API server of NODE is held, so that it answers nothing. */
bool fake_world_holds(const char *node);

/* What kubeadm keeps in the cluster. */
char *fake_world_stored_config(void) must_check;

/* How often kubeadm join will fail on a control plane, after etcd was told of it. */
extern unsigned fake_world_failing_joins;

/* How often kubeadm will not get an answer in time when it installs addons. */
extern unsigned fake_world_late_answers;

/* How often kubeadm init has finished in this world. */
unsigned fake_world_inits(void);
