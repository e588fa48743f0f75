/* The front door's files in the profile's directory, for keeper.c and control.c. */
#pragma once

#include "balancer/balancer.h"

#define FRONT_DOOR_CONFIG "front-door.json"
#define FRONT_DOOR_LOCK   "front-door.lock"
#define FRONT_DOOR_STATUS "front-door.status.json"
#define FRONT_DOOR_LOG    "front-door.log"

/* An environment variable with the number of a pipe's descriptor, to which the keeper reports
 * "ready", "busy" or "error TEXT". */
#define FRONT_DOOR_READY_FD "MANYKUBE_READY_FD"

/* Increased when running front doors of earlier versions must be replaced.  It is written to the
 * status file, except by revision 1, which did everything as root. */
#define FRONT_DOOR_REVISION 5

/* Read the configuration in DIR. */
int front_door_read_config(const char *dir, struct balancer_config *ret, struct error *err);
