/*
 * Whether nodes are alive: an HTTP request to the health port of their kube-proxy, several times a
 * second.  The API notices a node that is gone only after 40 s.
 *
 * A frozen node still accepts connections, since the kernel does, so only an answer counts.
 */
#pragma once

#include "base/loop.h"
#include "watch/balance.h"

struct pulses;

/* CHANGED is called when the result for a node changes. */
struct pulses *pulses_new(struct loop *loop, void (*changed)(void *data), void *data);
void pulses_free(struct pulses *pulses);

/* Probe the COUNT nodes NODES, and no others. */
void pulses_set(struct pulses *pulses, const struct in_addr *nodes, size_t count);

enum balance_pulse pulses_get(const struct pulses *pulses, struct in_addr node);
