/* `registry`: the cluster's own registry of images. */

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/say.h"
#include "cmd/command.h"
#include "cmd/prepare.h"
#include "network/own-registry.h"
#include "payload/registry.h"

static struct {
	unsigned port;
	bool download_only;
	bool delete_images;
	const char *output;
} arg = { .output = "text" };

static int need_root(const char *what, struct error *err)
{
	if (geteuid() == 0)
		return 0;
	(void)error_because(err, &reason_not_root, -EPERM, "only root can %s", what);
	return error_hint(err, -EPERM, "run the command as root, for instance with sudo");
}

static int download_program(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_free char *program = NULL;
	int r = need_root("put the registry into the cache", err);

	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	return registry_program_ensure(NULL, progress_observer(progress), &program, err);
}

static void tell_enabled(const struct command_context *ctx, const struct profile *profile)
{
	struct own_registry_status status;

	if (ctx->quiet)
		return;
	own_registry_look(profile, &status);
	if (status.state == OWN_REGISTRY_STOPPED)
		say_done("Cluster \"%s\" will have a registry at localhost:%u when it is started.",
			 profile->name, profile->registry_port);
	else
		say_done("Cluster \"%s\" has a registry at localhost:%u, on this host and in its "
			 "nodes.",
			 profile->name, profile->registry_port);
}

static int enable_registry(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_fd int lock = -1;
	int r;

	if (arg.port > 65535)
		return error_because(err, &reason_usage, -EINVAL, "--port must be at most 65535");
	if (arg.download_only)
		return download_program(ctx, err);
	r = profile_load(ctx->profile_name, &profile, err);
	if (r == 0)
		r = need_root("run a registry", err);
	if (r == 0)
		r = command_take_lock(ctx, "manykube registry enable", &lock, err);
	if (r < 0)
		return r;
	profile_release(&profile);
	r = profile_load(ctx->profile_name, &profile, err);
	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	r = own_registry_enable(&profile, arg.port, progress_observer(progress), err);
	if (r == 0)
		tell_enabled(ctx, &profile);
	return r;
}

static int disable_registry(struct command_context *ctx, struct error *err)
{
	bool had = ctx->profile->registry_port;
	int r = own_registry_disable(ctx->profile, arg.delete_images, err);

	if (r < 0 || ctx->quiet)
		return r;
	if (arg.delete_images)
		say_done("Cluster \"%s\" has no registry and none of its images any more.",
			 ctx->profile_name);
	else
		say_done("Cluster \"%s\" has no registry%s.", ctx->profile_name,
			 had ? " any more; its images are kept" : "");
	return 0;
}

/* Words of each state, and the exit status. */
static const struct {
	const char *word;
	int code;
} states[] = {
	[OWN_REGISTRY_DISABLED] = { "Disabled", 4 },
	[OWN_REGISTRY_STOPPED] = { "Stopped", 3 },
	[OWN_REGISTRY_FAILED] = { "Failed", 2 },
	[OWN_REGISTRY_RUNNING] = { "Running", 0 },
};

static void print_json(const struct profile *profile, const struct own_registry_status *status)
{
	json_auto_t *all = json_pack("{s:s, s:s, s:n, s:n, s:n}", "name", profile->name, "state",
				     states[status->state].word, "address", "repositories",
				     "sizeBytes");
	cleanup_free char *address = xasprintf("localhost:%u", profile->registry_port);

	if (profile->registry_port)
		(void)json_object_set_new(all, "address", json_string(address));
	if (status->is_counted) {
		(void)json_object_set_new(all, "repositories", json_integer(status->repositories));
		(void)json_object_set_new(all, "sizeBytes",
					  json_integer((json_int_t)status->size_bytes));
	}
	(void)json_dumpf(all, stdout, JSON_COMPACT);
	printf("\n");
}

