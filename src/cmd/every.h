/* Apply an operation to several clusters: `delete --all`, `stop --all`. */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

/*
 * Call WORK for each cluster in NAMES, one after the other; a failure does not stop the rest. DONE
 * is the participle for messages: "deleted". The error names the clusters that failed.
 */
int every_cluster(const struct strlist *names, const char *done,
		  int (*work)(const char *name, bool quiet, struct error *err), bool quiet,
		  struct error *err);
