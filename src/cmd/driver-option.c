/* --driver, of the commands that make nodes. */

#include "cmd/driver-option.h"

#include <string.h>

#include "base/log.h"
#include "driver/driver.h"

static bool is_left_open(const char *name)
{
	return !*name || strcmp(name, "auto") == 0 || strcmp(name, "none") == 0;
}

int driver_option_check(const char *name, struct error *err)
{
	/* minikube's own name for nodes that are no machines of their own. */
	if (strcmp(name, "none") == 0)
		log_warning("--driver=none is ignored: " DRIVER_OPTION_ADVICE);
	return is_left_open(name) ? 0 : node_driver_check(name, err);
}

void driver_option_resolve(const char **driver)
{
	if (*driver && is_left_open(*driver))
		*driver = NULL;
}
