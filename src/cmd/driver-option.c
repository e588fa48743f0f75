/* --driver, of the commands that make nodes. */

#include "cmd/driver-option.h"

#include <stddef.h>

#include "record/setting-check.h"

void driver_option_resolve(const char **driver)
{
	if (*driver && setting_is_open_driver(*driver))
		*driver = NULL;
}
