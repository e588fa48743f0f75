/* The list of drivers. */

#include "driver/driver.h"

#include <string.h>

static const struct node_driver *added;

void node_driver_add(const struct node_driver *driver)
{
	added = driver;
}

const struct node_driver *node_driver_find(const char *name)
{
	static const struct node_driver *const drivers[] = {
		&node_driver_native,
	};

	if (added && strcmp(added->name, name) == 0)
		return added;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}
