/* `start --delete-on-failure`. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cmd/start-options.h"

void start_undo(const char *name, const struct cluster_outcome *outcome, struct observer *observer,
		int failure, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *kept = NULL;

	if (!outcome->is_new)
		return;
	if (cluster_delete(name, observer, &why) < 0) {
		log_warning("cannot remove the new cluster: %s", why.text);
		return;
	}
	log_warning("cluster '%s' was removed because of --delete-on-failure", name);
	/* Only advice that is not about this cluster, which is gone, is still of use. */
	if (err->hint && !strstr(err->hint, "'manykube "))
		kept = xasprintf("%s; ", err->hint);
	(void)error_hint(err, failure,
			 "%srun the same command without --delete-on-failure to keep the cluster "
			 "and its logs",
			 kept ? kept : "");
}
