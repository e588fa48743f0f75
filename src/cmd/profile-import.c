/* `profile import`: register a cluster like one of minikube. */

#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/user.h"
#include "cli/say.h"
#include "cmd/command.h"
#include "describe/import.h"
#include "payload/payload.h"
#include "plan/register.h"

/* minikube's files have a few kilobytes. */
#define FILE_LIMIT (1 << 20)

static struct {
	const char *kubernetes_version;
} arg;

static int check_version(const char *text, struct error *err)
{
	const char *version;

	return payload_resolve_version(text, &version, err);
}

static const struct opt options[] = {
	OPT_STRING(0, "kubernetes-version", &arg.kubernetes_version, "VERSION",
		   "Kubernetes version (default: the one in the file)", .once = true,
		   .check = check_version, .complete = COMPLETE_VERSION),
	OPT_END,
};

static int read_config(const char *path, struct import *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_fd int fd = -1;
	int r = user_open(path, 0, &fd, err);

	if (r == 0)
		r = file_read_fd(fd, FILE_LIMIT, &text, err);
	if (r < 0)
		return error_reason(err, r, &reason_usage);
	r = import_parse(text.len ? text.text : "", text.len, ret, err);
	return r < 0 ? error_prefix(err, r, "cannot import '%s'", path) : 0;
}

/* minikube allows names that are invalid here. */
static int choose_name(const struct command_context *ctx, const struct import *import,
		       const char **ret_name, struct error *err)
{
	int r;

	*ret_name = ctx->profile_given ? ctx->profile_name : import->name;
	r = profile_check_name(*ret_name, err);
	return r < 0 ? error_hint(err, r, "choose another name with -p NAME") : 0;
}

static char *list_nodes(const struct profile *profile)
{
	cleanup_with(strlist_release) struct strlist nodes = STRLIST_INIT;
	const struct node *node;

	profile_for_each_node(node, profile)
		strlist_addf(&nodes, "%s%s", node->name,
			     node->control_plane ? " (control plane)" : "");
	return strlist_join(&nodes, ", ");
}

static int register_as(const char *name, struct import *import, struct profile *ret,
		       struct error *err)
{
	cleanup_fd int lock = -1;
	int r = profile_lock(name, "manykube profile import", &lock, err);

	if (r < 0)
		return r;
	r = import_register(import, name, ret, err);
	profile_remove_lock(name);
	return r;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *defaults = NULL;
	cleanup_free char *nodes = NULL;
	const char *warning;
	const char *name = NULL;
	int r = read_config(ctx->argv[0], &import, err);

	if (r == 0)
		r = import_choose_version(&import, arg.kubernetes_version, err);
	if (r == 0)
		r = choose_name(ctx, &import, &name, err);
	if (r == 0)
		r = register_as(name, &import, &profile, err);
	if (r < 0)
		return r;
	strlist_for_each(warning, &import.warnings)
		log_warning("%s", warning);
	defaults = strlist_join(&import.defaults, ", ");
	if (*defaults)
		log_warning("these minikube defaults were ignored: %s", defaults);
	nodes = list_nodes(&profile);
	if (!ctx->quiet)
		say_done("Registered cluster \"%s\" with %s; 'manykube start -p %s' creates it.",
			 name, nodes, name);
	return 0;
}

const struct command cmd_profile_import = {
	.name = "import",
	.operands = "FILE",
	.summary = "import the nodes and settings of a minikube cluster",
	.description =
		"Registers a cluster from FILE, the config.json of a minikube cluster in "
		"~/.minikube/profiles/NAME; 'start' creates it. The cluster gets the same name "
		"(or that of -p), nodes and settings, but new addresses; settings that cannot be "
		"imported are listed. FILE and the minikube cluster are not changed, and "
		"workloads are not copied.",
	.examples = "manykube profile import ~/.minikube/profiles/minikube/config.json\n"
		    "manykube profile import config.json -p dev --kubernetes-version=stable\n",
	.min_operands = 1,
	.max_operands = 1,
	.flags = COMMAND_AUDITED,
	.complete = COMPLETE_FILE,
	.options = options,
	.run = run,
};
