/* Limits and fixed words of clusters, each defined once. */
#pragma once

#include <stdint.h>

/* Addresses of a /24 but for the host's, the network's and broadcast, and some to spare. */
#define NODES_MOST 250

/* etcd gets slower with each member. */
#define CONTROL_PLANES_MOST 7

/* Below it, a control plane is killed for lack of memory while it starts. */
#define CONTROL_PLANE_LEAST_BYTES (UINT64_C(1) << 30)
#define WORKER_LEAST_BYTES        (UINT64_C(512) << 20)

/* The images of a control plane take 1.1 GiB of it; etcd, logs and pods come on top. */
#define DISK_LEAST_BYTES (UINT64_C(2) << 30)

/* Of an ext4 file, which it may have to be. */
#define DISK_MOST_BYTES (UINT64_C(15) << 40)

/* The cluster would not work for an hour. */
#define CERT_LEAST_SECONDS 3600

/* Keeps pods that do not tolerate it off a control plane. */
#define CONTROL_PLANE_TAINT "node-role.kubernetes.io/control-plane:NoSchedule"
