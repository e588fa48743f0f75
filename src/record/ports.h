/* Names and ports that every part of a cluster knows. */
#pragma once

/* The name of the front door that every node's /etc/hosts knows, and its port there. */
#define FRONT_DOOR_NAME "front-door.manykube.internal"
#define FRONT_DOOR_PORT 6443

/* The port on which a control plane's own API server listens. */
#define API_SERVER_PORT 6443

/* And its member of etcd, for the API servers. */
#define ETCD_PORT 2379
