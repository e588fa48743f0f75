/* Errors: a code for the program, a message for the user. */

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"

/* clang-format off */
const struct reason reason_usage = { "MK_USAGE", 14, NULL,
	"the command line is wrong, or asks for something impossible" };
const struct reason reason_cluster_file = { "MK_CLUSTER_FILE", 18, "'manykube config explain' "
								   "lists the fields",
	"the cluster file is wrong" };
const struct reason reason_interrupted = { "MK_INTERRUPTED", 11,
	"nothing is lost: run the same command again to continue",
	"a signal, such as Ctrl-C, interrupted a command that changes a cluster" };
const struct reason reason_busy = { "MK_BUSY", 11, "wait for it to finish, then run this command "
						   "again",
	"another command is using the cluster" };
const struct reason reason_not_root = { "HOST_NOT_ROOT", 37, "run the command as root, for instance with sudo",
	"the command needs root" };
const struct reason reason_host_missing_tool = { "HOST_MISSING_TOOL", 35, NULL,
	"a program that nodes need is not installed" };
const struct reason reason_host_unsupported = { "HOST_UNSUPPORTED", 36, NULL,
	"the kernel or another part of this host lacks a feature that nodes need" };
const struct reason reason_host_config = { "HOST_CONFIG", 38, NULL,
	"the state directory, a profile, the settings or the kubeconfig is damaged or "
	"inaccessible" };
const struct reason reason_resources = { "RSRC_INSUFFICIENT", 23, NULL,
	"not enough memory or CPUs" };
const struct reason reason_storage = { "RSRC_INSUFFICIENT_STORAGE", 26,
	"free some space on the disk that is full",
	"the disk is full or almost full" };
const struct reason reason_network = { "IF_ERROR", 70, NULL,
	"the cluster's network cannot be set up: bridge, addresses, routes, nftables" };
const struct reason reason_subnet_taken = { "IF_SUBNET_CONFLICT", 71, "choose another one with --subnet",
	"the subnet is in use on this host" };
const struct reason reason_port_taken = { "IF_PORT_CONFLICT", 71, "stop the program that uses the "
								  "port, or choose another port",
	"a port of this host is in use" };
const struct reason reason_download = { "INET_DOWNLOAD", 40, NULL,
	"Kubernetes cannot be downloaded, or is not in the cache" };
const struct reason reason_version_unsupported = { "K8S_UNSUPPORTED_VERSION", 106, NULL,
	"the Kubernetes version is not supported, or does not fit the cluster's" };
const struct reason reason_cluster_missing = { "GUEST_CLUSTER_NOT_FOUND", 85,
	"'manykube profile list' lists the clusters; 'manykube start' creates one",
	"there is no such cluster" };
const struct reason reason_node_missing = { "GUEST_NODE_RETRIEVE", 85, "'manykube node list' lists the nodes",
	"the cluster has no such node" };
const struct reason reason_node_not_running = { "GUEST_NOT_RUNNING", 83, "'manykube start' starts the cluster's nodes",
	"the node is not running" };
const struct reason reason_node_paused = { "GUEST_PAUSED", 83, "'manykube unpause' resumes the "
							       "cluster's nodes",
	"the node is paused" };
const struct reason reason_node_failed = { "GUEST_NODE_PROVISION", 80, NULL,
	"a node cannot be created or did not start" };
const struct reason reason_copy = { "GUEST_CP", 80, NULL,
	"a file cannot be copied to or from a node" };
const struct reason reason_image = { "GUEST_IMAGE_LOAD", 80, NULL,
	"an image archive is damaged, or holds no image that nodes can run" };
const struct reason reason_command_refused = { "GUEST_COMMAND_REFUSED", 126, NULL,
	"the node cannot execute the command of 'manykube ssh', as in a shell" };
const struct reason reason_command_missing = { "GUEST_COMMAND", 127, NULL,
	"the command of 'manykube ssh' does not exist on the node, as in a shell" };
const struct reason reason_node_path = { "GUEST_PATH_MISSING", 85, NULL,
	"no such file or directory on the node" };
const struct reason reason_host_path = { "HOST_PATH_MISSING", 35, NULL,
	"no such file or directory on this host" };
const struct reason reason_control_plane = { "K8S_ERROR", 100, NULL,
	"the control plane cannot be set up, or refused a request" };
const struct reason reason_api_not_running = { "K8S_APISERVER_STOPPED", 103, "'manykube start' starts it",
	"the API does not answer" };
const struct reason reason_service_missing = { "SVC_NOT_FOUND", 115,
	"'manykube service list' lists the services",
	"the cluster has no such service" };
const struct reason reason_service_unreachable = { "SVC_UNREACHABLE", 113, NULL,
	"no pod that is ready, or no node, answers for the service" };
const struct reason reason_service_inside = { "SVC_NO_NODE_PORT", 116, NULL,
	"the service has no node port, so only nodes and pods reach it" };
const struct reason reason_wait_timeout = { "K8S_WAIT_TIMEOUT", 102, NULL,
	"timed out waiting for the cluster" };

const struct reason *const reasons[] = {
	&reason_interrupted,
	&reason_busy,
	&reason_usage,
	&reason_cluster_file,
	&reason_resources,
	&reason_storage,
	&reason_host_missing_tool,
	&reason_host_path,
	&reason_host_unsupported,
	&reason_not_root,
	&reason_host_config,
	&reason_download,
	&reason_network,
	&reason_subnet_taken,
	&reason_port_taken,
	&reason_node_failed,
	&reason_copy,
	&reason_image,
	&reason_node_not_running,
	&reason_node_paused,
	&reason_cluster_missing,
	&reason_node_missing,
	&reason_node_path,
	&reason_control_plane,
	&reason_wait_timeout,
	&reason_api_not_running,
	&reason_version_unsupported,
	&reason_service_unreachable,
	&reason_service_missing,
	&reason_service_inside,
	&reason_command_refused,
	&reason_command_missing,
	NULL,
};
/* clang-format on */

/* Part of TEXT may come from a node, whose root could send control characters to the user's
 * terminal. */
static void replace_text(struct error *err, char *text)
{
	struct strbuf shown = STRBUF_INIT;

	strbuf_add_printable(&shown, text, strlen(text));
	free(text);
	free(err->text);
	err->text = strbuf_take(&shown);
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
	cleanup_free char *text = NULL;
	va_list ap;

	if (!err)
		return code;

	free(err->hint);
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	err->hint = advice_complete(text);
	return code;
}

const char *error_advice(const struct error *err)
{
	if (err->hint)
		return err->hint;
	return err->reason ? err->reason->advice : NULL;
}

int error_exit_status(const struct error *err)
{
	return err->reason ? err->reason->exit_status : EXIT_FAILURE;
}

void error_clear(struct error *err)
{
	if (!err)
		return;
	free(err->text);
	free(err->hint);
	*err = ERROR_INIT;
}

int error_move(struct error *err, int code, struct error *from)
{
	if (!err)
		return code;
	error_clear(err);
	*err = *from;
	*from = ERROR_INIT;
	return code;
}
