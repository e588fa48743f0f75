/* The registry program in the cache. */

#include "payload/registry.h"

static const struct apart registry = {
	.id = COMPONENT_REGISTRY,
	.release = &registry_release,
	.title = "the registry",
	.name = "registry",
	.program = "registry",
	.command = "registry enable",
};

int registry_program_open(char **ret_path, struct error *err)
{
	return apart_open(&registry, ret_path, err);
}

int registry_program_ensure(const struct payload_source *source, struct observer *observer,
			    char **ret_path, struct error *err)
{
	return apart_ensure(&registry, source, observer, ret_path, err);
}
