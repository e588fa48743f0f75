/* The CPUs of a native node. */

#include "driver/native-cpus.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup/cgroup.h"

/* The first CPU of a cluster's first node, derived from its name so that clusters differ. */
static size_t first_of_cluster(const char *cluster)
{
	size_t sum = 0;

	for (; *cluster; cluster++)
		sum = sum * 31 + (unsigned char)*cluster;
	return sum;
}

void native_cpus_pick(const struct node_spec *spec, const struct cpus *have, unsigned online,
		      struct native_cpus *ret)
{
	*ret = NATIVE_CPUS_INIT;
	if (!spec->cpus)
		return;
	if (have->count > 0) {
		size_t first = first_of_cluster(spec->cluster) + (spec->slot - 1) * spec->cpus;

		cpus_choose(have, spec->cpus, first, &ret->ids);
		ret->pinned = true;
	} else {
		for (unsigned id = 0; id < MIN(spec->cpus, online); id++)
			cpus_add(&ret->ids, id);
	}
	ret->real = ret->ids.count;
	/* A node may be given more CPUs than the host has. */
	while (ret->ids.count < spec->cpus)
		cpus_add(&ret->ids, ret->ids.count ? ret->ids.ids[ret->ids.count - 1] + 1 : 0);
}

void native_cpus_choose(const struct node_spec *spec, const char *group, struct native_cpus *ret)
{
	cleanup_with(cpus_release) struct cpus have = CPUS_INIT;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	cgroup_cpus_above(group, &have);
	native_cpus_pick(spec, &have, online > 0 ? (unsigned)online : spec->cpus, ret);
}

void native_cpus_release(struct native_cpus *cpus)
{
	cpus_release(&cpus->ids);
	*cpus = NATIVE_CPUS_INIT;
}
