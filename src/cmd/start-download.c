/* `start --download-only`: what a start needs, without a cluster. */

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cmd/command.h"
#include "cmd/start-options.h"
#include "cni/flannel.h"
#include "driver/driver.h"
#include "payload/payload.h"
#include "record/cni.h"
#include "record/options.h"

/* Get what the driver that the user chose needs for nodes with PAYLOAD. */
static int prepare_driver(const struct cluster_options *wanted, const struct payload *payload,
			  struct observer *observer, struct error *err)
{
	const char *name = wanted->driver;
	const struct node_driver *driver = name ? node_driver_find(name) : NULL;
	const struct node_spec spec = { .payload = payload->dir,
					.base_image = wanted->base_image,
					.kernel = wanted->kernel };

	return driver && driver->prepare ? driver->prepare(&spec, observer, err) : 0;
}

int start_download(bool quiet, const struct cluster_options *wanted, struct error *err)
{
	const char *version = wanted->kubernetes_version ?: payload_versions()[0];
	cleanup_with(progress_freep) struct progress *progress = progress_new(quiet, log_verbosity);
	const struct payload_source source = { .binary_mirror = wanted->binary_mirror };
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	int r = payload_ensure(version, &source, progress_observer(progress), &payload, err);

	if (r == 0)
		r = prepare_driver(wanted, &payload, progress_observer(progress), err);
	if (r == 0 && cni_kind(wanted->cni) == CNI_FLANNEL)
		r = flannel_ensure(&source, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	if (r < 0)
		return r;
	say_done("Kubernetes %s is in the cache; 'manykube start' now needs no network.", version);
	return 0;
}
