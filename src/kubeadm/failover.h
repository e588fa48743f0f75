/*
 * The timeouts between the failure of a node and the start of its pods elsewhere, with
 * --failover=fast.
 *
 * With Kubernetes' defaults a node is NotReady 50 s after its kubelet fell silent (40 s before
 * Kubernetes 1.32), and its pods are deleted after another 300 s.
 */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/* The arguments of COMPONENT ("apiserver"), each a name and a value, terminated by NULL; none
 * unless PROFILE has it.  Arguments of the user have precedence. */
const char *const *failover_arguments(const struct profile *profile, const char *component);

/* Set the fields of the KubeletConfiguration CONFIG, if PROFILE has it. */
void failover_set_kubelet_fields(json_t *config, const struct profile *profile);
