/* Files whose size says nothing about their contents. */
#pragma once

#include "node/copy.h"

/* -EINVAL with reason_copy if the file PATH at FROM has a size of 0, but contents. */
int copy_check_size(const struct copy_end *from, char *path, struct error *err);
