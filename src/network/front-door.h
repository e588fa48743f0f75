/* The process of a running cluster's front door. */
#pragma once

#include "record/profile.h"

/* Start the front door unless it runs, in a control group that outlives the user's login. */
int cluster_run_front_door(const struct profile *profile, struct error *err);

/* Make sure that something listens at the API's address; cheap if it does.  Fails with
 * reason_api_not_running: -ESRCH if the cluster does not run, -EPERM if only root can repair it. */
int cluster_open_front_door(const struct profile *profile, struct error *err);
