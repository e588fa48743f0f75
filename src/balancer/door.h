/* Objects shared by all parts of the front door's worker; worker.c owns them. */
#pragma once

#include "balancer/origin.h"
#include "balancer/sockets.h"
#include "base/loop.h"

struct door {
	struct loop *loop;
	struct sockets *sockets;
	struct origins *origins;
};
