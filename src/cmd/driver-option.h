/* --driver, of the commands that make nodes. */
#pragma once

/* Make *DRIVER, as --driver gave it, the name of a driver, or NULL: as the cluster's nodes, or the
 * default. */
void driver_option_resolve(const char **driver);
