/* `network`: the pod network of a cluster that exists. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/say.h"
#include "cluster/change-network.h"
#include "cmd/command.h"
#include "cmd/interrupt.h"
#include "cni/manifests.h"
#include "record/cni.h"

static struct {
	const char *cni;
	const char *backend;
	bool yes;
	unsigned wait_seconds;
	const char *output;
} arg = { .wait_seconds = 120, .output = "text" };

static const struct opt set_options[] = {
	OPT_STRING(0, "cni", &arg.cni, CNI_WORDS, "the pod network, as for 'manykube start'",
		   .once = true, .check = cni_check, .complete = COMPLETE_CHOICE),
	OPT_CHOICE(0, "cni-backend", &arg.backend, "host-gw|vxlan",
		   "how flannel connects nodes: host-gw by routes, vxlan by tunnels", .once = true),
	OPT_FLAG('y', "yes", &arg.yes, "do not ask before pods are made anew", .once = true),
	OPT_SECONDS(0, "wait-timeout", &arg.wait_seconds,
		    "how long to wait for the pods of each node", .once = true),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

/* The word of --cni as it is recorded: a name, an absolute path, or a URL. */
static int settle_word(char **ret, struct error *err)
{
	int r;

	*ret = NULL;
	if (!arg.cni)
		return 0;
	r = cni_manifests_check(arg.cni, err);
	if (r < 0)
		return error_prefix(err, r, "--cni");
	if (cni_is_place(arg.cni) && !cni_is_url(arg.cni))
		*ret = realpath(arg.cni, NULL);
	if (!*ret)
		*ret = xstrdup(cni_name(arg.cni));
	return 0;
}

static bool is_change(const struct profile *profile, const char *cni)
{
	return profile->network_from || (cni && strcmp(cni, profile->cni) != 0) ||
	       (arg.backend && strcmp(arg.backend, profile->cni_backend ?: "host-gw") != 0);
}

static void announce(const struct profile *profile, const char *cni)
{
	const char *to = cni ?: profile->cni;
	const char *backend = cni_kind(to) == CNI_FLANNEL
				      ? arg.backend ?: profile->cni_backend ?: "host-gw"
				      : NULL;

	fprintf(stderr, "Cluster \"%s\" %s from the pod network %s to %s%s%s.\n", profile->name,
		profile->network_from ? "continues to change" : "changes",
		profile->network_from ?: profile->cni, to, backend ? " with " : "", backend ?: "");
	if (cni_kind(profile->cni) == CNI_FLANNEL && cni_kind(to) != CNI_FLANNEL)
		fprintf(stderr, "flannel's objects are deleted.\n");
	if (cni_kind(profile->cni) == CNI_MANIFESTS && strcmp(to, profile->cni) != 0)
		fprintf(stderr, "The objects of '%s' are deleted.\n", profile->cni);
	if (cni_kind(profile->cni) == CNI_NONE && cni_is_ours(to))
		fprintf(stderr, "The configuration of a network that you have installed is renamed "
				"on every node; its objects stay until you delete them.\n");
	fprintf(stderr,
		cni_kind(to) == CNI_NONE
			? "All pods that have a network of their own end, and nodes are NotReady "
			  "until you install a network.\n"
			: "All pods that have a network of their own are made anew, node after "
			  "node, in place and with new addresses.\n");
	if (!cni_is_ours(to))
		fprintf(stderr, "Network policies are up to that network then.\n");
}

static int confirm(struct error *err)
{
	if (arg.yes)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || events_on_stdout()) {
		(void)error_because(err, &reason_usage, -EPERM,
				    "this makes pods anew, and there is no terminal to ask on; "
				    "nothing was done");
		return error_hint(err, -EPERM, "use --yes to confirm");
	}
	if (say_go_on())
		return 0;
	(void)error_because(err, &reason_interrupted, -ECANCELED,
			    "not confirmed; nothing was done");
	return error_hint(err, -ECANCELED, "answer y, or use --yes");
}

static int change(struct command_context *ctx, const char *cni, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);

	return cluster_change_network(ctx->profile, cni, arg.backend, arg.wait_seconds,
				      progress_observer(progress), err);
}

static int set_network(struct command_context *ctx, struct error *err)
{
	cleanup_free char *cni = NULL;
	int r = settle_word(&cni, err);

	if (r < 0)
		return r;
	if (!cni && !arg.backend && !ctx->profile->network_from) {
		(void)error_because(err, &reason_usage, -EINVAL, "nothing to change was given");
		return error_hint(err, -EINVAL, "use --cni=auto, bridge, flannel or none");
	}
	if (is_change(ctx->profile, cni)) {
		if (!ctx->quiet || !arg.yes)
			announce(ctx->profile, cni);
		r = confirm(err);
		if (r == 0)
			r = change(ctx, cni, err);
	}
	if (r < 0)
		return r;
	if (!ctx->quiet || events_on_stdout())
		say_done(r > 0 ? "Done: cluster \"%s\" now has the pod network %s."
			       : "Cluster \"%s\" already has the pod network %s.",
			 ctx->profile_name, ctx->profile->cni);
	return 0;
}

static const struct command cmd_network_set = {
	.name = "set",
	.elsewhere = "change|update|use",
	.summary = "change the pod network of a cluster",
	.description =
		"All pods that have a network of their own are made anew, one node after another: "
		"they stay on their nodes, also those without a controller, and get new addresses. "
		"Pods of the old and the new network reach each other meanwhile if both are auto, "
		"bridge or flannel. The command asks before it changes anything. When it is "
		"interrupted, the same command, or one with another network, continues. With none, "
		"and with a manifest, network policies are up to the network that is installed.",
	.examples = "sudo manykube network set --cni=flannel\n"
		    "sudo manykube network set --cni=flannel --cni-backend=vxlan\n"
		    "sudo manykube network set --cni=auto --yes\n",
	.flags = COMMAND_CHANGES_NODES,
	.options = set_options,
	.events = &arg.output,
	.run = set_network,
};

static const struct command *const subcommands[] = {
	&cmd_network_set,
	NULL,
};

const struct command cmd_network = {
	.name = "network",
	.summary = "change the pod network of a cluster",
	.examples = "sudo manykube network set --cni=bridge\n",
	.subcommands = subcommands,
};
