/* From what the API says to the network policies of nodes. */
#pragma once

#include "policy/model.h"

/* All objects of the API, in any order. */
struct policy_objects {
	const struct policy_pod *const *pods;
	size_t pod_count;
	const struct policy_namespace *const *namespaces;
	size_t namespace_count;
	const struct policy *const *policies;
	size_t policy_count;
};

/*
 * The policies that concern pods of NODE.  Its pods have addresses of RANGES (may be empty): while
 * a pod that policies isolate is starting there, the API does not know its address yet, and new
 * connections of unknown addresses are held.  Equal objects in the same order give equal models.
 */
void policy_compile(const struct policy_objects *objects, const char *node,
		    const struct policy_ranges *ranges, struct policy_model *ret);
