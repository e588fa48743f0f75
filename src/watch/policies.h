/* The watcher's part in network policies: it watches what they are made of, and sends the keeper
 * the model of each node when it changes. */
#pragma once

#include "watch/config.h"
#include "watch/https.h"

struct policies;

/* FD is our end of the stream to the keeper; FAILED is called when it is closed. */
struct policies *policies_new(struct loop *loop, const struct https_target *target,
			      const struct watch_config *config, int fd, void (*failed)(void *data),
			      void *data);

/* Connect again where the API has been silent for too long. */
void policies_check(struct policies *policies);
