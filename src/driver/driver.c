/* The list of drivers. */

#include "driver/driver.h"

#include <string.h>

/* The first one is the default. */
static const struct node_driver *const drivers[] = {
	&node_driver_native,
};

static const struct node_driver *replacement;

void node_driver_replace(const struct node_driver *driver)
{
	replacement = driver;
}

const struct node_driver *node_driver_at(size_t number)
{
	if (replacement)
		return number == 0 ? replacement : NULL;
	return number < ARRAY_SIZE(drivers) ? drivers[number] : NULL;
}

const struct node_driver *node_driver_default(void)
{
	return node_driver_at(0);
}

const struct node_driver *node_driver_find(const char *name)
{
	if (replacement && strcmp(replacement->name, name) == 0)
		return replacement;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}
