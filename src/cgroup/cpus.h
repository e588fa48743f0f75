/* Sets of CPUs, by their numbers. */
#pragma once

#include <stddef.h>

#include "base/error.h"

struct cpus {
	unsigned *ids; /* ascending, each once */
	size_t count;
};

#define CPUS_INIT ((struct cpus){ NULL })

/* Add to RET the CPUs of TEXT, a list as the kernel writes it: "0-3,8"; -EINVAL if it is none. */
int cpus_parse(const char *text, struct cpus *ret);

/* The same the other way round, for the caller to free; "" if there are none. */
char *cpus_print(const struct cpus *cpus) must_check;

/* Add ID, which is higher than those that CPUS has. */
void cpus_add(struct cpus *cpus, unsigned id);

/* COUNT of the CPUs of HAVE, or all if it has no more, beginning with the one at FIRST; behind the
 * last comes the first again. */
void cpus_choose(const struct cpus *have, size_t count, size_t first, struct cpus *ret);

void cpus_release(struct cpus *cpus);
