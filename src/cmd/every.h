/* Doing the same with several clusters: `delete --all`, `stop --all`. */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

/*
 * Call WORK for each cluster of NAMES, one after the other; one that fails keeps none of the
 * others. DONE is what they are afterwards: "deleted".  The error names those that are not.
 */
int every_cluster(const struct strlist *names, const char *done,
		  int (*work)(const char *name, bool quiet, struct error *err), bool quiet,
		  struct error *err);
