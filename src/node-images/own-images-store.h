/* Shared by the two parts of own-images.h. */
#pragma once

#include "record/profile.h"

/* The directory of the store of PROFILE on this host, for the caller to free. */
char *own_images_dir(const struct profile *profile) must_check;
