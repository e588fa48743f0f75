/* The schema of the file that describes a cluster, for editors. */
#pragma once

#include <jansson.h>

#include "base/macro.h"

/* A JSON schema (draft 2020-12) generated from the table of fields, for the caller to release. */
json_t *cluster_file_schema(void) must_check;
