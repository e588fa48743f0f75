/* Registering a cluster that was imported from minikube. */
#pragma once

#include "describe/import.h"
#include "record/profile.h"

/* Register IMPORT as the cluster NAME, in networks of its own; nothing is started.  -EEXIST with
 * reason_usage if the cluster exists.  The caller holds the profile's lock. */
int import_register(struct import *import, const char *name, struct profile *ret,
		    struct error *err);
