/* What went wrong, in words a user can act on. */

#include "base/error.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* clang-format off */
const struct reason reason_usage = { "MK_USAGE", 14, NULL };
const struct reason reason_interrupted = { "MK_INTERRUPTED", 11,
	"nothing is lost: run the same command again to go on, or 'manykube delete' to remove what was made" };
const struct reason reason_busy = { "MK_BUSY", 11, "wait for it to end, then run this command again" };
const struct reason reason_not_root = { "HOST_NOT_ROOT", 37, "run the command as root, for instance with sudo" };
const struct reason reason_host_missing_tool = { "HOST_MISSING_TOOL", 35, NULL };
const struct reason reason_host_unsupported = { "HOST_UNSUPPORTED", 36, NULL };
const struct reason reason_host_config = { "HOST_CONFIG", 38, NULL };
const struct reason reason_resources = { "RSRC_INSUFFICIENT", 23, NULL };
const struct reason reason_network = { "IF_ERROR", 70, NULL };
const struct reason reason_subnet_taken = { "IF_SUBNET_CONFLICT", 71, "choose another with --subnet" };
const struct reason reason_port_taken = { "IF_PORT_CONFLICT", 71, "end what uses the port, or choose another one" };
const struct reason reason_download = { "INET_DOWNLOAD", 40, NULL };
const struct reason reason_version_unsupported = { "K8S_UNSUPPORTED_VERSION", 106, NULL };
const struct reason reason_cluster_missing = { "GUEST_CLUSTER_NOT_FOUND", 85,
	"'manykube profile list' shows the clusters there are; 'manykube start' makes one" };
const struct reason reason_node_missing = { "GUEST_NODE_RETRIEVE", 85, "'manykube node list' shows the nodes there are" };
const struct reason reason_node_not_running = { "GUEST_NOT_RUNNING", 83, "'manykube start' brings the cluster's nodes up" };
const struct reason reason_node_failed = { "GUEST_NODE_PROVISION", 80, NULL };
const struct reason reason_control_plane = { "K8S_ERROR", 100, NULL };
const struct reason reason_api_not_running = { "K8S_APISERVER_STOPPED", 103, "'manykube start' brings it up" };
const struct reason reason_wait_timeout = { "K8S_WAIT_TIMEOUT", 102, NULL };
/* clang-format on */

static void replace_text(struct error *err, char *text)
{
	free(err->text);
	err->text = text;
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	assert(code < 0);
	if (!err)
		return code;

	va_start(ap, fmt);
	replace_text(err, xvasprintf(fmt, ap));
	va_end(ap);
	return code;
}

int error_because(struct error *err, const struct reason *reason, int code, const char *fmt, ...)
{
	va_list ap;

	assert(code < 0);
	if (!err)
		return code;

	va_start(ap, fmt);
	replace_text(err, xvasprintf(fmt, ap));
	va_end(ap);
	err->reason = reason;
	return code;
}

int error_sys(struct error *err, const char *fmt, ...)
{
	int saved = errno;
	cleanup_free char *what = NULL;
	va_list ap;

	assert(saved > 0);
	if (!err)
		return -saved;

	va_start(ap, fmt);
	what = xvasprintf(fmt, ap);
	va_end(ap);
	replace_text(err, xasprintf("%s: %s", what, strerror(saved)));
	return -saved;
}

int error_prefix(struct error *err, int code, const char *fmt, ...)
{
	cleanup_free char *context = NULL;
	va_list ap;

	if (!err)
		return code;

	va_start(ap, fmt);
	context = xvasprintf(fmt, ap);
	va_end(ap);
	replace_text(err, xasprintf("%s: %s", context, err->text ? err->text : "unknown error"));
	return code;
}

int error_reason(struct error *err, int code, const struct reason *reason)
{
	if (err && !err->reason)
		err->reason = reason;
	return code;
}

int error_hint(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;

	free(err->hint);
	va_start(ap, fmt);
	err->hint = xvasprintf(fmt, ap);
	va_end(ap);
	return code;
}

void error_clear(struct error *err)
{
	free(err->text);
	free(err->hint);
	*err = ERROR_INIT;
}
