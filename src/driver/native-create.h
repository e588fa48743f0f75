/* The persistent files of a native node: its directories and its images. */
#pragma once

#include "driver/driver.h"

/* Make missing files; the driver's create(). */
int native_create(const struct node_spec *spec, struct error *err);
