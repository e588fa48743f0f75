/* Sets of CPU numbers. */
#pragma once

#include <stddef.h>

#include "base/error.h"

struct cpus {
	unsigned *ids; /* ascending, each once */
	size_t count;
};

#define CPUS_INIT ((struct cpus){ NULL })

/* Parse TEXT, a list in the kernel's format ("0-3,8"), into RET; -EINVAL if it is invalid. */
int cpus_parse(const char *text, struct cpus *ret);

/* CPUS in the kernel's format, "" if the set is empty; the caller frees the text. */
char *cpus_print(const struct cpus *cpus) must_check;

/* Add ID, which must be higher than all CPUs in the set. */
void cpus_add(struct cpus *cpus, unsigned id);

/* Choose COUNT CPUs of HAVE, or all if it has fewer,
 * starting at index FIRST and wrapping around. */
void cpus_choose(const struct cpus *have, size_t count, size_t first, struct cpus *ret);

void cpus_release(struct cpus *cpus);