static void print_text(const struct profile *profile, const struct own_registry_status *status)
{
	printf("registry: %s\n", states[status->state].word);
	if (profile->registry_port)
		printf("address: localhost:%u\n", profile->registry_port);
	if (!status->is_counted)
		printf("images: only root can count them\n");
	else
		printf("repositories: %u\nsize: %.1f MB\n", status->repositories,
		       (double)status->size_bytes / 1e6);
}

static int show_status(struct command_context *ctx, arg_unused struct error *err)
{
	struct own_registry_status status;

	own_registry_look(ctx->profile, &status);
	if (strcmp(arg.output, "json") == 0)
		print_json(ctx->profile, &status);
	else
		print_text(ctx->profile, &status);
	if (status.state == OWN_REGISTRY_FAILED)
		log_warning(
			"the registry does not answer; 'manykube registry enable' starts it again, "
			"and '%s/front-door.log' may say why it ended",
			ctx->profile->dir);
	return states[status.state].code;
}

static const struct opt enable_options[] = {
	OPT_POSITIVE(0, "port", &arg.port,
		     "port of localhost (default: the present one, or the first free one from "
		     "5000 on)",
		     .once = true),
	OPT_FLAG(0, "download-only", &arg.download_only,
		 "only put the registry's program into the cache, for clusters that are offline",
		 .once = true),
	OPT_END,
};

static const struct command cmd_registry_enable = {
	.name = "enable",
	.summary = "run a registry for the cluster",
	.description =
		"Images of the registry have the same names on this host and in all nodes: push "
		"localhost:5000/app from here, or from a node with 'manykube docker-env', and use "
		"it as image in a pod. A second cluster gets the next free port, which is printed "
		"and part of the names. Only this host and the cluster's nodes reach the "
		"registry, and anyone there can push to it. It starts and stops with the cluster "
		"and keeps its images in the cluster's directory until the cluster is deleted. "
		"The first use builds the registry from source unless it is in the cache.",
	.examples = "sudo manykube registry enable\n"
		    "docker tag app localhost:5000/app && docker push localhost:5000/app\n"
		    "manykube kubectl create deployment app --image=localhost:5000/app\n"
		    "sudo manykube registry enable --port=5050\n",
	.flags = COMMAND_AUDITED | COMMAND_WAITS,
	.options = enable_options,
	.run = enable_registry,
};

static const struct opt disable_options[] = {
	OPT_FLAG(0, "delete-images", &arg.delete_images, "also delete all images in it",
		 .once = true),
	OPT_END,
};

static const struct command cmd_registry_disable = {
	.name = "disable",
	.summary = "stop the cluster's registry",
	.description = "The images in it are kept, and are there again after 'manykube registry "
		       "enable'. Nodes keep the images that they have pulled.",
	.examples = "sudo manykube registry disable\n"
		    "sudo manykube registry disable --delete-images\n",
	.flags = COMMAND_CHANGES_NODES,
	.options = disable_options,
	.run = disable_registry,
};

static const struct opt status_options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format", .once = true),
	OPT_END,
};

static const struct command cmd_registry_status = {
	.name = "status",
	.summary = "show the cluster's registry, and how much it contains",
	.description = "The exit status is 0 if the registry is Running, 2 if the cluster runs but "
		       "the registry does not answer (Failed), 3 if the cluster does not run "
		       "(Stopped), and 4 if there is no registry (Disabled).",
	.examples = "manykube registry status\n"
		    "manykube registry status -o json\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = status_options,
	.run = show_status,
};

static const struct command *const subcommands[] = {
	&cmd_registry_enable,
	&cmd_registry_disable,
	&cmd_registry_status,
	NULL,
};

const struct command cmd_registry = {
	.name = "registry",
	.summary = "run a registry of images for the cluster's nodes and this host",
	.examples = "sudo manykube registry enable\n"
		    "docker push localhost:5000/app\n"
		    "manykube registry status\n",
	.subcommands = subcommands,
};
