/* Making a cluster of ours out of what was read of one of minikube's. */
#pragma once

#include "describe/import.h"
#include "record/profile.h"

/*
 * Register IMPORT as the cluster NAME, in networks of its own; nothing is started.  -EEXIST with
 * reason_usage if there is one.  The caller holds the profile's lock.
 */
int import_register(struct import *import, const char *name, struct profile *ret,
		    struct error *err);
