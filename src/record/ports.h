/* Names and ports that every part of a cluster uses. */
#pragma once

/* Lower ports of this host can only be opened by root. */
#define PORT_LEAST_OF_USERS 1024

/* The name of the front door in the /etc/hosts of every node, and its port there. */
#define FRONT_DOOR_NAME "front-door.manykube.internal"
#define FRONT_DOOR_PORT 6443

/* The port of the API server on each control plane. */
#define API_SERVER_PORT 6443

/* The client port of the etcd member on each control plane. */
#define ETCD_PORT 2379

/* The port of the Docker daemon on nodes that have one. */
#define DOCKER_PORT 2376
