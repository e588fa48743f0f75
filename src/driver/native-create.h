/* What a native node keeps while it does not run: its directories, and its share of the images. */
#pragma once

#include "driver/driver.h"

/* Make it unless it is there; the driver's create(). */
int native_create(const struct node_spec *spec, struct error *err);
