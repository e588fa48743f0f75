/* Limits and fixed words of clusters, each defined once. */
#pragma once

#include <stdint.h>

/* The addresses of a /24 without those of the host, the network and broadcast, and a few in
 * reserve. */
#define NODES_MOST 250

/* etcd gets slower with each member. */
#define CONTROL_PLANES_MOST 7

/* With less memory, a control plane is killed by the OOM killer while it starts. */
#define CONTROL_PLANE_LEAST_BYTES (UINT64_C(1) << 30)
#define WORKER_LEAST_BYTES        (UINT64_C(512) << 20)

/* The images of a control plane take 1.1 GiB; etcd, logs and pods need the rest. */
#define DISK_LEAST_BYTES (UINT64_C(2) << 30)

/* The largest file on ext4, which may hold the disk. */
#define DISK_MOST_BYTES (UINT64_C(15) << 40)

/* A cluster whose certificates expire earlier would not work for an hour. */
#define CERT_LEAST_SECONDS 3600

/* The taint that keeps ordinary pods off a control plane. */
#define CONTROL_PLANE_TAINT "node-role.kubernetes.io/control-plane:NoSchedule"
