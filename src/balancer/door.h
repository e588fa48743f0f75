/* What all parts of the front door's worker share; none of them owns it. */
#pragma once

#include "balancer/origin.h"
#include "balancer/sockets.h"
#include "base/loop.h"

struct door {
	struct loop *loop;
	struct sockets *sockets;
	struct origins *origins;
};
