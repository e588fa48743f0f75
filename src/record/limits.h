/* Limits and fixed words of clusters, each defined once. */
#pragma once

/* etcd gets slower with each member. */
#define CONTROL_PLANES_MOST 7

/* Keeps pods that do not tolerate it off a control plane. */
#define CONTROL_PLANE_TAINT "node-role.kubernetes.io/control-plane:NoSchedule"
