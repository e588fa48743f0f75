/* The files of native nodes, which are in a directory of the host: see driver/tree.h. */
#pragma once

#include "driver/files.h"

extern const struct node_files native_files;
