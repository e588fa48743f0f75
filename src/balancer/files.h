/* The front door's files in the profile's directory, shared by the process and those who control
 * it.
 */
#pragma once

#include "balancer/balancer.h"

#define FRONT_DOOR_CONFIG "front-door.json"
#define FRONT_DOOR_LOCK   "front-door.lock"
#define FRONT_DOOR_STATUS "front-door.status.json"
#define FRONT_DOOR_LOG    "front-door.log"

/* In the environment of a front door: the descriptor of a pipe that wants to hear "ready", "busy"
 * or "error TEXT". */
#define FRONT_DOOR_READY_FD "MANYKUBE_READY_FD"

/* Raised when front doors that run must be replaced by those of this program; it is in the status
 * file. 1 had none, and did all as root. */
#define FRONT_DOOR_REVISION 3

int front_door_read_config(const char *dir, struct balancer_config *ret, struct error *err);
